/**
 * Prints the part of CHANGELOG.md of the version that the packages have: the text of its release.
 *
 *     node scripts/release/notes.ts
 *     node scripts/release/notes.ts --tag     prints its tag instead
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { releaseNotes } from './changelog.ts'
import { versionOf } from './version.ts'

const root = join(import.meta.dirname, '../..')
const version = versionOf(root)
const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
console.log(process.argv.includes('--tag') ? `v${version}` : releaseNotes(changelog, version))
