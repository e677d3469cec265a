/**
 * The settings of one crawl.
 *
 * Values come in layers. For each name the last layer that has it wins, whole: lists and objects are not merged. The table
 * types what is read. `validate()` finds all wrong values at once, before a crawl starts. Reading a wrong value throws as
 * well, so that a crawl without validation cannot run on a wrong number.
 */

import { SettingsError } from '../errors/errors.ts'
import { environmentVariable } from './environment-settings.ts'
import type { Setting, SettingDict, SettingOrigin } from './setting-row.ts'
import { shownValue } from './setting-shown.ts'
import { suggestedNames } from './setting-suggestions.ts'
import { frozenCopy, readValue } from './setting-value.ts'
import type { SettingsInput } from './settings-input.ts'
import {
  type CustomSettingName,
  isSettingName,
  type SettingName,
  type SettingNameOf,
  type SettingValue,
  settingRow,
} from './settings-table.ts'
import { slotWarning } from './slot-named.ts'

/** Where a value comes from. Later layers win. */
export type SettingsLayer = 'default' | 'config' | 'spider' | 'environment' | 'command'

/** Names and values as written: of any type, and possibly wrong. */
export type WrittenSettings = { readonly [name: string]: unknown }

/** The layers above the defaults. */
export type SettingsLayers = {
  readonly [Layer in Exclude<SettingsLayer, 'default'>]?: WrittenSettings | undefined
}

/** A layer's name in messages, after "from". */
export type SettingsPlaces = { readonly [Layer in Exclude<SettingsLayer, 'default'>]?: string }

/** The value of one setting, and the values of its layers. */
export interface SettingExplanation {
  /** The name as the caller gave it. */
  readonly name: string
  /** The value that `get` returns; of a wrong value, what it would be read as. */
  readonly value: unknown
  /** The layer that won. Absent for a name with CUSTOM_ that was never set. */
  readonly source: SettingsLayer | undefined
  /** From the default to the winner. `place` is the layer's name in messages. */
  readonly layers: readonly {
    readonly layer: SettingsLayer
    readonly place: string
    readonly value: unknown
  }[]
}

const LAYERS = ['config', 'spider', 'environment', 'command'] as const

const PLACES = {
  config: 'the config file',
  spider: "the spider's customSettings",
  environment: 'the environment',
  command: '-s on the command line',
} as const satisfies SettingsPlaces

/** A name that one layer sets. */
interface Entry {
  readonly name: string
  readonly layer: SettingsLayer
  readonly place: string
  readonly written: unknown
  readonly value: unknown
  /** Why the value cannot be used. */
  readonly problem?: string
}

/** Settings whose value is a number. */
export type NumberSettingName = SettingNameOf<'int'> | SettingNameOf<'float'>

/**
 * The settings of one crawl, from all their places: default < config file < spider < environment < command line.
 * They never change; `with` makes new ones.
 */
export class Settings {
  readonly #layers: SettingsLayers
  readonly #places: SettingsPlaces
  /** Every set name with its entries, the winner last. */
  readonly #entries: ReadonlyMap<string, readonly Entry[]>

  /** Settings given in code. They count as the command layer: nothing overrides them. */
  constructor(
    values: SettingsInput = {},
    below: Omit<SettingsLayers, 'command'> = {},
    places: SettingsPlaces = {},
  ) {
    this.#layers = { ...below, command: values }
    this.#places = { ...PLACES, command: 'the settings given in code', ...places }
    this.#entries = readLayers(this.#layers, this.#places)
    Object.freeze(this)
  }

  /** @param places the layers' names in messages, for instance the path of the config file */
  static fromLayers({ command, ...below }: SettingsLayers, places: SettingsPlaces = {}): Settings {
    // The constructor's type is for authors; these values come from outside, and validation checks them.
    return new Settings(command as SettingsInput, below, { command: PLACES.command, ...places })
  }

  /** Returns settings that also have these values in that layer; its other values stay. */
  with(layer: Exclude<SettingsLayer, 'default'>, values: WrittenSettings): Settings {
    const changed = { ...this.#layers, [layer]: { ...this.#layers[layer], ...values } }
    return Settings.fromLayers(changed, this.#places)
  }

  /** Returns the value of a setting; for a name with CUSTOM_ what was written, `undefined` when it was never set. */
  get<Name extends SettingName>(name: Name): SettingValue<Name>
  get(name: CustomSettingName): unknown
  get(name: string): unknown {
    const entry = this.#winner(name)
    if (entry?.problem !== undefined) throw new SettingsError([entry.problem])
    return entry ? entry.value : tableDefault(name)
  }

  /**
   * Returns a setting of type `bool`. Throws `TypeError` for a setting of another type, and for one that may be null.
   *
   * A name with CUSTOM_ is read as that type. Throws `SettingsError` when its value is of another one, and when it was
   * never set and there is no `fallback`.
   */
  getBool(name: SettingNameOf<'bool'> | CustomSettingName, fallback?: boolean): boolean {
    return this.#typed(name, ['bool'], fallback) as boolean
  }

  /** Reads as `getBool` does, for a whole number. */
  getInt(name: SettingNameOf<'int'> | CustomSettingName, fallback?: number): number {
    return this.#typed(name, ['int'], fallback) as number
  }

  /** Reads as `getBool` does, for a number. */
  getFloat(name: NumberSettingName | CustomSettingName, fallback?: number): number {
    return this.#typed(name, ['float', 'int'], fallback) as number
  }

  /** Reads as `getFloat` does, for a time that is set in seconds. Returns milliseconds. */
  getMs(name: NumberSettingName | CustomSettingName): number {
    return this.getFloat(name) * 1000
  }

  /** Reads as `getBool` does, for a text, or one of several words. */
  getString(
    name: SettingNameOf<'string'> | SettingNameOf<'enum'> | CustomSettingName,
    fallback?: string,
  ): string {
    return this.#typed(name, ['string', 'enum'], fallback) as string
  }

  /** Reads as `getBool` does, for a list of texts. */
  getList<Name extends SettingNameOf<'list'>>(name: Name): SettingValue<Name>
  getList(name: CustomSettingName, fallback?: readonly string[]): readonly string[]
  getList(name: SettingNameOf<'list'> | CustomSettingName, fallback?: readonly string[]): unknown {
    return this.#typed(name, ['list'], fallback)
  }

  /** Reads as `getBool` does, for values by name. */
  getDict(name: SettingNameOf<'dict'> | CustomSettingName, fallback?: SettingDict): SettingDict {
    return this.#typed(name, ['dict'], fallback) as SettingDict
  }

  /** Returns whether the setting was set, even if to its default. */
  isSet(name: SettingName | CustomSettingName): boolean {
    return this.#winner(name) !== undefined
  }

  /** Returns the layer that the value comes from; `undefined` for a name with CUSTOM_ that was never set. */
  source(name: SettingName | CustomSettingName): SettingsLayer | undefined {
    return this.#winner(name)?.layer ?? (isCustomName(name) ? undefined : 'default')
  }

  /** Returns what was written before it was read: an empty text where `get` returns null. Undefined when it was never set. */
  written(name: SettingName): unknown {
    return this.#winner(name)?.written
  }

  /** Returns the value and what each layer says, even when it is wrong. */
  explain(name: SettingName | CustomSettingName): SettingExplanation {
    const winner = this.#winner(name)
    const above = this.#entries.get(targetName(name)) ?? []
    const layers = above.map(({ layer, place, value }) => ({ layer, place, value }))
    if (isCustomName(name)) return { name, value: winner?.value, source: winner?.layer, layers }
    const fallback = tableDefault(name)
    return {
      name,
      value: winner ? winner.value : fallback,
      source: winner?.layer ?? 'default',
      layers: [{ layer: 'default', place: 'the default', value: fallback }, ...layers],
    }
  }

  /** Returns the names that were set, sorted. */
  namesSet(): string[] {
    return [...this.#entries.keys()].sort()
  }

  /** Returns everything that is wrong, in every layer: a wrong value that is overridden today may count tomorrow. */
  problems(): string[] {
    return [...this.#entries.values()].flat().flatMap(({ problem }) => problem ?? [])
  }

  /** Returns warnings about settings without effect. */
  warnings(): string[] {
    const unused = [...this.#entries.values()].flatMap((entries) => unusedWarning(entries.at(-1)!) ?? [])
    const slots = slotWarning(this.#slotNames())
    return slots === undefined ? unused : [...unused, slots]
  }

  #slotNames(): string[] {
    try {
      return Object.keys(this.getDict('DOWNLOAD_SLOTS'))
    } catch (error) {
      // A problem is told as one.
      if (error instanceof SettingsError) return []
      throw error
    }
  }

  /** Throws a `SettingsError` with all problems, if there is one. */
  validate(): void {
    const problems = this.problems()
    if (problems.length > 0) throw new SettingsError(problems)
  }

  #winner(name: string): Entry | undefined {
    // Throws first: a name that is in no table must not look like one that was never set.
    const target = targetName(name)
    return this.#entries.get(target)?.at(-1)
  }

  #typed(
    name: SettingName | CustomSettingName,
    types: readonly Setting['type'][],
    fallback: unknown,
  ): unknown {
    if (isCustomName(name)) return this.#custom(name, types[0]!, fallback)
    const row = settingRow(targetName(name))!
    if (!types.includes(row.type))
      throw new TypeError(`${name} is of type ${row.type}; read it with ${getterOf(row)}`)
    const value = this.get(name)
    if (value === null) throw new TypeError(`${name} may be null; read it with get()`)
    return value
  }

  /** A setting of the user's own has no row; the getter says its type. */
  #custom(name: CustomSettingName, type: Setting['type'], fallback: unknown): unknown {
    const entry = this.#winner(name)
    if (!entry && fallback !== undefined) return fallback
    if (!entry) throw new SettingsError([`${name} is not set, and the code that reads it has no fallback`])
    const reading = readValue(customRow(name, type), entry.value)
    if ('expected' in reading) throw new SettingsError([wrongValue(entry, reading.expected)])
    return reading.value
  }
}

/** Reads all layers, lowest first, and collects their entries by name. */
function readLayers(layers: SettingsLayers, places: SettingsPlaces): Map<string, Entry[]> {
  const entries = new Map<string, Entry[]>()
  for (const layer of LAYERS) {
    for (const [name, written] of aliasesFirst(layers[layer] ?? {})) {
      const entry = readEntry({ name, layer, place: placeOf(layer, name, places), written })
      const target = settingRow(name)?.aliasOf ?? name
      entries.set(target, [...(entries.get(target) ?? []), entry])
    }
  }
  return entries
}

// Where one layer has both names of a setting, the main name comes last and wins.
function aliasesFirst(values: WrittenSettings): [string, unknown][] {
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  const isAlias = ([name]: [string, unknown]) => settingRow(name)?.aliasOf !== undefined
  return [...given.filter(isAlias), ...given.filter((entry) => !isAlias(entry))]
}

function placeOf(layer: (typeof LAYERS)[number], name: string, places: SettingsPlaces): string {
  const place = places[layer] ?? PLACES[layer]
  return layer === 'environment' ? `${environmentVariable(name)} in ${place}` : place
}

type WrittenEntry = Omit<Entry, 'value' | 'problem'>

function readEntry(entry: WrittenEntry): Entry {
  const row = settingRow(entry.name)
  const value = frozenCopy(entry.written)
  if (isCustomName(entry.name)) return { ...entry, value }
  if (!row) return { ...entry, value, problem: unknownName(entry.name, entry.place) }
  const reading = readValue(row, entry.written)
  if ('value' in reading) return { ...entry, value: frozenCopy(reading.value) }
  // Nothing reads an unused setting, so a wrong value does no harm: the warning is enough.
  return row.use === 'unused'
    ? { ...entry, value }
    : { ...entry, value, problem: wrongValue(entry, reading.expected) }
}

function isCustomName(name: string): name is CustomSettingName {
  return name.startsWith('CUSTOM_')
}

/** Returns the name under which values are kept. Throws for a name that is in no table. */
function targetName(name: string): string {
  if (isCustomName(name)) return name
  if (!isSettingName(name)) throw new SettingsError([unknownName(name, 'the code that reads it')])
  return settingRow(name)!.aliasOf ?? name
}

const DEFAULTS = new Map<string, unknown>()

/** Returns the table's default, frozen at its first use. */
function tableDefault(name: string): unknown {
  const target = settingRow(name)?.aliasOf ?? name
  if (!DEFAULTS.has(target)) DEFAULTS.set(target, frozenCopy(settingRow(target)?.default))
  return DEFAULTS.get(target)
}

function customRow(name: string, type: Setting['type']): Setting {
  return { name, type, default: null, since: 'webloom', use: 'used', summary: '' } as Setting
}

const GETTERS: { readonly [Type in Setting['type']]?: string } = {
  bool: 'getBool()',
  int: 'getInt()',
  float: 'getFloat()',
  string: 'getString()',
  enum: 'getString()',
  list: 'getList()',
  dict: 'getDict()',
}

function getterOf({ type, nullable }: Setting): string {
  return nullable ? 'get()' : (GETTERS[type] ?? 'get()')
}

function unknownName(name: string, place: string): string {
  const suggested = suggestedNames(name)
  const meant = suggested.length > 0 ? ` Did you mean ${inWords(suggested)}?` : ''
  const own = 'For a setting of your own use a name that begins with CUSTOM_'
  return `${name} (from ${place}) is not a setting.${meant} ${own}`
}

function inWords(names: readonly string[]): string {
  return names.length === 1 ? names[0]! : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
}

const SHOWN_LENGTH_MAX = 80

function wrongValue({ name, place, written }: WrittenEntry, expected: string): string {
  return `${name} is ${shownValue(name, written, SHOWN_LENGTH_MAX)} (from ${place}); expected ${expected}`
}

const ORIGIN_NAMES: { readonly [Origin in SettingOrigin]: string } = {
  scrapy: 'known from Scrapy but not used',
  'scrapy-redis': 'known from scrapy-redis but not used',
  'scrapy-redis-bloomfilter': 'known from the Bloom forks of scrapy-redis but not used',
  webloom: 'not used yet',
}

function unusedWarning({ name, place }: Entry): string | undefined {
  const row = settingRow(name)
  if (row?.use !== 'unused') return undefined
  return `${name} (from ${place}) is ${ORIGIN_NAMES[row.since]}: ${row.summary}`
}
