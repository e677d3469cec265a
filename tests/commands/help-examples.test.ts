/** The examples of `--help` are lines that the command line takes. */

import { Settings } from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { FIRST_LINES, firstScreen } from '../../packages/webloom/src/cli/first-screen.ts'
import { commandLine } from '../../packages/webloom/src/cli.ts'
import { commandLines, refusal } from '../docs/docs-code.ts'

type Program = ReturnType<typeof commandLine>

const program = commandLine(() => {})
const commands = shownIn(program).filter((command) => command !== program)
const examples = commands.flatMap((command) => examplesIn(helpOf(command)))

describe('examples of the help', () => {
  test.each(commands.map((command) => [pathOf(command), helpOf(command)]))(
    '%s has two to four',
    (path, help) => {
      const lines = examplesIn(help)
      expect(lines.length).toBeGreaterThanOrEqual(2)
      expect(lines.length).toBeLessThanOrEqual(4)
      for (const line of lines) expect(line).toContain(path)
      // Nothing stands below what the last one does.
      expect(help.trimEnd().split('\n').at(-2)!.trim()).toBe(lines.at(-1))
    },
  )

  test.each([...examples, ...FIRST_LINES.map(([line]) => line)])('%s', async (line) => {
    const [args, ...more] = commandLines('sh', /<\((.*)\)/.exec(line)?.[1] ?? line)
    expect(more).toEqual([])
    expect(await refusal(args!)).toBeUndefined()
    settingsIn(args!).validate()
  })

  test('an example that is not true is found', async () => {
    expect(await refusal(commandLines('sh', 'webloom fetch https://a.example/ extra > page')[0]!)).toMatch(
      /too many arguments/,
    )
    expect(() => settingsIn(['crawl', 'quotes', '-s', 'DOWNLOAD_DELEY=1']).validate()).toThrow(
      /DOWNLOAD_DELAY/,
    )
  })
})

test('webloom alone names every command, and those to begin with by lines to type', () => {
  const screen = firstScreen(program)
  for (const one of commands.filter(({ parent }) => parent === program))
    expect(screen).toMatch(new RegExp(`[:,] ${one.name()}\\b`))
  for (const [line] of FIRST_LINES) expect(screen).toContain(`  ${line}\n`)
  expect(screen.split('\n').length).toBeLessThanOrEqual(24)
})

test('an option that must be given stands in the line to write when it was not', async () => {
  const shown: string[] = []
  const program = commandLine(() => {})
  const plan = program.commands.find((one) => one.name() === 'plan')!
  plan.configureOutput({ writeErr: (text) => shown.push(text) })
  await expect(program.parseAsync(['plan'], { from: 'user' })).rejects.toThrow()
  expect(shown.join('')).toContain('\nWrite:  webloom plan --urls <N>\n')
})

/** With those of groups. */
function shownIn(command: Program): Program[] {
  const inner = command.createHelp().visibleCommands(command)
  return [command, ...inner.filter((one) => one.name() !== 'help').flatMap(shownIn)]
}

function pathOf(command: Program): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}

function helpOf(command: Program): string {
  const shown: string[] = []
  command.configureOutput({ writeOut: (text) => shown.push(text) }).outputHelp()
  return shown.join('')
}

function examplesIn(help: string): string[] {
  const [, below = ''] = help.split('\nExamples:\n')
  return below.split('\n').flatMap((line) => (/^ {2}\S/.test(line) ? [line.trim()] : []))
}

function settingsIn(args: readonly string[]): Settings {
  const given = args.flatMap((word, n) => {
    if (args[n - 1] === '-s') return [word.split('=', 2)]
    return args[n - 1] === '-L' ? [['LOG_LEVEL', word]] : []
  })
  return Settings.fromLayers({ command: Object.fromEntries(given) as Record<string, string> })
}
