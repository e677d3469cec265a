import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** Version of a package as installed, or `?` when its package.json is not exported. */
export function versionOf(name: string): string {
  try {
    return (require(`${name}/package.json`) as { version: string }).version
  } catch {
    // Some packages hide their package.json; a version listing can do without one of them.
    return '?'
  }
}

export const VERSION: string = (require('../package.json') as { version: string }).version
