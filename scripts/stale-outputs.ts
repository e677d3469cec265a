/**
 * Deletes what was compiled from sources that are gone. The compiler leaves it where it is, and so does the cache of builds: it would
 * be packed and published.
 *
 *     npm run build      ends with this
 */

import { existsSync, globSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const COMPILED = /\.(?:js|d\.ts)(?:\.map)?$/

/** Compiled files below `root` that have no source, relative to it. */
export function staleOutputs(root: string): string[] {
  return globSync('packages/*/dist/**', { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .filter(
      (path) => COMPILED.test(path) && !sourcesOf(path).some((source) => existsSync(join(root, source))),
    )
    .sort()
}

function sourcesOf(path: string): string[] {
  return ['.ts', '.tsx'].map((end) => path.replace('/dist/', '/src/').replace(COMPILED, end))
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  for (const path of staleOutputs(root)) rmSync(join(root, path))
}
