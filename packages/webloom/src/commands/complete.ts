/** What a shell asks when somebody presses Tab. It runs nothing of the project: a Tab must be quick, and change nothing. */

import type { Command } from 'commander'
import { candidatesFor } from '../completion/candidates-for.ts'
import { shellWords } from '../completion/shell-words.ts'
import { visible } from '../terminal/sanitize.ts'

/** Longer ones would hide the candidates. */
const HELP_CHARACTERS_MAX = 60

/** Stands for the files of the folder, which the shell itself completes better. */
const FILES = ':files'

/**
 * Prints what the last word may become.
 *
 * @param words the command line without its first word; bash, which splits words at `=` and `:`, gives the whole line as one
 */
export function printCandidates(program: Command, shell: string, words: readonly string[]): void {
  const line = shell === 'bash' ? afterProgram(shellWords(words[0] ?? '')) : words
  const { values, files } = candidatesFor(program, line.length === 0 ? [''] : line)
  const lines = values.map(([value, help]) =>
    help === undefined || shell === 'bash'
      ? visible(value)
      : `${visible(value)}\t${shortened(visible(help))}`,
  )
  process.stdout.write([...lines, ...(files ? [FILES] : [])].map((text) => `${text}\n`).join(''))
}

/** Variables of the environment may stand before the program. */
function afterProgram(words: readonly string[]): readonly string[] {
  return words.slice(words.findIndex((word) => !/^\w+=/.test(word)) + 1)
}

function shortened(help: string): string {
  return help.length > HELP_CHARACTERS_MAX ? `${help.slice(0, HELP_CHARACTERS_MAX - 1)}…` : help
}
