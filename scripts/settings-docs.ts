/**
 * Writes what is made of the settings table: `docs/settings.md`, and the type `SettingsInput`, whose docstrings an editor shows.
 *
 *   node --conditions=webloom-source scripts/settings-docs.ts           writes both
 *   node --conditions=webloom-source scripts/settings-docs.ts --check   fails when one is not what it would write
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { UNPREFIXED_VARIABLES } from '../packages/core/src/settings/environment-settings.ts'
import type { Setting, SettingOrigin, UsedSetting } from '../packages/core/src/settings/setting-row.ts'
import { SETTING_THEMES, SETTINGS_TABLE } from '../packages/core/src/settings/settings-table.ts'

const PAGE = new URL('../docs/settings.md', import.meta.url)
const TYPES = new URL('../packages/core/src/settings/settings-input.ts', import.meta.url)

const COMMAND = 'node_modules/.bin/node --conditions=webloom-source scripts/settings-docs.ts'

const INTRODUCTION = `# Settings

<!-- Written by scripts/settings-docs.ts from packages/core/src/settings/settings-table/. Change those, then run it. -->

Names, defaults and meanings are those of Scrapy, scrapy-redis and its Bloom forks wherever there is no reason against
it. All values are checked before a crawl starts, and all problems are told at once.

## Where to write them

A later place overrides an earlier one. It replaces the whole value: lists and objects are not merged.

| Place | Example |
|---|---|
| 1. the default | the tables below |
| 2. the config file, \`webloom.config.ts\` | \`export default defineConfig({ settings: { DOWNLOAD_DELAY: 0.5 } })\` |
| 3. the spider | \`customSettings = { DOWNLOAD_DELAY: 1 }\` |
| 4. the environment | \`WEBLOOM_DOWNLOAD_DELAY=2\` |
| 5. the command line | \`-s DOWNLOAD_DELAY=3\` |

\`webloom settings --explain DOWNLOAD_DELAY\` shows what each place says and which one won.

**In the environment** every setting is \`WEBLOOM_<NAME>\`. These may also go without the prefix:
${[...UNPREFIXED_VARIABLES].map((name) => `\`${name}\``).join(', ')}.
An empty variable counts as not set.

**As text**, in the environment and after \`-s\`: a bool is \`true\`, \`false\`, \`True\`, \`False\`, or a number (0 is false); a list
is a JSON array or entries separated by commas; an object is JSON; \`null\`, or nothing, is null where null is a value.

**A setting of your own** has a name that begins with \`CUSTOM_\` and may hold anything. Any other name that is not on
this page stops the crawl before it starts, with the names that may have been meant.

**Components** are given as pairs of component and order, \`[["./mine.ts#Mine", 300]]\`: a class, \`./file.ts#Export\`, or a
built-in name; \`null\` as the order disables a built-in one. Lower orders are nearer the engine.
`

const UNUSED_INTRODUCTION = `## Known, not used

These names are accepted, so that an existing configuration can be brought along, and do nothing in this release:
setting one gives a warning with the reason. Their types and defaults are those of the software they come from, or the
ones they will have.
`

const ORIGINS: { readonly [Origin in SettingOrigin]: string } = {
  scrapy: 'Scrapy',
  'scrapy-redis': 'scrapy-redis',
  'scrapy-redis-bloomfilter': 'Bloom forks',
  webloom: 'Webloom',
}

/** The whole page. */
export function settingsPage(themes: typeof SETTING_THEMES, table: readonly Setting[]): string {
  const used = themes.map(({ title, settings }) => `### ${title}\n\n${usedTable(settings)}`)
  const unused = unusedTable(table.filter(({ use }) => use === 'unused'))
  return [INTRODUCTION, '## Used\n', ...used, UNUSED_INTRODUCTION, unused].join('\n')
}

function usedTable(settings: readonly UsedSetting[]): string {
  const rows = settings.map((row) => [
    `\`${row.name}\``,
    typeText(row),
    defaultText(row),
    row.unit ?? '',
    ORIGINS[row.since],
    row.summary,
  ])
  return tableText(['Setting', 'Type', 'Default', 'Unit', 'From', 'What it does'], rows)
}

function unusedTable(settings: readonly Setting[]): string {
  const rows = settings.map((row) => [
    `\`${row.name}\``,
    typeText(row),
    defaultText(row),
    row.unit ?? '',
    ORIGINS[row.since],
    row.aliasOf ? `another name of \`${row.aliasOf}\`: ${row.summary}` : row.summary,
  ])
  return tableText(['Setting', 'Type', 'Default', 'Unit', 'From', 'Why it is not used'], rows)
}

function typeText(row: UsedSetting): string {
  const orNull = row.nullable ? ', null' : ''
  if (row.type === 'enum') return (row.choices ?? []).map((choice) => `\`${choice}\``).join(', ') + orNull
  const entries = row.type === 'list' && row.of === 'int' ? ' of int' : ''
  return row.type.replaceAll('-', ' ') + entries + orNull
}

function defaultText(row: UsedSetting): string {
  const text = typeof row.default === 'string' ? row.default : JSON.stringify(row.default)
  return text === '' ? 'empty' : `\`${text}\``
}

function tableText(head: readonly string[], rows: readonly string[][]): string {
  const lines = [head, head.map(() => '---'), ...rows.map((cells) => cells.map(cellText))]
  return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`
}

// A bare | would end the cell, a bare < begin a tag.
function cellText(text: string): string {
  const outsideCode = text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part.replaceAll('<', '&lt;') : part))
  return outsideCode.join('`').replaceAll('|', '\\|')
}

/** The type of settings as they are written, a docstring each. */
export function settingsTypes(table: readonly Setting[]): string {
  return `// Written by scripts/settings-docs.ts from settings-table/. Change that, then run it.

import type { CustomSettingName, WrittenSetting } from './settings-table.ts'

/** Settings as an author writes them in a config file, a spider's \`customSettings\` or a call of \`crawl()\`. */
export type SettingsInput = KnownSettingsInput & { readonly [name: CustomSettingName]: unknown }

/** The settings of the framework as an author writes them, with what each does. */
export type KnownSettingsInput = {
${table.map(inputText).join('\n')}
}
`
}

function inputText(row: Setting): string {
  return `${docstring(hoverText(row))}\n  readonly ${row.name}?: WrittenSetting<'${row.name}'>`
}

function hoverText(row: Setting): string {
  if (row.use === 'unused') return `Known, not used: ${row.summary}`
  if (row.aliasOf) return row.summary
  const unit = row.unit ? ` (${row.unit})` : ''
  return `${row.summary} Default ${defaultText(row)}${unit}.`
}

// A comment must not end within what it says.
function docstring(text: string): string {
  const lines = wrapped(text.replaceAll('*/', '*\\/'))
  return lines.length === 1
    ? `  /** ${lines[0]} */`
    : ['  /**', ...lines.map((line) => `   * ${line}`), '   */'].join('\n')
}

const COLUMNS_MAX = 118

function wrapped(text: string): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!
    if (line !== '' && line.length + word.length + 1 > COLUMNS_MAX) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}

/** Of what is written, the files that are not as the table has them. */
export function outdatedFiles(): string[] {
  return written().flatMap(([url, text]) => (readFileSync(url, 'utf8') === text ? [] : [fileURLToPath(url)]))
}

function written(): [URL, string][] {
  return [
    [PAGE, settingsPage(SETTING_THEMES, SETTINGS_TABLE)],
    [TYPES, settingsTypes(SETTINGS_TABLE)],
  ]
}

function main(): void {
  if (!process.argv.includes('--check')) {
    for (const [url, text] of written()) writeFileSync(url, text)
    return
  }
  for (const path of outdatedFiles()) {
    console.error(`${path} is not what the settings table says. Write it anew: ${COMMAND}`)
    process.exitCode = 1
  }
}

if (import.meta.main) main()
