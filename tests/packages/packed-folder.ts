/** An empty folder of a new user, with our packages installed from what `npm pack` makes of them. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ProcessOptions, runProcess, type TempDir, tempDir } from '@webloom/testkit'
import { expect } from 'vitest'
import { packedOnce } from './packed-once.ts'

const ROOT = join(import.meta.dirname, '../..')

/**
 * @param others packages of the repository's own dependencies that the user installs, too, at the versions used here
 * @param ours the names of those of ours that are packed and installed; all public ones when absent
 */
export async function packedFolder(
  others: readonly string[] = [],
  ours?: readonly string[],
): Promise<TempDir> {
  const folder = await tempDir()
  const tarballs = (await packedOnce()).filter(({ name }) => ours?.includes(name) ?? true)
  writeFileSync(folder.join('package.json'), '{}')
  const wanted = [
    ...tarballs.map(({ path }) => path),
    ...others.map((name) => `${name}@${versionHere(name)}`),
  ]
  await npm(['install', '--prefer-offline', '--no-audit', '--no-fund', ...wanted], folder.path)
  return folder
}

/** Runs the `webloom` that is installed in the folder. */
export function npxWebloom(cwd: string, args: readonly string[], env: ProcessOptions['env'] = {}) {
  return runProcess('npx', ['webloom', ...args], { cwd, env: { ...process.env, ...env } })
}

function versionHere(name: string): string {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8'))
  return version
}

async function npm(args: readonly string[], cwd: string): Promise<void> {
  const { code, stderr } = await runProcess('npm', args, { cwd, env: { ...process.env }, timeoutMs: 170_000 })
  expect(code, stderr).toBe(0)
}
