/** deploy/kubernetes against the schemas of Kubernetes, by `kubernetes-validate` of PyPI, which brings them. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { runProcess, tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'

const FOLDER = join(import.meta.dirname, '../../deploy/kubernetes')
// Of other projects, which are not among the schemas.
const FOREIGN = ['kustomization.yaml', 'keda.yaml']

test('each resource is as its schema says, and has nothing else', async () => {
  await using dir = await tempDir()
  const made = await runProcess('python3', ['-m', 'venv', dir.path])
  expect(made.code, made.stderr).toBe(0)
  const installed = await runProcess(dir.join('bin/pip'), ['install', '-q', 'kubernetes-validate'])
  expect(installed.code, installed.stderr).toBe(0)
  const paths = readdirSync(FOLDER)
    .filter((name) => !FOREIGN.includes(name))
    .map((name) => join(FOLDER, name))
  const { code, stdout, stderr } = await runProcess(dir.join('bin/kubernetes-validate'), [
    '--strict',
    ...paths,
  ])
  expect(code, stdout + stderr).toBe(0)
})
