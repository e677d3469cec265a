/** An empty folder of a new user, with our packages installed from what `npm pack` makes of them. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ProcessOptions, runProcess, type TempDir, tempDir } from '@webloom/testkit'
import { expect } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const PACKAGES = readdirSync(join(ROOT, 'packages')).filter((name) => name !== 'testkit')

/**
 * @param others packages of the repository's own dependencies that the user installs, too, at the versions used here
 * @param packages which of ours are packed and installed; all that are published when absent
 */
export async function packedFolder(
  others: readonly string[] = [],
  packages: readonly string[] = PACKAGES,
): Promise<TempDir> {
  const folder = await tempDir()
  const workspaces = packages.flatMap((name) => ['--workspace', `packages/${name}`])
  await npm(['pack', '--pack-destination', folder.path, ...workspaces], ROOT)
  const tarballs = readdirSync(folder.path).filter((name) => name.endsWith('.tgz'))
  expect(tarballs).toHaveLength(packages.length)
  writeFileSync(folder.join('package.json'), '{}')
  const wanted = [
    ...tarballs.map((name) => `./${name}`),
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
