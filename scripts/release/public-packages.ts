import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What of a package.json a release looks at. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
}

/** A package that goes to the registry. */
export interface PublicPackage {
  readonly name: string
  readonly version: string
  /** Relative to the repository, with `/`. */
  readonly folder: string
  readonly manifest: Manifest
}

/**
 * All packages of the repository that are not private, each after those it depends on: whoever installs one while a release is
 * under way finds what it stands on.
 */
export function publicPackages(root: string): PublicPackage[] {
  const found = globSync('packages/*/package.json', { cwd: root })
    .sort()
    .map((path) => packageAt(root, dirname(path).replaceAll('\\', '/')))
    .filter(({ manifest }) => !manifest.private)
  const ordered = new Map<string, PublicPackage>()
  for (const one of found) putAfterDependencies(one, found, ordered)
  return [...ordered.values()]
}

function packageAt(root: string, folder: string): PublicPackage {
  const manifest: Manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  return { name: manifest.name, version: manifest.version, folder, manifest }
}

function putAfterDependencies(
  one: PublicPackage,
  all: readonly PublicPackage[],
  ordered: Map<string, PublicPackage>,
): void {
  if (ordered.has(one.name)) return
  for (const other of all) {
    if (one.manifest.dependencies?.[other.name]) putAfterDependencies(other, all, ordered)
  }
  ordered.set(one.name, one)
}
