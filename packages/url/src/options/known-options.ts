/** Options that authors write by hand: a misspelt one would be ignored without a word, so each is looked at. */

import { WebloomError } from '../errors.ts'
import { didYouMean } from './nearest-names.ts'

/** The names of all options. That none is missing is for the type checker: `satisfies OptionNames<RequestInit>`. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>

/** What is being made of the options, and how a mistake in them is told. */
export interface OptionsPlace {
  /** The function or class that takes the options, e.g. `LinkExtractor`. */
  readonly of: string
  /** Default WL_USAGE. */
  readonly code?: string
  /** Names that mean something elsewhere, each with what to write here. */
  readonly hints?: Readonly<Record<string, string>>
}

/** Throws, with a suggestion, when `given` is not an object of options or holds one that is not known. */
export function checkOptions(
  given: object,
  known: Readonly<Record<string, true | undefined>>,
  place: OptionsPlace,
): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw noOptions(given, known, place)
  for (const name in given) if (known[name] !== true) throw unknownOptions(given, known, place)
}

function noOptions(
  given: unknown,
  known: Readonly<Record<string, true | undefined>>,
  { of, code = 'WL_USAGE' }: OptionsPlace,
): WebloomError {
  return new WebloomError(
    code,
    `the options of ${of} are ${valueShown(given)}; expected an object with some of ${Object.keys(known).join(', ')}`,
  )
}

/** All of them at once, so that they can be put right in one go. */
function unknownOptions(
  given: object,
  known: Readonly<Record<string, true | undefined>>,
  { of, code = 'WL_USAGE', hints = {} }: OptionsPlace,
): WebloomError {
  const names = Object.keys(known)
  const hintOn = (name: string) => (Object.hasOwn(hints, name) ? ` ${hints[name]}` : didYouMean(name, names))
  const unknown: string[] = []
  for (const name in given) if (known[name] !== true) unknown.push(name)
  const told = unknown.map((name) => `${of} has no option ${JSON.stringify(name)}.${hintOn(name)}`)
  const isHelped = unknown.every((name) => hintOn(name) !== '')
  return new WebloomError(code, `${told.join(' ')}${isHelped ? '' : ` There are ${names.join(', ')}`}`)
}

/**
 * Returns how a message shows a value of a wrong kind: `"5" (a string)`, `a list of 3`, `a Map`.
 */
export function valueShown(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return `${JSON.stringify(textCut(value))} (a string)`
  if (typeof value === 'function') return value.name ? `the function ${value.name}` : 'a function'
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value !== 'object') return `${String(value)} (a ${typeof value})`
  const Class: unknown = value.constructor
  return typeof Class === 'function' && Class !== Object ? `a ${Class.name}` : 'an object'
}

const TEXT_SHOWN_MAX = 100

function textCut(text: string): string {
  return text.length > TEXT_SHOWN_MAX ? `${text.slice(0, TEXT_SHOWN_MAX)}…` : text
}
