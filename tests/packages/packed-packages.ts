/** All public packages as the registry would get them. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  checkPackage,
  createPackageFromTarballData,
  type Package,
  type Problem,
} from '@arethetypeswrong/core'
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

/** What attw says of the types of a package, by its profile esm-only. A package without types has a problem of another kind. */
export async function typeProblems({ content }: PackedPackage): Promise<readonly (Problem | 'no types')[]> {
  const result = await checkPackage(content)
  if (!result.types) return ['no types']
  // esm-only leaves out who cannot import ES modules: Node 10, and require().
  return result.problems.filter(
    (problem) =>
      !('resolutionKind' in problem) ||
      (problem.resolutionKind !== 'node10' && problem.resolutionKind !== 'node16-cjs'),
  )
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
