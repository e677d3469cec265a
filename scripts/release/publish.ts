/**
 * Publishes each public package whose version the registry does not have, those it depends on first. A run that broke off
 * goes on where it was. Plain `npm publish`, as it asks for the rights of a trusted publisher by itself.
 *
 *     npm run release:publish -- --dry-run    packs and checks all, and asks no registry
 *     npm run release:publish
 */

import { join } from 'node:path'
import { npm, npmOrThrow } from './npm.ts'
import { type PublicPackage, publicPackages } from './public-packages.ts'
import { versionOf } from './version.ts'

/** Arguments of `npm publish` for packages. */
export function publishArguments(packages: readonly PublicPackage[], dryRun: boolean): string[] {
  const workspaces = packages.flatMap(({ folder }) => ['--workspace', folder])
  // A dry run compares with the versions in the registry, if it may ask for them.
  // Said even by `npm run --silent`, whose level npm hands down: what is published, and what npm mends.
  const loud = ['--loglevel', 'notice']
  return [
    'publish',
    ...workspaces,
    '--access',
    'public',
    ...loud,
    ...(dryRun ? ['--dry-run', '--offline'] : []),
  ]
}

function isPublished({ name, version }: PublicPackage, root: string): boolean {
  const { code, stdout, stderr } = npm(['view', `${name}@${version}`, 'version'], root)
  if (code === 0) return stdout.trim() !== ''
  if (/\bE404\b/.test(stderr)) return false
  throw new Error(`The registry does not say whether it has ${name}@${version}:\n${stderr}`)
}

function tryAll(root: string): void {
  const packages = publicPackages(root)
  npmOrThrow(publishArguments(packages, true), root)
  for (const { name } of packages) console.log(`${name}: ready`)
}

function publishAll(root: string): void {
  for (const one of publicPackages(root)) {
    if (isPublished(one, root)) console.log(`${one.name}: there already`)
    else {
      npmOrThrow(publishArguments([one], false), root)
      console.log(`${one.name}: published`)
    }
  }
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
