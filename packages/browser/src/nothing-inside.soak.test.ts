/** In a network namespace the metadata address can be one that answers. Needs root, `unshare` and `ip`. */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { runProcess } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { WAYS } from '../testing/ways-inside.ts'

const isPossible =
  process.getuid?.() === 0 && spawnSync('unshare', ['-n', 'ip', 'link', 'set', 'lo', 'up']).status === 0

test.skipIf(!isPossible)('no way that a page has leads to a metadata address that answers', async () => {
  const script = join(import.meta.dirname, '../testing/render-in-namespace.ts')
  const node = `'${process.execPath}' --conditions=webloom-source '${script}'`
  const line = `ip link set lo up && ip addr add 169.254.169.254/32 dev lo && exec ${node}`
  const { code, stdout, stderr } = await runProcess('unshare', ['-n', 'sh', '-c', line], {
    timeoutMs: 120_000,
  })
  expect(code, stderr).toBe(0)
  const { answers, hits, contacts } = JSON.parse(stdout) as {
    answers: boolean
    hits: string[]
    contacts: number
  }
  expect(answers).toBe(true)
  expect(new Set(hits)).toEqual(new Set(WAYS.map((way) => `${way} public`)))
  expect(contacts).toBe(0)
})
