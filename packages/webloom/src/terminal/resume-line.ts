import type { Settings } from '@webloom/core'

/** The command line as it was typed, fit for a shell: running it again resumes the crawl. */
export function resumeLine(
  settings: Settings,
  argv: readonly string[] = process.argv.slice(2),
  env: NodeJS.ProcessEnv = process.env,
): string {
  const words = [commandName(env), ...argv.map(shellQuoted)]
  // What was set for that one command would be missing the next time.
  const folder = settings.source('JOBDIR') === 'environment' ? env.WEBLOOM_JOBDIR : undefined
  return [...(folder === undefined ? [] : [`WEBLOOM_JOBDIR=${shellQuoted(folder)}`]), ...words].join(' ')
}

/** What to type for the command that runs: `npx webloom` where it is only in the folder's own packages. */
export function commandName(env: NodeJS.ProcessEnv = process.env): string {
  // npx runs a command by a script of that name.
  const byNpx = env.npm_lifecycle_event === 'npx' && /^['"]?webloom\b/.test(env.npm_lifecycle_script ?? '')
  return byNpx ? 'npx webloom' : 'webloom'
}

/** In single quotes where a POSIX shell would read more into the word than its letters. */
export function shellQuoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
