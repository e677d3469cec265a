/**
 * Reads a written value as the value of a setting.
 *
 * The environment and `-s` give text only, so every type can be read from text; the same text is accepted from a
 * config file. Booleans follow Scrapy's `getbool`.
 */

import { didYouMean } from '@webloom/url'
import { pythonHint } from './python-hint.ts'
import type { ComponentEntry, SettingRow } from './setting-row.ts'
import { unitHint } from './setting-units.ts'

/** The value, or what was expected instead. */
export type Reading = { readonly value: unknown } | { readonly expected: string }

type NumberRow = Extract<SettingRow, { min?: number; type: 'int' | 'float' }>
type ListRow = Extract<SettingRow, { type: 'list' }>
type NamedRow = Extract<SettingRow, { type: 'enum' | 'component' }>

/** Returns `raw` as a value of `row`. */
export function readValue(row: SettingRow, raw: unknown): Reading {
  if (row.nullable && isNoValue(raw)) return { value: null }
  const reading = readTyped(row, raw)
  if (!('expected' in reading)) return reading
  return { expected: `${reading.expected}${row.nullable ? ', or null' : ''}${hintOf(row, raw)}` }
}

/** A number with a unit is told as the number that was meant. */
function hintOf(row: SettingRow, raw: unknown): string {
  if (row.type !== 'int' && row.type !== 'float') return ''
  return unitHint(row.unit, raw, (number) => 'value' in readNumber(row, number))
}

// Text has no null of its own; `-s LOG_FILE=` and Python's None both mean null.
function isNoValue(raw: unknown): boolean {
  return raw === null || raw === '' || raw === 'null' || raw === 'None'
}

function readTyped(row: SettingRow, raw: unknown): Reading {
  switch (row.type) {
    case 'bool':
      return readBool(raw)
    case 'int':
    case 'float':
      return readNumber(row, raw)
    case 'string':
      return typeof raw === 'string' ? { value: raw } : { expected: 'text' }
    case 'enum':
      return readEnum(row, raw)
    case 'list':
      return readList(row, raw)
    case 'dict':
      return readDict(raw)
    case 'list-or-dict':
      return readListOrDict(raw)
    case 'component':
      return readComponent(row, raw)
    case 'components':
      return readComponents(raw)
  }
}

const BOOLEANS: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [true, true],
  [false, false],
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
])

function readBool(raw: unknown): Reading {
  const known = BOOLEANS.get(raw)
  if (known !== undefined) return { value: known }
  const number = numberOf(raw)
  return Number.isInteger(number) ? { value: number !== 0 } : { expected: 'true or false (1 and 0 will do)' }
}

function readNumber(row: NumberRow, raw: unknown): Reading {
  const number = numberOf(raw)
  const fits = row.type === 'int' ? Number.isSafeInteger(number) : Number.isFinite(number)
  return fits && isWithin(row, number) ? { value: number } : { expected: `${kindOf(row)}${rangeOf(row)}` }
}

function kindOf(row: NumberRow): string {
  const kind = row.type === 'int' ? 'a whole number' : 'a number'
  // Others are seconds, or counts: of hours many think as 24h, or 1d.
  return row.unit === 'hours' ? `${kind} of hours` : kind
}

function isWithin({ min, max }: { min?: number; max?: number }, number: number): boolean {
  return number >= (min ?? -Infinity) && number <= (max ?? Infinity)
}

function rangeOf({ min, max }: { min?: number; max?: number }): string {
  if (min === undefined && max === undefined) return ''
  if (max === undefined) return ` ≥ ${min}`
  return min === undefined ? ` ≤ ${max}` : ` from ${min} to ${max}`
}

const NUMBER_TEXT = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i

/** Returns NaN for a text that is not a number. `1e10` and `1_000_000` are allowed, as large numbers are easy to mistype. */
function numberOf(raw: unknown): number {
  if (typeof raw === 'number') return raw
  if (typeof raw !== 'string') return Number.NaN
  const text = raw.trim().replaceAll(/(?<=\d)_(?=\d)/g, '')
  return NUMBER_TEXT.test(text) ? Number(text) : Number.NaN
}

function readEnum(row: NamedRow, raw: unknown): Reading {
  const choices = row.choices ?? []
  const found = typeof raw === 'string' ? namedValue(row, raw.trim()) : undefined
  return found === undefined ? { expected: `one of ${choices.join(', ')}` } : { value: found }
}

function namedValue({ choices = [], synonyms = {} }: NamedRow, text: string): string | undefined {
  const candidates = [text, text.toLowerCase(), text.toUpperCase()]
  for (const candidate of candidates) {
    const name = Object.hasOwn(synonyms, candidate) ? synonyms[candidate] : candidate
    if (name !== undefined && choices.includes(name)) return name
  }
  return undefined
}

function readList(row: ListRow, raw: unknown): Reading {
  const entryKind = row.of === 'int' ? `whole numbers${rangeOf(row)}` : 'texts'
  const expected = `a list of ${entryKind}: an array, as JSON, or separated by commas`
  const list = listOf(raw)
  if (!Array.isArray(list)) return { expected: `${expected}${list ?? ''}` }
  if (row.of !== 'int')
    return list.every((entry) => typeof entry === 'string') ? { value: list } : { expected }
  const numbers = list.map(numberOf)
  const fits = numbers.every((number) => Number.isSafeInteger(number) && isWithin(row, number))
  return fits ? { value: numbers } : { expected }
}

/** Returns the list, or why the text is none (`undefined` when it is not text either). */
function listOf(raw: unknown): readonly unknown[] | string | undefined {
  if (Array.isArray(raw)) return raw
  if (typeof raw !== 'string') return undefined
  const text = raw.trim()
  if (!text.startsWith('[')) return text === '' ? [] : text.split(',').map((entry) => entry.trim())
  const parsed = parsedJson(text)
  return Array.isArray(parsed.json) ? parsed.json : parsed.fault
}

const DICT_EXPECTED = 'an object, or one as JSON, such as {"name": "value"}'

function readDict(raw: unknown): Reading {
  if (isPlainObject(raw)) return { value: raw }
  if (typeof raw !== 'string') return { expected: DICT_EXPECTED }
  if (raw.trim() === '') return { value: {} }
  const parsed = parsedJson(raw)
  return isPlainObject(parsed.json) ? { value: parsed.json } : { expected: `${DICT_EXPECTED}${parsed.fault}` }
}

const TEXT_LIST: ListRow = { name: '', type: 'list', default: [] }

function readListOrDict(raw: unknown): Reading {
  const isDict = isPlainObject(raw) || (typeof raw === 'string' && raw.trim().startsWith('{'))
  return isDict ? readDict(raw) : readList(TEXT_LIST, raw)
}

function readComponent(row: NamedRow, raw: unknown): Reading {
  if (isComponent(raw) && typeof raw !== 'string') return { value: raw }
  const known = row.choices ? `${row.choices.join(', ')}, ` : ''
  const kind = row.isFunction ? 'function' : 'class or function'
  const expected = `${known}a ${kind}, or ./file.ts#Export`
  if (typeof raw !== 'string' || raw.trim() === '') return { expected }
  const text = raw.trim()
  const name = row.synonyms && Object.hasOwn(row.synonyms, text) ? row.synonyms[text]! : text
  // Without choices the code that makes the component knows the names, and the table does not.
  const isKnown = row.choices === undefined || row.choices.includes(name) || name.includes('#')
  return isKnown ? { value: name } : { expected: `${expected}${componentHint(name, row.choices ?? [])}` }
}

function componentHint(name: string, choices: readonly string[]): string {
  if (/\.[cm]?[jt]s$/.test(name))
    return `; say which export of the file is meant: ${name}#default, or ${name}#Name`
  const python = pythonHint(name)
  if (python !== '') return python
  const meant = didYouMean(name, choices)
  return meant && `.${meant}`
}

const COMPONENTS_EXPECTED =
  'pairs of component and order, such as [["./mine.ts#Mine", 300]], where null instead of the order disables it'

function readComponents(raw: unknown): Reading {
  if (raw === '') return { value: [] }
  const parsed = typeof raw === 'string' ? parsedJson(raw) : { json: raw, fault: '' }
  // Scrapy's form, {"./mine.ts#Mine": 300}, means the same for components that have a name.
  const pairs = isPlainObject(parsed.json) ? Object.entries(parsed.json) : parsed.json
  const isRight = Array.isArray(pairs) && pairs.every(isComponentEntry)
  return isRight ? { value: pairs } : { expected: `${COMPONENTS_EXPECTED}${parsed.fault}` }
}

function isComponentEntry(pair: unknown): pair is ComponentEntry {
  if (!Array.isArray(pair) || pair.length !== 2) return false
  return isComponent(pair[0]) && (pair[1] === null || Number.isFinite(pair[1]))
}

function isComponent(raw: unknown): boolean {
  if (typeof raw === 'string') return raw.trim() !== ''
  return typeof raw === 'function' || (typeof raw === 'object' && raw !== null && !Array.isArray(raw))
}

/** `fault` is empty, or the last clause of the sentence about what was expected. */
function parsedJson(text: string): { json?: unknown; fault: string } {
  try {
    return { json: JSON.parse(text), fault: '' }
  } catch (error) {
    // Without the text that V8 adds: it may be a password, which is hidden elsewhere in the message.
    const reason = (error as Error).message.replace(/, (?:\.\.\.)?".*$/s, '')
    return { fault: ` – this is not JSON: ${reason}` }
  }
}

export function isPlainObject(raw: unknown): raw is { [key: string]: unknown } {
  if (typeof raw !== 'object' || raw === null) return false
  const prototype: unknown = Object.getPrototypeOf(raw)
  return prototype === Object.prototype || prototype === null
}

/**
 * Returns a copy whose arrays and plain objects cannot be changed, so that settings stay as they were validated. Everything
 * else (classes, functions, instances) is passed on as it is.
 */
export function frozenCopy(value: unknown, copies = new Map<unknown, unknown>()): unknown {
  const isList = Array.isArray(value)
  if (!isList && !isPlainObject(value)) return value
  // A value that holds itself is copied once; its copy holds itself again.
  if (copies.has(value)) return copies.get(value)
  const copy: object = isList ? [] : {}
  copies.set(value, copy)
  for (const [key, entry] of Object.entries(value)) {
    Object.defineProperty(copy, key, {
      value: frozenCopy(entry, copies),
      enumerable: true,
      configurable: true,
    })
  }
  return Object.freeze(copy)
}
