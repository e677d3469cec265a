/**
 * CHANGELOG.md from changesets. All packages have one version, so they have one changelog: that of the repository.
 *
 * Lines wait in two places: under `## Unreleased`, and in files in `.changeset/`. A release moves both under a heading of its own.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const UNRELEASED = '## Unreleased'

/** The lines that each changeset adds to the changelog, by its file; empty ones release nothing and add no line. */
export function changesetLines(root: string): Map<string, string> {
  const folder = join(root, '.changeset')
  const files = readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'README.md')
  return new Map(files.sort().map((name) => [name, linesOf(name, readFileSync(join(folder, name), 'utf8'))]))
}

function linesOf(file: string, text: string): string {
  const match = /^---\r?\n[\s\S]*?^---\r?\n?([\s\S]*)$/m.exec(text)
  if (!match) {
    throw new Error(
      `.changeset/${file} does not begin with packages between two lines of ---; write it anew: npx changeset`,
    )
  }
  return asBullets(match[1]!.trim())
}

/** What is written as a list stays; any other text becomes one entry, its further lines set in. */
function asBullets(text: string): string {
  if (text === '' || text.startsWith('- ')) return text
  return `- ${text.replaceAll(/\n(?=.)/g, '\n  ')}`
}

/** What stands under `## Unreleased`, without its heading. */
export function unreleasedLines(changelog: string): string {
  const { start, end } = unreleasedPart(changelog)
  return changelog.slice(start, end).trim()
}

/** Whether the changelog has a heading for the version. */
export function isReleased(changelog: string, version: string): boolean {
  return changelog.split('\n').some((line) => line === `## ${version}` || line.startsWith(`## ${version} `))
}

/** The part of one version, without its heading: the text of its release. */
export function releaseNotes(changelog: string, version: string): string {
  const lines = changelog.split('\n')
  const start = lines.findIndex((line) => line.startsWith(`## ${version} `))
  if (start < 0) throw new Error(`CHANGELOG.md has no part "## ${version}": npm run release:version makes it`)
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('## '))
  return lines
    .slice(start + 1, length < 0 ? undefined : start + 1 + length)
    .join('\n')
    .trim()
}

/** The changelog with all that waits under the version's heading, and nothing left under `## Unreleased`. */
export function releasedChangelog(
  changelog: string,
  version: string,
  day: string,
  changesets: Iterable<string>,
): string {
  const { start, end } = unreleasedPart(changelog)
  const added = [...changesets].filter((text) => text !== '').join('\n')
  const lines = [unreleasedLines(changelog), added].filter((text) => text !== '').join('\n\n')
  const rest = changelog.slice(end)
  return `${changelog.slice(0, start)}\n\n## ${version} (${day})\n\n${lines}\n${rest && `\n${rest}`}`
}

/** From behind the heading to the next one of its rank, or to the end. */
function unreleasedPart(changelog: string): { start: number; end: number } {
  const at = changelog.search(/^## Unreleased$/m)
  if (at < 0) throw new Error(`CHANGELOG.md has no line "${UNRELEASED}": put it above the newest version`)
  const start = at + UNRELEASED.length
  const next = changelog.slice(start).search(/^## /m)
  return { start, end: next < 0 ? changelog.length : start + next }
}
