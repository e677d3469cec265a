import { matches, packageSources, sourceFiles } from '../files/source-files.ts'

const TABLE = 'packages/core/src/settings/settings-table/'
/** Written by scripts/settings-docs.ts from the table. */
const GENERATED = 'packages/core/src/settings/settings-input.ts'
const NAME = /\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b/g
/** A call that reads a setting. A name that only stands in a list or in a message is read by nobody. */
const READ = /\b(?:get\w*|placedComponents)(?:<\w+>)?\(\s*'([A-Z][A-Z0-9_]+)'/g

/** A comment that stands alone: a call in it reads nothing. */
const COMMENT_LINE = /^\s*(?:\/\/|\/?\*).*$/gm

/** Files that read settings whose names they have in a table, with these names. */
const FROM_TABLES: Readonly<Record<string, readonly string[]>> = {
  'packages/core/src/redis/redis-options.ts': [
    'QUEUE_REDIS_URL',
    'FILTER_URL',
    'SEEDS_REDIS_URL',
    'ITEMS_REDIS_URL',
  ],
}

/**
 * Settings that count as used and that nothing reads, or as unused and that something does; and reasons why settings are not
 * used that lead to a setting or command that does not exist, or is not used itself.
 */
export function settingUseProblems(root: string): string[] {
  const used = sourceFiles(root, `${TABLE}*.ts`).flatMap(({ text }) => rowsIn(text))
  const unused = sourceFiles(root, `${TABLE}unused/*.ts`)
  const sources = packageSources(root).filter(({ path }) => !path.startsWith(TABLE) && path !== GENERATED)
  const reads = new Map<string, string>()
  for (const { path, text } of sources) {
    const code = text.replaceAll(COMMENT_LINE, '')
    for (const name of [...matches(code, READ), ...fromTable(path, code)]) reads.set(name, path)
  }
  const names = new Set(used.map(({ name }) => name))
  return [
    ...used
      .filter(({ name, isAlias }) => !isAlias && !reads.has(name))
      .map(({ name }) => `setting ${name} counts as used, and nothing reads it`),
    ...unused
      .flatMap(({ text }) => rowsIn(text))
      .filter(({ name }) => reads.has(name))
      .map(({ name }) => `setting ${name} counts as unused, and ${reads.get(name)} reads it`),
    ...unused.flatMap(({ text }) =>
      matches(text, /because:\s*(?:'([^']*)'|"[^"]*"|`[^`]*`)/g).flatMap((reason) => [
        ...matches(reason, NAME)
          .filter((name) => !names.has(name))
          .map((name) => `the reason “${reason}” leads to ${name}, which is not a setting that is used`),
        ...matches(reason, /`webloom ([a-z]+)/g)
          .filter((command) => !isCommand(root, command))
          .map((command) => `the reason “${reason}” leads to webloom ${command}, which is not a command`),
      ]),
    ),
  ]
}

/** Whether the command line has a command of that name: the first word of a form, in the files of `cli/`. */
export function isCommand(root: string, name: string): boolean {
  const form = new RegExp(`\\(\\s*'${name}(?: [<[]|')`)
  return sourceFiles(root, 'packages/webloom/src/cli/*.ts').some(
    ({ path, text }) => !path.endsWith('.test.ts') && form.test(text),
  )
}

function fromTable(path: string, text: string): string[] {
  return (FROM_TABLES[path] ?? []).filter((name) => text.includes(`['${name}']`))
}

function rowsIn(text: string): { name: string; isAlias: boolean }[] {
  return text
    .split(/(?=\bname: ')/)
    .slice(1)
    .map((row) => ({ name: /^name: '([^']+)'/.exec(row)![1]!, isAlias: row.includes('aliasOf:') }))
}
