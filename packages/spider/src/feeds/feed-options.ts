/** From the settings FEEDS and FEED_* to feeds. */

import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  type CrawlRecord,
  type ItemFeed,
  type Logger,
  type Settings,
  SettingsError,
  type StatsCollector,
  silentLogger,
} from '@webloom/core'
import { CsvFormat } from './csv-format.ts'
import { Feed } from './feed.ts'
import { extensionOf, type FeedFormatName, FORMATS_SHOWN, formatNamed, notAFormat } from './feed-formats.ts'
import type { FeedOutput } from './feed-output.ts'
import { type FeedTarget, feedTarget, filledUri, uriTime } from './feed-uri.ts'
import { FileOutput, NEVER_BEGUN } from './file-output.ts'
import type { FieldNames } from './item-fields.ts'
import type { FormatReports, ItemFormat } from './item-format.ts'
import { JsonArrayOutput } from './json-array-output.ts'
import { JsonArrayFormat, JsonLinesFormat } from './json-format.ts'
import { StdoutOutput } from './stdout-output.ts'

/** What feeds need to know beside the settings. */
export interface FeedsContext {
  /** Stands for `%(name)s`. */
  readonly spiderName: string
  /** Stands for `%(time)s`. */
  readonly startedAt: Date
  /** What relative paths are relative to; the process's folder when absent. */
  readonly cwd?: string
  readonly logger?: Logger
  /** Counts `feedexport/success_count/FileFeedStorage` and its siblings. */
  readonly stats?: StatsCollector
  /** Remembers which outputs the crawl has begun, so that a resumed one goes on in them. */
  readonly record?: Pick<CrawlRecord, 'outputBegun' | 'beginOutput'>
  /** Told of each item that a feed cannot write (a BigInt, a cycle); the others are written. */
  readonly onUnserializable?: (item: unknown, error: unknown) => void
}

/** One feed as it was asked for, checked. */
interface FeedPlan {
  readonly uri: string
  readonly target: FeedTarget
  readonly format: FeedFormatName
  readonly overwrite: boolean
  readonly storeEmpty: boolean
  readonly fields: FieldNames | undefined
  readonly indent: number | null
}

type Problem = (text: string) => undefined

/** The feeds that FEEDS asks for, none of them open. Throws a SettingsError with all that is wrong. */
export function feedsFrom(settings: Settings, context: FeedsContext): ItemFeed[] {
  const problems: string[] = []
  const plans = Object.entries(settings.getDict('FEEDS')).flatMap(([uri, options]) => {
    const problem: Problem = (text) => void problems.push(`FEEDS[${JSON.stringify(uri)}]: ${text}`)
    return feedPlan(uri, options, settings, context, problem) ?? []
  })
  problems.push(...sharedTargets(plans))
  if (problems.length > 0) throw new SettingsError([...new Set(problems)])
  return plans.map((plan) => feedOf(plan, context))
}

// Scrapy's options of a feed that mean something only with what is not there yet.
const NOT_YET = new Set([
  'batch_item_count',
  'item_classes',
  'item_export_kwargs',
  'item_filter',
  'postprocessing',
  'uri_params',
])

const OPTIONS = ['format', 'overwrite', 'fields', 'encoding', 'indent', 'store_empty']

function feedPlan(
  written: string,
  options: unknown,
  settings: Settings,
  context: FeedsContext,
  problem: Problem,
): FeedPlan | undefined {
  if (!isDict(options))
    return problem('expected an object of options, such as {"format": "jsonl"}; {} will do')
  // Scrapy's name and the same in camel case.
  const { storeEmpty, ...rest } = options
  const given: Record<string, unknown> = {
    ...(storeEmpty === undefined ? {} : { store_empty: storeEmpty }),
    ...rest,
  }
  refuseUnknownOptions(given, problem)
  const place = placeOf(written, context, problem)
  const format = formatOf(written, given.format, place?.target, problem)
  const checked = {
    overwrite: boolOf('overwrite', given, false, problem),
    storeEmpty: boolOf('store_empty', given, settings.getBool('FEED_STORE_EMPTY'), problem),
    fields: fieldsOf(given, settings, problem),
    indent: indentOf(given, settings, problem),
  }
  return place && format && { ...place, format, ...checked }
}

function refuseUnknownOptions(given: Record<string, unknown>, problem: Problem): void {
  for (const [name, value] of Object.entries(given)) {
    // null and 0 are how Scrapy's documentation writes "not used".
    if (NOT_YET.has(name) && value !== null && value !== 0)
      problem(`the option ${name} is not in this release`)
    if (!NOT_YET.has(name) && !OPTIONS.includes(name))
      problem(`unknown option ${JSON.stringify(name)}; there are ${OPTIONS.join(', ')}`)
  }
  const { encoding = null } = given
  const isUtf8 = encoding === null || (typeof encoding === 'string' && /^utf-?8$/i.test(encoding))
  if (!isUtf8) problem(`encoding is ${shown(encoding)}; output is UTF-8 in this release`)
}

function placeOf(
  written: string,
  { spiderName, startedAt, cwd }: FeedsContext,
  problem: Problem,
): { uri: string; target: FeedTarget } | undefined {
  const uri = filledUri(written, { name: spiderName, time: uriTime(startedAt) })
  if (typeof uri !== 'string') return problem(uri.problem)
  const target = feedTarget(uri, cwd ?? process.cwd())
  return 'problem' in target ? problem(target.problem) : { uri, target }
}

function formatOf(
  uri: string,
  given: unknown,
  target: FeedTarget | undefined,
  problem: Problem,
): FeedFormatName | undefined {
  const name = given ?? (target?.kind === 'file' ? extensionOf(target.path) : '')
  if (typeof name !== 'string') return problem(`format is ${shown(name)}; the formats are ${FORMATS_SHOWN}`)
  // What the scheme is wrong about has been said.
  if (name === '')
    return target && problem(`no format is named; write "format": "jsonl" for ${uri}, or ${FORMATS_SHOWN}`)
  return formatNamed(name) ?? problem(notAFormat(name))
}

function boolOf(name: string, given: Record<string, unknown>, fallback: boolean, problem: Problem): boolean {
  const value = given[name] ?? fallback
  if (typeof value === 'boolean') return value
  problem(`${name} is ${shown(value)}; expected true or false`)
  return fallback
}

function fieldsOf(
  given: Record<string, unknown>,
  settings: Settings,
  problem: Problem,
): FieldNames | undefined {
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

// What JSON.stringify takes at most.
const INDENT_MAX = 10

function indentOf(given: Record<string, unknown>, settings: Settings, problem: Problem): number | null {
  const value = given.indent === undefined ? settings.get('FEED_EXPORT_INDENT') : given.indent
  if (value === null) return null
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= INDENT_MAX) return value
  problem(`indent is ${shown(value)}; expected a whole number from 0 to ${INDENT_MAX}, or null`)
  return null
}

/** Two feeds in one file would write into each other. */
function sharedTargets(plans: readonly FeedPlan[]): string[] {
  const uriOf = new Map<string, string>()
  const problems: string[] = []
  for (const { uri, target } of plans) {
    const place = target.kind === 'file' ? realPath(target.path) : 'standard output'
    const other = uriOf.get(place)
    if (other !== undefined)
      problems.push(`FEEDS: ${other} and ${uri} both lead to ${place}; give each its own`)
    uriOf.set(place, uri)
  }
  return problems
}

/** The path without symbolic links, as far as it exists. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path))
  }
}

function feedOf(plan: FeedPlan, context: FeedsContext): ItemFeed {
  const { uri, storeEmpty } = plan
  const logger = context.logger ?? silentLogger
  const reports: FormatReports = {
    uri,
    logger,
    lost(item, error) {
      logger.error(
        { feed: uri, err: error },
        'an item cannot be written; it is lost to this feed, the others are not',
      )
      context.stats?.inc('feedexport/unserializable_count')
      context.onUnserializable?.(item, error)
    },
  }
  return new Feed({
    uri,
    storeEmpty,
    resumable: context.record !== undefined,
    stats: context.stats,
    ...partsOf(plan, reports, context),
  })
}

function partsOf(
  { uri, target, format, overwrite, fields, indent }: FeedPlan,
  reports: FormatReports,
  { record }: FeedsContext,
): { format: ItemFormat; output: FeedOutput } {
  if (target.kind === 'stdout') {
    const options = { fields, reports, forTerminal: process.stdout.isTTY === true }
    const formats = {
      jsonl: () => new JsonLinesFormat(options),
      json: () => new JsonArrayFormat({ ...options, indent }),
      csv: () => new CsvFormat(options),
    }
    return { format: formats[format](), output: new StdoutOutput() }
  }
  const { path } = target
  const begun = record
    ? { before: () => record.outputBegun(path), note: () => record.beginOutput(path) }
    : NEVER_BEGUN
  const lines = new JsonLinesFormat({ fields, reports })
  if (format === 'json')
    return {
      format: lines,
      output: new JsonArrayOutput({ path, uri, overwrite, begun, indent, logger: reports.logger }),
    }
  const file = new FileOutput({ path, uri, overwrite, begun })
  return { format: format === 'csv' ? new CsvFormat({ fields, reports }) : lines, output: file }
}

function isDict(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value)
}
