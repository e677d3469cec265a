/**
 * What a command of the command line is: its form, its help, its options, and what it runs. Each is an entry of the list in
 * `cli.ts`. What it runs is loaded when it is called for, as reading all commands takes longer than most of them.
 */

import { type Awaitable, didYouMean, type ProtocolTimes } from '@webloom/core'
import { type Command, Option } from 'commander'
import { commandName, shellQuoted, typedLine } from '../terminal/resume-line.ts'

/** What the process that runs a command line gives to its commands. */
export interface CommandLineParts {
  /** Called with what a command has ended with, when it tells. */
  readonly exitsWith: (code: number) => void
  /** Of the protocol, for tests that scale them. */
  readonly times?: ProtocolTimes
}

/** Adds itself to the program, or to the command whose part it is. */
export type CliCommand = (parent: Command, parts: CommandLineParts) => void

/** A line as a shell takes it, and what it does. */
export type Example = readonly [line: string, does: string]

/** `--json`, or `--no-start`, whose flag is false when it is given. */
export interface FlagOption {
  readonly kind: 'flag'
  readonly make: () => Option
}

/** `--file <F>`. */
export interface ValueOption {
  readonly kind: 'value'
  readonly make: () => Option
}

/** `-s <NAME=VALUE>`, which may be given several times. */
export interface ListOption {
  readonly kind: 'list'
  readonly make: () => Option
}

type OptionFor<Value> = [Value] extends [boolean]
  ? FlagOption
  : [Value] extends [string]
    ? ValueOption
    : ListOption

/** The option of each flag, by the flag's name, in the order of the help. None may be missing, and none be of another kind. */
export type OptionsFor<Flags> = { readonly [Name in keyof Flags]-?: OptionFor<Required<Flags>[Name]> }

export function flag(form: string, help: string): FlagOption {
  return { kind: 'flag', make: () => new Option(form, help) }
}

export function value(form: string, help: string, byDefault?: string): ValueOption {
  return {
    kind: 'value',
    make: () =>
      byDefault === undefined ? new Option(form, help) : new Option(form, help).default(byDefault),
  }
}

/** A value that must be given. */
export function requiredValue(form: string, help: string): ValueOption {
  return { kind: 'value', make: () => new Option(form, help).makeOptionMandatory() }
}

/** Given several times with one value each; with `...>` in its form several values at once. */
export function values(form: string, help: string): ListOption {
  const append = (one: string, before: string[] | undefined) => [...(before ?? []), one]
  return {
    kind: 'list',
    make: () => (form.includes('...') ? new Option(form, help) : new Option(form, help).argParser(append)),
  }
}

/** The options of commands that name a spider. */
export const SPIDER_OPTIONS = {
  set: values('-s, --set <NAME=VALUE>', 'a setting; overrides every other place'),
  argument: values('-a, --argument <name=value>', 'an argument of the spider'),
}

export interface CommandExtras {
  readonly isDefault?: boolean
  readonly excess?: (args: readonly string[]) => string
}

/**
 * @param form name and arguments, as in its help: `seed <spider> [messages...]`
 * @param run gets the flags, then an argument for each in the form; what it returns is the exit code
 * @param examples the end of its help: two to four
 * @param isDefault of a group: it is what the group's word alone stands for
 * @param excess a sentence for whoever gave too many arguments
 */
export function command<Flags extends object, Args extends readonly unknown[]>(
  form: string,
  help: string,
  options: OptionsFor<Flags>,
  run: (flags: Flags, args: Args, parts: CommandLineParts) => Awaitable<number | undefined | void>,
  examples: readonly Example[] = [],
  { isDefault = false, excess }: CommandExtras = {},
): CliCommand {
  return (parent, parts) => {
    const made = parent.command(form, { isDefault }).description(help)
    for (const [name, { make }] of Object.entries<FlagOption | ValueOption | ListOption>(options)) {
      const option = make()
      if (option.attributeName() !== name)
        throw new Error(
          `${form}: the option ${option.flags} is the flag ${option.attributeName()}, not ${name}`,
        )
      made.addOption(option)
    }
    made.showHelpAfterError(whatToWrite(made, form))
    const { outputError } = made.configureOutput()
    made.configureOutput({
      outputError: (text, write) =>
        outputError?.(
          tooMuch(made, text, excess) ?? `${text.trimEnd()}${isDefault ? misspelt(made) : ''}\n`,
          write,
        ),
    })
    made.addHelpText('after', helpExamples(examples))
    EXAMPLES.set(made, examples)
    made.action(async (...called: unknown[]) => {
      const code = await run(called.at(-2) as Flags, called.slice(0, -2) as unknown as Args, parts)
      if (typeof code === 'number') parts.exitsWith(code)
    })
  }
}

/** Commander keeps what it prints behind the help, but gives it back to nobody. */
const EXAMPLES = new WeakMap<Command, readonly Example[]>()

/** Returns what the help of a command ends with; none of one that was not made here. */
export function examplesOf(command: Command): readonly Example[] {
  return EXAMPLES.get(command) ?? []
}

/** What `--help` ends with. */
function helpExamples(examples: readonly Example[]): string {
  if (examples.length === 0) return ''
  return `\nExamples:\n${examples.map(([line, does]) => `  ${typedLine(line)}\n      ${does}`).join('\n')}`
}

/** A misspelt command of a group is taken for the first argument of its default one: then its name stands alone. */
function misspelt({ args, parent }: Command): string {
  const others = parent!.commands.map((one) => one.name())
  const hint = args.length === 1 ? didYouMean(args[0]!, others) : ''
  return hint === '' ? '' : `.${hint}`
}

/** A shell makes hundreds of names of a `*`. */
const TOO_MUCH_SHOWN = 5

/** Returns which words are too many: commander says how many there are. Undefined for any other error. */
function tooMuch(made: Command, text: string, excess: CommandExtras['excess']): string | undefined {
  if (!text.startsWith('error: too many arguments')) return undefined
  const { args, registeredArguments } = made
  const takes = made.usage().replace(/^\[options\] ?/, '') || 'no arguments'
  const extra = args.slice(registeredArguments.length)
  const shown = extra.slice(0, TOO_MUCH_SHOWN).map(shellQuoted).join(' ')
  const more = extra.length > TOO_MUCH_SHOWN ? ' …' : ''
  return `error: too much: ${shown}${more}; ${commandPath(made)} takes ${takes}\n${excess ? `${excess(args)}\n` : ''}`
}

/** As `webloom schedule set`. */
function commandPath(made: Command): string {
  const parent = made.parent!
  return [commandName(), ...(parent.parent ? [parent.name()] : []), made.name()].join(' ')
}

/** Behind what is wrong with a command line: the line as it should be, with all that must be given. */
function whatToWrite(made: Command, form: string): string {
  const webloom = commandName()
  const parent = made.parent!
  const group = parent.parent ? `${parent.name()} ` : ''
  const given = made.options.filter(({ mandatory }) => mandatory).map(({ flags }) => ` ${flags}`)
  const spiders = form.includes('<spider>') ? `, ${webloom} list the spiders of this project` : ''
  return `\nWrite:  ${webloom} ${group}${form}${given.join('')}\n(${webloom} ${group}${made.name()} --help shows its options${spiders})`
}

/** Commands under one word: `webloom dupefilter has`. */
export function group(
  name: string,
  help: string,
  commands: readonly CliCommand[],
  examples: readonly Example[] = [],
): CliCommand {
  return (parent, parts) => {
    const made = parent.command(name).description(help).addHelpText('after', helpExamples(examples))
    EXAMPLES.set(made, examples)
    for (const add of commands) add(made, parts)
  }
}
