import { join } from 'node:path'
import { npmOrThrow } from './npm.ts'
import { type PublicPackage, publicPackages } from './public-packages.ts'

/** A package as the registry would get it. */
export interface Tarball extends PublicPackage {
  readonly path: string
}

interface PackReport {
  readonly name: string
  readonly filename: string
}

/** What npm calls the tarball of a package: `webloom-core-0.1.0.tgz`. */
export function tarballName({ name, version }: PublicPackage): string {
  return `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
}

/** Packs packages into the folder, all public ones if none are given. They must be built. */
export function packInto(
  folder: string,
  root: string,
  packages: readonly PublicPackage[] = publicPackages(root),
): Tarball[] {
  const workspaces = packages.flatMap((one) => ['--workspace', one.folder])
  const said = npmOrThrow(['pack', '--json', '--pack-destination', folder, ...workspaces], root)
  const reports = Object.values<PackReport>(JSON.parse(said))
  return packages.map((one) => ({
    ...one,
    path: join(folder, reports.find(({ name }) => name === one.name)!.filename),
  }))
}
