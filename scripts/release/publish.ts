/**
 * Publishes each public package whose version the registry does not have, as it was packed into `packed/`, those it depends on
 * first. A run that broke off goes on where it was. Plain `npm publish`, as it asks for the rights of a trusted publisher by
 * itself; and nothing here needs what `npm ci` installs, so that no code of others runs where these rights are.
 *
 *     npm run release:publish -- --dry-run    packs and checks all, and asks no registry
 *     npm run release:publish                 packs and publishes all
 *     node scripts/release/publish.ts         publishes what is packed, as the workflow does
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { npm, npmOrThrow } from './npm.ts'
import { tarballName } from './pack.ts'
import { type PublicPackage, publicPackages } from './public-packages.ts'
import { versionOf } from './version.ts'

// Said even by `npm run --silent`, whose level npm hands down: what is published, and what npm mends.
const LOUD = ['--loglevel', 'notice']

/** Arguments of `npm publish` that try packages, as they are in the repository. */
export function dryRunArguments(packages: readonly PublicPackage[]): string[] {
  const workspaces = packages.flatMap(({ folder }) => ['--workspace', folder])
  // It compares with the versions in the registry, if it may ask for them.
  return ['publish', ...workspaces, '--access', 'public', ...LOUD, '--dry-run', '--offline']
}

function isPublished({ name, version }: PublicPackage, root: string): boolean {
  const { code, stdout, stderr } = npm(['view', `${name}@${version}`, 'version'], root)
  if (code === 0) return stdout.trim() !== ''
  if (/\bE404\b/.test(stderr)) return false
  throw new Error(`The registry does not say whether it has ${name}@${version}:\n${stderr}`)
}

function tryAll(root: string): void {
  const packages = publicPackages(root)
  npmOrThrow(dryRunArguments(packages), root)
  for (const { name } of packages) console.log(`${name}: ready`)
}

function publishAll(root: string): void {
  // All are looked for before the first is published.
  const packed = publicPackages(root).map((one) => ({ ...one, tarball: packedOf(one, root) }))
  for (const one of packed) {
    if (isPublished(one, root)) console.log(`${one.name}: there already`)
    else {
      npmOrThrow(['publish', one.tarball, '--access', 'public', ...LOUD], root)
      console.log(`${one.name}: published`)
    }
  }
}

function packedOf(one: PublicPackage, root: string): string {
  const path = join(root, 'packed', tarballName(one))
  if (!existsSync(path))
    throw new Error(`There is no ${path}, so nothing is published. Pack first:  npm run pack`)
  return path
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '../..')
  const dryRun = process.argv.includes('--dry-run')
  try {
    console.log(`${dryRun ? 'Would publish' : 'Publishing'} version ${versionOf(root)}`)
    if (dryRun) tryAll(root)
    else publishAll(root)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
