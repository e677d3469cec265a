/** What `npm publish` would say of each package. */

import { runProcess } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { publicPackages } from '../../scripts/release/public-packages.ts'
import { dryRunArguments } from '../../scripts/release/publish.ts'
import { ROOT } from '../packages/packed-packages.ts'

test('npm publish --dry-run takes each as it is, and mends nothing in it', async () => {
  const packages = publicPackages(ROOT)
  const { code, stdout, stderr } = await runProcess('npm', dryRunArguments(packages), { cwd: ROOT })
  expect(code, stderr).toBe(0)
  const said = packages.map(({ name, version }) => `+ ${name}@${version}`)
  expect(stdout.split('\n').filter((line) => line.startsWith('+ '))).toEqual(said)
  const warnings = stderr.split('\n').filter((line) => line.startsWith('npm warn publish'))
  expect(warnings.filter((line) => !line.includes('requires you to be logged in'))).toEqual([])
})
