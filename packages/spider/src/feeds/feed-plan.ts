/** One entry of FEEDS, after its checks. */

import { didYouMean, type Settings } from '@webloom/core'
import {
  compressionNamed,
  extensionsOf,
  type FeedFormatName,
  FORMATS_SHOWN,
  formatNamed,
  notAFormat,
} from './formats/feed-formats.ts'
import type { FieldNames } from './formats/item-fields.ts'
import type { ItemExporterClass } from './formats/own-format.ts'
import type { CompressionOptions } from './storages/compressed.ts'
import { type FeedTarget, filledUri, shownUri, type UriWords, usesWord } from './storages/feed-uri.ts'

/** A feed as FEEDS asks for it. */
export interface FeedPlan {
  /** The URI as FEEDS has it. */
  readonly written: string
  /** The URI without a password. */
  readonly uri: string
  /** Returns where a batch goes. Without batches there is one, with the number 1. */
  readonly placeOf: (batchId: number) => FeedPlace
  /** A class of FEED_EXPORTERS, or the name of a built-in format. */
  readonly format: FeedFormatName | ItemExporterClass
  readonly compression: CompressionOptions | undefined
  readonly overwrite: boolean
  readonly storeEmpty: boolean
  readonly fields: FieldNames | undefined
  readonly indent: number | null
  /** Items of each batch. 0: all items go to one output. */
  readonly batchItemCount: number
  readonly accepts: ((item: unknown) => boolean) | undefined
}

/** An output with its placeholders filled in. */
export interface FeedPlace {
  readonly uri: string
  readonly target: FeedTarget
}

type TargetOf = (uri: string) => FeedTarget | { readonly problem: string }

/** Notes what is wrong with an entry. */
export type Problem = (text: string) => undefined

type Given = Readonly<Record<string, unknown>>

// Scrapy's options of a feed for which there is nothing here.
const NOT_YET = new Set(['item_export_kwargs'])

const OPTIONS = [
  'format',
  'overwrite',
  'fields',
  'encoding',
  'indent',
  'store_empty',
  'batch_item_count',
  'item_classes',
  'item_filter',
  'uri_params',
  'postprocessing',
  'gz_compresslevel',
  'zstd_compresslevel',
]

/**
 * @param wordsOf returns the values of placeholders in a batch's URI
 * @param targetOf returns where a URI leads whose placeholders are filled in
 * @returns undefined when a problem was noted
 */
export function feedPlan(
  written: string,
  options: unknown,
  settings: Settings,
  wordsOf: (batchId: number, uriParams: unknown) => UriWords,
  targetOf: TargetOf,
  problem: Problem,
): FeedPlan | undefined {
  if (!isDict(options))
    return problem('expected an object of options, such as {"format": "jsonl"}; {} will do')
  // Options have Scrapy's names, or the same in camel case.
  const given: Given = Object.fromEntries(
    Object.entries(options).map(([name, value]) => [snakeCase(name), value]),
  )
  refuseUnknownOptions(given, problem)
  const placed = (batchId: number) => placeIn(written, wordsOf(batchId, given.uri_params), targetOf)
  const first = placed(1)
  if ('problem' in first) problem(first.problem)
  const place = 'problem' in first ? undefined : first
  const packing = packingOf(written, given, settings, place?.target, problem)
  const checked = {
    overwrite: boolOf('overwrite', given, false, problem),
    storeEmpty: boolOf('store_empty', given, settings.getBool('FEED_STORE_EMPTY'), problem),
    fields: fieldsOf(given, settings, problem),
    indent: indentOf(given, settings, problem),
    batchItemCount: batchItemCountOf(written, given, settings, problem),
    accepts: filterOf(given, problem),
  }
  if (!place || !packing) return undefined
  // What was found for one batch holds for all: only the values of their placeholders differ.
  return {
    written,
    uri: shownUri(written),
    placeOf: (batchId) => placed(batchId) as FeedPlace,
    ...packing,
    ...checked,
  }
}

function refuseUnknownOptions(given: Given, problem: Problem): void {
  for (const [name, value] of Object.entries(given)) {
    // Scrapy's documentation writes null and {} for "not used".
    if (NOT_YET.has(name) && value !== null && !(isDict(value) && Object.keys(value).length === 0))
      problem(`the option ${name} is not in this release`)
    if (!NOT_YET.has(name) && !OPTIONS.includes(name))
      problem(
        `unknown option ${JSON.stringify(name)}.${didYouMean(name, OPTIONS)} There are ${OPTIONS.join(', ')}`,
      )
  }
  const { encoding = null } = given
  const isUtf8 = encoding === null || (typeof encoding === 'string' && /^utf-?8$/i.test(encoding))
  if (!isUtf8) problem(`encoding is ${shown(encoding)}; output is UTF-8 in this release`)
}

function placeIn(
  written: string,
  words: UriWords,
  targetOf: TargetOf,
): FeedPlace | { readonly problem: string } {
  const uri = filledUri(written, words)
  if (typeof uri !== 'string') return uri
  const target = targetOf(uri)
  return 'problem' in target ? target : { uri: shownUri(uri), target }
}

/** Returns the output's format and compression: by its options, else by the extensions of its name. */
function packingOf(
  written: string,
  given: Given,
  settings: Settings,
  target: FeedTarget | undefined,
  problem: Problem,
): Pick<FeedPlan, 'format' | 'compression'> | undefined {
  const extensions = extensionsOf(target ? pathOf(target) : '')
  const name = given.format ?? extensions.format
  const format = formatOf(shownUri(written), name, settings, target, problem)
  const compression = compressionOf(given, problem) ?? extensions.compression
  if (compression && target?.kind === 'stdout')
    return problem('standard output is not compressed here; write jsonl to "| gzip"')
  const level = levelOf(compression === 'zstd' ? 'zstd_compresslevel' : 'gz_compresslevel', given, problem)
  return format && { format, compression: compression && { compression, level } }
}

/** Returns the part of the target that has the extensions. */
function pathOf(target: FeedTarget): string {
  switch (target.kind) {
    case 'file':
      return target.path
    case 's3':
      return target.key
    case 'own':
      return /^[^?#]*/.exec(target.uri)![0]
    default:
      return ''
  }
}

function formatOf(
  uri: string,
  name: unknown,
  settings: Settings,
  target: FeedTarget | undefined,
  problem: Problem,
): FeedPlan['format'] | undefined {
  if (typeof name !== 'string') return problem(`format is ${shown(name)}; the formats are ${FORMATS_SHOWN}`)
  // The problem with the scheme has been noted.
  if (name === '')
    return target && problem(`no format is named; write "format": "jsonl" for ${uri}, or ${FORMATS_SHOWN}`)
  const exporters = settings.getDict('FEED_EXPORTERS')
  if (!Object.hasOwn(exporters, name)) return formatNamed(name) ?? problem(notAFormat(name))
  const exporter = exporters[name]
  if (typeof exporter === 'function') return exporter as ItemExporterClass
  return problem(`FEED_EXPORTERS has ${shown(exporter)} for ${name}; expected ./file.ts#Export or a class`)
}

function compressionOf(
  { postprocessing = null }: Given,
  problem: Problem,
): CompressionOptions['compression'] | undefined {
  if (postprocessing === null) return undefined
  const names = Array.isArray(postprocessing) ? postprocessing : [postprocessing]
  if (names.length === 0) return undefined
  const compression =
    names.length === 1 && typeof names[0] === 'string' ? compressionNamed(names[0]) : undefined
  return compression ?? problem(`postprocessing is ${shown(postprocessing)}; expected ["gzip"] or ["zstd"]`)
}

const LEVELS = { gz_compresslevel: [0, 9], zstd_compresslevel: [1, 22] } as const

function levelOf(name: keyof typeof LEVELS, given: Given, problem: Problem): number | undefined {
  const value = given[name] ?? undefined
  const [min, max] = LEVELS[name]
  if (value === undefined || (isWhole(value) && value >= min && value <= max)) return value
  return problem(`${name} is ${shown(value)}; expected a whole number from ${min} to ${max}`)
}

function boolOf(name: string, given: Given, fallback: boolean, problem: Problem): boolean {
  const value = given[name] ?? fallback
  if (typeof value === 'boolean') return value
  problem(`${name} is ${shown(value)}; expected true or false`)
  return fallback
}

function fieldsOf(given: Given, settings: Settings, problem: Problem): FieldNames | undefined {
  const value = given.fields ?? settings.get('FEED_EXPORT_FIELDS') ?? []
  const pairs = Array.isArray(value)
    ? value.map((name) => [name, name])
    : isDict(value)
      ? Object.entries(value)
      : []
  const isRight =
    (Array.isArray(value) || isDict(value)) && pairs.flat().every((name) => typeof name === 'string')
  if (!isRight)
    return problem(`fields is ${shown(value)}; expected a list of names or {"field": "name in the output"}`)
  const fields = new Map<string, string>(pairs as [string, string][])
  const names = [...fields.values()]
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) return problem(`two fields are called ${JSON.stringify(twice)} in the output`)
  return fields.size > 0 ? fields : undefined
}

// The largest indent of JSON.stringify.
const INDENT_MAX = 10

function indentOf(given: Given, settings: Settings, problem: Problem): number | null {
  const value = given.indent === undefined ? settings.get('FEED_EXPORT_INDENT') : given.indent
  if (value === null) return null
  if (isWhole(value) && value >= 0 && value <= INDENT_MAX) return value
  problem(`indent is ${shown(value)}; expected a whole number from 0 to ${INDENT_MAX}, or null`)
  return null
}

function batchItemCountOf(written: string, given: Given, settings: Settings, problem: Problem): number {
  const value = given.batch_item_count ?? settings.getInt('FEED_EXPORT_BATCH_ITEM_COUNT')
  if (!isWhole(value) || value < 0)
    problem(`batch_item_count is ${shown(value)}; expected a whole number of items, or 0 for one output`)
  else if (value > 0 && !usesWord(written, ['batch_id', 'batch_time']))
    problem(`each ${value} items begin a new output, which needs %(batch_id)d or %(batch_time)s in its name`)
  else return value
  return 0
}

function filterOf(given: Given, problem: Problem): FeedPlan['accepts'] {
  const { item_classes: classes = null, item_filter: filter = null } = given
  const isOfClass =
    classes === null ? undefined : classFilter(Array.isArray(classes) ? classes : [classes], problem)
  const accepts = filter === null ? undefined : acceptsOf(filter, problem)
  if (!isOfClass || !accepts) return isOfClass ?? accepts
  return (item) => isOfClass(item) && accepts(item)
}

/** Returns a filter by classes, or by their names where settings are JSON. */
function classFilter(classes: readonly unknown[], problem: Problem): FeedPlan['accepts'] {
  if (!classes.every((one) => typeof one === 'function' || typeof one === 'string'))
    return problem(`item_classes is ${shown(classes)}; expected classes or their names`)
  return (item) =>
    classes.some((one) =>
      typeof one === 'function' ? item instanceof one : (item as object | null)?.constructor?.name === one,
    )
}

/** Returns a filter that is a function, or Scrapy's object with `accepts`. */
function acceptsOf(filter: unknown, problem: Problem): FeedPlan['accepts'] {
  if (isDict(filter) && typeof filter.accepts === 'function')
    return (item) => (filter as { accepts(item: unknown): boolean }).accepts(item)
  if (typeof filter === 'function') return (item) => Boolean(filter(item))
  return problem(`item_filter is ${shown(filter)}; expected a function (item) => boolean`)
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value)
}

function isDict(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value)
}
