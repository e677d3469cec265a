/** All public packages as the registry would get them. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPackageFromTarballData, type Package } from '@arethetypeswrong/core'
import type { Tarball } from '../../scripts/release/pack.ts'
import { packedOnce } from './packed-once.ts'

export const ROOT = join(import.meta.dirname, '../..')

export interface PackedPackage extends Tarball {
  readonly tarball: Uint8Array<ArrayBuffer>
  /** The tarball as attw reads it. */
  readonly content: Package
  /** Paths within the package. */
  readonly paths: ReadonlySet<string>
  textOf(path: string): string
}

/** Packs them; they must be built. */
export async function packedPackages(): Promise<PackedPackage[]> {
  return (await packedOnce()).map(unpacked)
}

function unpacked(one: Tarball): PackedPackage {
  const tarball = new Uint8Array(readFileSync(one.path))
  const content = createPackageFromTarballData(tarball)
  const prefix = `/node_modules/${one.name}/`
  return {
    ...one,
    tarball,
    content,
    paths: new Set(content.listFiles().map((path) => path.slice(prefix.length))),
    textOf: (path) => content.readFile(prefix + path),
  }
}
