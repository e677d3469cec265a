/**
 * Makes a release of what waits: changesets give all packages their new version and go, CHANGELOG.md gets its part, the lock follows.
 * It changes files only; look at them, commit them, open a pull request. docs/releasing.md says the rest.
 *
 *     npm run release:version
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { changesetLines, isReleased, releasedChangelog, unreleasedLines } from './changelog.ts'
import { npmOrThrow } from './npm.ts'
import { publicPackages } from './public-packages.ts'

/** The new version. Throws, and changes nothing, when nothing waits or what waits has no version to go to. */
export function makeVersion(root: string, day: string): string {
  const page = join(root, 'CHANGELOG.md')
  const changelog = readFileSync(page, 'utf8')
  const changesets = changesetLines(root)
  if (changesets.size > 0) npmOrThrow(['exec', '--offline', '--', 'changeset', 'version'], root)
  else checkFirstRelease(changelog, versionOf(root))
  const version = versionOf(root)
  writeFileSync(page, releasedChangelog(changelog, version, day, changesets.values()))
  return version
}

/** Without a changeset only a version that was never released can be: the first one. */
function checkFirstRelease(changelog: string, version: string): void {
  if (unreleasedLines(changelog) === '') throw new Error('Nothing waits for a release: no changeset, no line')
  if (isReleased(changelog, version)) {
    throw new Error(
      `CHANGELOG.md has lines under "Unreleased", ${version} is released, and no changeset says which version is next: npx changeset`,
    )
  }
}

/** All public packages have one; packages that differ stop a release. */
export function versionOf(root: string): string {
  const packages = publicPackages(root)
  const versions = new Set(packages.map(({ version }) => version))
  if (versions.size === 1) return [...versions][0]!
  const list = packages.map(({ name, version }) => `${name} ${version}`).join(', ')
  throw new Error(`All public packages have one version; these differ, give them the same: ${list}`)
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '../..')
  try {
    const version = makeVersion(root, new Date().toISOString().slice(0, 10))
    npmOrThrow(['install', '--package-lock-only', '--ignore-scripts'], root)
    console.log(
      `Version ${version}. Look at it (git diff), commit it on a branch release/${version}, open a pull request.`,
    )
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
