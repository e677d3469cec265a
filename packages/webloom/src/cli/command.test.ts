import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { commandLine } from '../cli.ts'
import { type CliCommand, command, flag, type OptionsFor, value, values } from './command.ts'

interface CountFlags {
  readonly set?: readonly string[]
  readonly dryRun?: boolean
  readonly to?: string
  readonly start?: boolean
}

const OPTIONS: OptionsFor<CountFlags> = {
  set: values('-s, --set <NAME=VALUE>', 'a setting'),
  dryRun: flag('--dry-run', 'do nothing'),
  to: value('--to <N>', 'count to there', '10'),
  start: flag('--no-start', 'not from the start'),
}

async function run(one: CliCommand, ...args: string[]): Promise<number[]> {
  const codes: number[] = []
  const program = new Command('webloom').exitOverride()
  one(program, { exitsWith: (code) => codes.push(code) })
  await program.parseAsync(args, { from: 'user' })
  return codes
}

describe('a command', () => {
  const seen: unknown[] = []
  const count = command<CountFlags, [name: string, more: string[]]>(
    'count <name> [more...]',
    'count',
    OPTIONS,
    (flags, args) => {
      seen.push([{ ...flags }, args])
      return flags.dryRun ? 3 : undefined
    },
  )

  test('is given its flags by their names, an argument for each in its form, and says its exit code', async () => {
    expect(
      await run(count, 'count', 'a', 'b', 'c', '-s', 'X=1', '-s', 'Y=2', '--dry-run', '--no-start'),
    ).toEqual([3])
    expect(await run(count, 'count', 'a')).toEqual([])
    expect(seen).toEqual([
      [{ set: ['X=1', 'Y=2'], dryRun: true, to: '10', start: false }, ['a', ['b', 'c']]],
      [{ to: '10', start: true }, ['a', []]],
    ])
  })

  test('that is given too much says which words these are, and what to type', async () => {
    const told = async (...words: string[]) => {
      const lines: string[] = []
      const program = commandLine(() => {})
      for (const one of program.commands.flatMap((each) => [each, ...each.commands]))
        one.configureOutput({ writeErr: (text) => lines.push(text) })
      await expect(program.parseAsync(words, { from: 'user' })).rejects.toThrow('too many arguments')
      return lines.join('')
    }
    expect(await told('crawl', 'quotes', '-s', 'LOG_LEVEL=INFO', 'my books')).toMatch(
      /^error: too much: 'my books'; webloom crawl takes <spider>\n\nWrite: {2}webloom crawl <spider>\n/,
    )
    expect(await told('schedule', 'list', 'quotes')).toMatch(
      /^error: too much: quotes; webloom schedule list takes no arguments\n/,
    )
    expect(await told('schedule', 'quotes', '0', '6', 'a', 'b', 'c', 'd', 'e')).toMatch(
      /^error: too much: 6 a b c d …; webloom schedule set takes <spider> <cron>\nQuote the expression.*: {2}webloom schedule quotes '0 6 \* \* \*'\n/,
    )
  })

  test('that lacks an argument shows its form, and where the spiders’ names are', async () => {
    const told: string[] = []
    const program = commandLine(() => {})
    for (const one of program.commands) one.configureOutput({ writeErr: (text) => told.push(text) })
    await expect(program.parseAsync(['crawl'], { from: 'user' })).rejects.toThrow('missing required argument')
    expect(told.join('')).toContain(
      'Write:  webloom crawl <spider>\n(webloom crawl --help shows its options, webloom list the spiders of this project)',
    )
  })

  test('of a group that is misspelt is told of, and not taken for an argument alone', async () => {
    const told = async (...words: string[]) => {
      const texts: string[] = []
      const program = commandLine(() => {})
      const group = program.commands.find((one) => one.name() === 'schedule')!
      for (const one of group.commands) one.configureOutput({ writeErr: (text) => texts.push(text) })
      await expect(program.parseAsync(words, { from: 'user' })).rejects.toThrow('missing required argument')
      return texts.join('')
    }
    expect(await told('schedule', 'lst')).toContain('. Did you mean list')
    expect(await told('schedule', 'quotes')).not.toContain('Did you mean')
  })

  test('whose flag has another name than its option is refused as it is added', async () => {
    const options = { ...OPTIONS, dryRun: flag('--dry', 'do nothing') }
    const wrong = command<CountFlags, []>('count', 'count', options, () => {})
    await expect(run(wrong, 'count')).rejects.toThrow('the option --dry is the flag dry, not dryRun')
  })

  test('whose options leave a flag out, or are of another kind, does not compile', () => {
    // @ts-expect-error one flag has no option
    const { set: _set, ...missing }: OptionsFor<CountFlags> = { ...OPTIONS, set: undefined }
    // @ts-expect-error a flag that is given no value is not text
    const wrong: OptionsFor<CountFlags> = { ...OPTIONS, to: flag('--to', 'count to there') }
    expect([missing, wrong]).toHaveLength(2)
  })
})

test('every command of the command line is added, and has help for itself and for each option', () => {
  const withoutHelp = (one: Command): string[] => [
    ...(one.description() === '' ? [one.name()] : []),
    ...one.options
      .filter(({ description }) => description === '')
      .map(({ flags }) => `${one.name()} ${flags}`),
    ...one.commands.flatMap(withoutHelp),
  ]
  expect(withoutHelp(commandLine(() => {}))).toEqual([])
})
