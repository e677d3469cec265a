/** What `webloom` alone prints: what it is, what one begins with, and where more is. */

import type { Command } from 'commander'
import { commandName, typedLine } from '../terminal/resume-line.ts'
import { VERSION } from '../version.ts'
import type { Example } from './command.ts'

/** In the order in which one comes to need them. */
export const FIRST_LINES: readonly Example[] = [
  ['webloom genspider quotes quotes.toscrape.com', 'writes a spider to start from'],
  ['webloom shell https://quotes.toscrape.com/', 'tries selectors on a page'],
  ['webloom runspider quotes.ts -O quotes.jsonl', 'runs a spider, and writes its items to a file'],
  ['webloom worker quotes.ts --processes 4', 'runs it in many processes, on many machines (REDIS_URL)'],
  ['webloom doctor', 'says what is wrong here, and what to type'],
]

export function moreHelp(name = commandName()): string {
  return `
${name} <command> --help shows the options of a command, with examples.
${name} completion --help says how a shell completes all of it.`
}

/** A screen of 24 lines, with a line end. */
export function firstScreen(program: Command): string {
  const name = program.name()
  const lines = [
    `webloom ${VERSION}. ${program.description()}`,
    '',
    'Begin with:',
    ...FIRST_LINES.flatMap(([line, does]) => [`  ${typedLine(line, name)}`, `      ${does}`]),
    '',
    ...groupsOf(program).map(([title, names]) => `${title}: ${names.join(', ')}`),
    '',
    `${name} --help says what each does, ${name} <command> --help how, with examples.`,
  ]
  return `${lines.join('\n')}\n`
}

/** The titles of the help, without their colon, and the commands under each. */
function groupsOf(program: Command): [title: string, names: string[]][] {
  const shown = program
    .createHelp()
    .visibleCommands(program)
    .filter((one) => one.name() !== 'help')
  return [...Map.groupBy(shown, (one) => one.helpGroup().replace(/:$/, ''))].map(([title, commands]) => [
    title,
    commands.map((one) => one.name()),
  ])
}
