import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const require = createRequire(import.meta.url)

/** Version of a package as installed, or `absent`. */
export function versionOf(name: string): string {
  // Many packages do not export their package.json, so it is read where the package lies.
  for (const folder of require.resolve.paths(name) ?? []) {
    const path = join(folder, name, 'package.json')
    if (existsSync(path)) return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version
  }
  return 'absent'
}

export const VERSION: string = (require('../package.json') as { version: string }).version
