/** All public packages as the registry would get them. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPackageFromTarballData, type Package } from '@arethetypeswrong/core'
import { type TempDir, tempDir } from '@webloom/testkit'
import { npmOrThrow } from '../../scripts/release/npm.ts'
import { type PublicPackage, publicPackages } from '../../scripts/release/public-packages.ts'

export const ROOT = join(import.meta.dirname, '../..')

export interface PackedPackage extends PublicPackage {
  readonly tarball: Uint8Array<ArrayBuffer>
  readonly unpackedBytes: number
  /** The tarball as attw reads it. */
  readonly content: Package
  /** Paths within the package. */
  readonly paths: ReadonlySet<string>
  textOf(path: string): string
}

interface PackReport {
  readonly name: string
  readonly filename: string
  readonly unpackedSize: number
}

/** Packs them; they must be built. */
export async function packedPackages(): Promise<PackedPackage[]> {
  await using folder = await tempDir()
  const packages = publicPackages(ROOT)
  const workspaces = packages.flatMap(({ folder }) => ['--workspace', folder])
  const said = npmOrThrow(['pack', '--json', '--pack-destination', folder.path, ...workspaces], ROOT)
  const reports = Object.values<PackReport>(JSON.parse(said))
  return packages.map((one) => unpacked(one, reports.find(({ name }) => name === one.name)!, folder))
}

function unpacked(
  one: PublicPackage,
  { filename, unpackedSize }: PackReport,
  folder: TempDir,
): PackedPackage {
  const tarball = new Uint8Array(readFileSync(folder.join(filename)))
  const content = createPackageFromTarballData(tarball)
  const prefix = `/node_modules/${one.name}/`
  return {
    ...one,
    tarball,
    unpackedBytes: unpackedSize,
    content,
    paths: new Set(content.listFiles().map((path) => path.slice(prefix.length))),
    textOf: (path) => content.readFile(prefix + path),
  }
}
