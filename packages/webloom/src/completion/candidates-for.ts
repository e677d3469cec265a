/** What a word of a command line may become, by the commands and options that the command line itself reads. */

import type { Argument, Command, Option } from 'commander'
import { type Candidates, NONE } from './candidates.ts'
import { placeholderOf, sourceOf } from './placeholders.ts'

/** @param words without the program's own name; the last one is what is being typed */
export function candidatesFor(program: Command, words: readonly string[]): Candidates {
  const typed = words.at(-1) ?? ''
  const { command, awaited, place, given, onlyArguments } = placeOf(program, words.slice(0, -1))
  // Of an option that takes several values, another option may follow as well as a value.
  const isValue = awaited !== undefined && !(awaited.variadic && typed.startsWith('-'))
  if (isValue) return beginningWith(typed, valuesOf(command, awaited, typed))
  const inOption = /^(--[\w-]+=)(.*)$/s.exec(typed)
  if (inOption && !onlyArguments) return inLongOption(command, inOption[1]!, inOption[2]!)
  if (typed.startsWith('-') && !onlyArguments) return beginningWith(typed, optionsOf(command, given))
  const found = beginningWith(typed, argumentsOf(command, place, typed))
  // Where no argument is missing, an option is what is left; behind a command that there is not, nothing.
  const isCommand = command.commands.length === 0
  if (isCommand && typed === '' && found.values.length === 0 && !found.files && !onlyArguments)
    return optionsOf(command, given)
  return found
}

interface Place {
  readonly command: Command
  /** The option whose value is being typed. */
  readonly awaited?: Option
  /** How many arguments the command has been given. */
  readonly place: number
  readonly given: ReadonlySet<Option>
  /** After `--`. */
  readonly onlyArguments: boolean
}

/** Where a line is after these words. */
function placeOf(program: Command, words: readonly string[]): Place {
  let [command, place, onlyArguments] = [program, 0, false]
  let awaited: Option | undefined
  const given = new Set<Option>()
  for (const word of words) {
    const isOption = word.startsWith('-') && word !== '-' && !onlyArguments
    if (awaited && !isOption) {
      if (!awaited.variadic) awaited = undefined
    } else if (word === '--' && !onlyArguments) {
      awaited = undefined
      onlyArguments = true
    } else if (isOption) {
      const name = word.replace(/=.*$/s, '')
      const option = command.options.find(({ long, short }) => name === long || name === short)
      if (option) given.add(option)
      awaited = option && !option.isBoolean() && !word.includes('=') ? option : undefined
    } else {
      const inner = place === 0 ? command.commands.find((one) => one.name() === word) : undefined
      if (inner) command = inner
      // What may stand behind it may stand in its place.
      else if (place > 0 || word !== 'help') place++
    }
  }
  return { command, place, given, onlyArguments, ...(awaited && { awaited }) }
}

function valuesOf(command: Command, option: Option, typed: string): Candidates {
  const placeholder = placeholderOf(option)
  return (placeholder !== undefined && sourceOf(placeholder, command.name())?.(typed)) || NONE
}

function inLongOption(command: Command, head: string, typed: string): Candidates {
  const option = command.options.find(({ long }) => long === head.slice(0, -1))
  if (!option || option.isBoolean()) return NONE
  const { values, files } = beginningWith(typed, valuesOf(command, option, typed))
  return { values: values.map(([value, help]) => [head + value, help]), files }
}

function optionsOf(command: Command, given: ReadonlySet<Option>): Candidates {
  const help = command.createHelp().visibleOptions(command)
  const isList = (option: Option) => option.variadic || option.parseArg !== undefined
  return {
    values: help
      .filter((option) => !given.has(option) || isList(option))
      .map((option) => [option.long ?? option.short!, option.description]),
    files: false,
  }
}

function argumentsOf(command: Command, place: number, typed: string): Candidates {
  if (command.commands.length > 0) return place === 0 ? commandsOf(command) : NONE
  const taken = command.registeredArguments
  const argument: Argument | undefined = taken[place] ?? (taken.at(-1)?.variadic ? taken.at(-1) : undefined)
  return (argument && sourceOf(argument.name(), command.name())?.(typed)) ?? NONE
}

function commandsOf(command: Command): Candidates {
  const commands = command.createHelp().visibleCommands(command)
  return { values: commands.map((one) => [one.name(), one.description()]), files: false }
}

function beginningWith(typed: string, { values, files }: Candidates): Candidates {
  return { values: values.filter(([value]) => value.startsWith(typed)), files }
}
