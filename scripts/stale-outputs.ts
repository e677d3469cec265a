/**
 * Deletes declarations of sources that are gone. The compiler leaves them where they are, and so does the cache of builds: they would
 * be packed and published. (`bundle.ts` deletes what it does not write.)
 *
 *     npm run build      ends with this
 */

import { existsSync, globSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const DECLARATION = /\.d\.ts(?:\.map)?$/

/** Declarations below `root` that have no source; paths are relative to it. */
export function staleOutputs(root: string): string[] {
  return globSync('packages/*/dist/**', { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .filter(
      (path) => DECLARATION.test(path) && !sourcesOf(path).some((source) => existsSync(join(root, source))),
    )
    .sort()
}

function sourcesOf(path: string): string[] {
  return ['.ts', '.tsx'].map((end) => path.replace('/dist/', '/src/').replace(DECLARATION, end))
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  for (const path of staleOutputs(root)) rmSync(join(root, path))
}
