import { type Settings, withoutUrlSecrets } from '@webloom/core'
import { shownPair } from './shown-pair.ts'

/**
 * The command line as it was typed, fit for a shell: running it again resumes the crawl. Secrets in it are hidden, and `--new` is left out: typed
 * again after the crawl has finished it would begin another one.
 */
export function resumeLine(
  settings: Settings,
  argv: readonly string[] = process.argv.slice(2),
  env: NodeJS.ProcessEnv = process.env,
): string {
  const again = argv.filter((word) => word !== '--new')
  const words = [commandName(env), ...again.map((word) => shellQuoted(shownWord(word)))]
  // What was set for that one command would be missing the next time.
  const folder = settings.source('JOBDIR') === 'environment' ? env.WEBLOOM_JOBDIR : undefined
  return [...(folder === undefined ? [] : [`WEBLOOM_JOBDIR=${shellQuoted(folder)}`]), ...words].join(' ')
}

/** A word of a command line without what is a secret by its name or its form. It may hold a flag: `-sREDIS_URL=…`, `--set=REDIS_URL=…`. */
export function shownWord(word: string): string {
  const [, flag = '', pair] = /^(-[sa]|--\w+=)?(\w+=.*)$/s.exec(word) ?? []
  return pair === undefined ? withoutUrlSecrets(word) : `${flag}${shownPair(pair)}`
}

/** Returns what to type for the command that runs: `npx webloom` where it is only in the folder's own packages. */
export function commandName(env: NodeJS.ProcessEnv = process.env): string {
  // By npx and by a script of package.json alike: both find commands that a shell does not.
  return SCRIPT_OF_WEBLOOM.test(env.npm_lifecycle_script ?? '') ? 'npx webloom' : 'webloom'
}

/** As a command, perhaps with variables before it; not as a word of another one, as in `vitest run webloom`. */
const SCRIPT_OF_WEBLOOM = /(?:^|&&|\|\||;)\s*(?:\w+=\S*\s+)*['"]?webloom\b/

/** A line that begins with `webloom`, perhaps with variables before it, as it is to be typed here. */
export function typedLine(line: string, name = commandName()): string {
  return line.replace(/^((?:\w+=\S* )*)webloom\b/, `$1${name}`)
}

/** A message with the lines in it as they are to be typed here: `webloom status` may be `npx webloom status`. */
export function typedHints(text: string, name = commandName()): string {
  return name === 'webloom' ? text : text.replaceAll(HINT, name)
}

// Before a command's name alone: a message tells of webloom, too. Not in `npx webloom`, @webloom/core or a path.
const HINT = new RegExp(
  `(?<![\\w@/.-]|npx )webloom(?= (?:${[
    ...[
      'crawl',
      'runspider',
      'worker',
      'seed',
      'genspider',
      'shell',
      'fetch',
      'view',
      'parse',
      'check',
      'list',
    ],
    ...[
      'dash',
      'mcp',
      'status',
      'scale',
      'runs',
      'monitors',
      'budgets',
      'visits',
      'refresh',
      'schedule',
      'pause',
      'resume',
      'stop',
      'host',
      'clear',
      'failed',
      'quarantine',
    ],
    ...['dupefilter', 'import', 'export', 'doctor', 'settings', 'plan', 'bench', 'completion', 'version'],
  ].join('|')})\\b)`,
  'g',
)

/** Puts a word in single quotes where a POSIX shell would read more into the word than its letters. */
export function shellQuoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
