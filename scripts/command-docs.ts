/**
 * Writes `docs/reference/commands.md` from the command line itself: each command with its options and the examples of its help.
 *
 *   node --conditions=webloom-source scripts/command-docs.ts           writes it
 *   node --conditions=webloom-source scripts/command-docs.ts --check   fails when it is not what would be written
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Command, Option } from 'commander'
import { examplesOf } from '../packages/webloom/src/cli/command.ts'
import { commandLine } from '../packages/webloom/src/cli.ts'

const PAGE = new URL('../docs/reference/commands.md', import.meta.url)

const INTRODUCTION = `# The command line

<!-- Written by scripts/command-docs.ts from packages/webloom/src/cli/. Change those, then run it. -->

\`webloom --help\` prints this list, and \`webloom <command> --help\` a command's options and examples. In a project write \`npx webloom\`.
\`<spider>\` is a spider's name in the project of this folder, or a spider's file. \`[…]\` may be left out, \`…\` may be repeated.

Exit codes are 0 (finished), 1 (unexpected), 2 (usage or settings), 3 (Redis unreachable), 4 (monitors found something) and 130 or 143 (stopped by a signal);
[errors](../errors.md) has more. [The terminal](../terminal.md) tells of progress, \`doctor\` and completion.
`

/** The whole page, with a line end. */
export function commandsPage(program: Command): string {
  const groups = Map.groupBy(shown(program), (one) => one.helpGroup().replace(/:$/, ''))
  const sections = [...groups].map(
    ([title, commands]) => `## ${title}\n\n${commands.map((one) => commandText(one, [])).join('\n')}`,
  )
  return `${[INTRODUCTION, ...sections].join('\n')}`
}

function commandText(command: Command, above: readonly string[]): string {
  const words = [...above, command.name()]
  const examples = examplesOf(command)
  const parts = [
    `${'#'.repeat(words.length + 2)} ${words.join(' ')}`,
    `\`${['webloom', ...words, argumentsOf(command)].filter(Boolean).join(' ')}\``,
    sentence(command.description()),
    command.options.length > 0
      ? `| option | does |\n| --- | --- |\n${command.options.map(row).join('\n')}`
      : '',
    examples.length > 0 ? `\`\`\`sh\n${examples.map(exampleText).join('\n\n')}\n\`\`\`` : '',
    ...shown(command).map((one) => commandText(one, words).trimEnd()),
  ]
  return `${parts.filter(Boolean).join('\n\n')}\n`
}

function shown(command: Command): Command[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help')
}

function argumentsOf(command: Command): string {
  const args = command.registeredArguments.map((one) => {
    const name = one.variadic ? `${one.name()}...` : one.name()
    return one.required ? `<${name}>` : `[${name}]`
  })
  return args.join(' ')
}

function row(option: Option): string {
  const byDefault = option.defaultValue === undefined ? '' : ` (default ${option.defaultValue})`
  return `| \`${cell(option.flags)}\` | ${cell(`${option.description}${byDefault}`)} |`
}

function exampleText([line, does]: readonly [string, string]): string {
  return `# ${does}\n${line}`
}

function sentence(text: string): string {
  const upper = text.slice(0, 1).toUpperCase() + text.slice(1)
  return upper.endsWith('.') ? upper : `${upper}.`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}

/** The page's path when it is not as the command line has it. */
export function outdatedCommands(): string[] {
  return readFileSync(PAGE, 'utf8') === written() ? [] : [fileURLToPath(PAGE)]
}

function written(): string {
  return commandsPage(commandLine(() => {}))
}

function main(): void {
  if (!process.argv.includes('--check')) {
    writeFileSync(PAGE, written())
    return
  }
  for (const path of outdatedCommands()) {
    console.error(
      `${path} is not what the command line says. Write it anew: node_modules/.bin/node --conditions=webloom-source scripts/command-docs.ts`,
    )
    process.exitCode = 1
  }
}

if (import.meta.main) main()
