/** Makes feeds of the settings FEEDS and FEED_*. */

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
import { BatchedFeed } from './batched-feed.ts'
import { Feed } from './feed.ts'
import { type FeedPlace, type FeedPlan, feedPlan, type Problem } from './feed-plan.ts'
import { CsvFormat } from './formats/csv-format.ts'
import type { FieldNames } from './formats/item-fields.ts'
import type { FormatReports, ItemFormat } from './formats/item-format.ts'
import { JsonArrayFormat, JsonLinesFormat } from './formats/json-format.ts'
import { exporterOf, type ItemExporter, type ItemExporterClass, OwnFormat } from './formats/own-format.ts'
import { arraySpoolLayout, formatLayout, linesLayout, type SpoolLayout } from './formats/spool-layout.ts'
import { XmlFormat } from './formats/xml-format.ts'
import { LostItems } from './lost-items.ts'
import type { Destination } from './storages/destination.ts'
import type { FeedOutput } from './storages/feed-output.ts'
import {
  type FeedTarget,
  feedTarget,
  shownUri,
  type UriWords,
  uriMicroTime,
  uriTime,
  usesWord,
} from './storages/feed-uri.ts'
import { FileDestination } from './storages/file-destination.ts'
import { FileOutput, NEVER_BEGUN, type OutputBegun } from './storages/file-output.ts'
import { OutputLock } from './storages/output-lock.ts'
import { type FeedStorages, OwnDestination } from './storages/own-storage.ts'
import { placeholderPath } from './storages/placeholder-path.ts'
import { S3Destination } from './storages/s3-destination.ts'
import { bucketOf, missingKey, s3Uri } from './storages/s3-settings.ts'
import { SpooledOutput } from './storages/spooled-output.ts'
import { StdoutOutput } from './storages/stdout-output.ts'

/** What feeds need beside the settings. */
export interface FeedsContext {
  /** The value of `%(name)s`. */
  readonly spiderName: string
  /** The spider. Its texts and numbers are the values of `%(field)s`, and FEED_URI_PARAMS gets it. */
  readonly spider?: object
  /** The value of `%(time)s`. */
  readonly startedAt: Date
  /** The value of `%(worker)s`, which no other process of the crawl has. */
  readonly worker?: string
  /** True for one worker of several: a feed that would overwrite another worker's output is refused. */
  readonly isWorker?: boolean
  /** The folder that relative paths start from. Default: the process's folder. */
  readonly cwd?: string
  /** The storages of FEED_STORAGES by scheme. */
  readonly storages?: FeedStorages
  readonly logger?: Logger
  /** Counts `feedexport/success_count/FileFeedStorage` and its siblings. */
  readonly stats?: StatsCollector
  /** Remembers which outputs the crawl has begun, so that a resumed crawl goes on in them. Absent: it cannot be resumed. */
  readonly record?: Pick<CrawlRecord, 'outputBegun' | 'beginOutput'>
  /** Called for each item that a feed cannot write (a BigInt, a cycle); the other items are written. */
  readonly onUnserializable?: (item: unknown, error: unknown) => void
}

/** Returns the feeds that FEEDS asks for, none of them open. Throws a SettingsError that names everything that is wrong. */
export function feedsFrom(settings: Settings, context: FeedsContext): ItemFeed[] {
  const cwd = context.cwd ?? process.cwd()
  const plans = plansOf(settings, { ...context, cwd }, hasKey)
  // An output that is made as a whole needs its exporter only at the end, when all is fetched.
  for (const { format, fields, indent } of plans)
    if (typeof format === 'function') ownExporter(format, fields, indent)
  return plans.map((plan) => feedOf(plan, settings, { ...context, cwd }))
}

/** Throws as `feedsFrom` does, before anybody crawls. Keys of S3 are not asked for: the machine that crawls has them. */
export function checkFeeds(settings: Settings, context: FeedsContext): void {
  plansOf(settings, { ...context, cwd: context.cwd ?? process.cwd() }, () => true)
}

/** Whether an output can be written with these settings. */
type IsReachable = (plan: FeedPlan, settings: Settings, problem: Problem) => boolean

function plansOf(
  settings: Settings,
  context: FeedsContext & { readonly cwd: string },
  isReachable: IsReachable,
): FeedPlan[] {
  const problems: string[] = []
  const plans = Object.entries(settings.getDict('FEEDS')).flatMap(([uri, options]) => {
    const problem: Problem = (text) => void problems.push(`FEEDS[${JSON.stringify(shownUri(uri))}]: ${text}`)
    const wordsOf = (batchId: number, uriParams: unknown) =>
      uriWords(batchId, uriParams ?? settings.get('FEED_URI_PARAMS'), context)
    const targetOf = (filled: string) => feedTarget(filled, context.cwd, context.storages)
    const plan = feedPlan(uri, options, settings, wordsOf, targetOf, problem)
    if (!plan) return []
    const [isHere, isAlone] = [isReachable(plan, settings, problem), isApart(plan, context, problem)]
    return isHere && isAlone ? plan : []
  })
  problems.push(...sharedTargets(plans))
  if (problems.length > 0) throw new SettingsError([...new Set(problems)])
  return plans
}

/** Objects of S3 need a key. */
function hasKey(plan: FeedPlan, settings: Settings, problem: Problem): boolean {
  const { target } = plan.placeOf(1)
  const missing = target.kind === 's3' ? missingKey(target, settings) : undefined
  if (missing !== undefined) problem(missing)
  return missing === undefined
}

/** An output on another machine needs a name for each worker: a lock here is not seen there. */
function isApart({ written, placeOf }: FeedPlan, { isWorker }: FeedsContext, problem: Problem): boolean {
  const { kind } = placeOf(1).target
  if (kind === 'file' || kind === 'stdout' || !isWorker || usesWord(written, ['worker'])) return true
  problem('the last worker would replace what the others sent; put %(worker)s into its name')
  return false
}

/** Returns the placeholders' values: Scrapy's, the spider's own fields, and what FEED_URI_PARAMS makes of them. */
function uriWords(batchId: number, uriParams: unknown, context: FeedsContext): UriWords {
  const { spiderName, spider = {}, startedAt, worker = String(process.pid) } = context
  const fields = Object.entries(spider).filter(([, value]) => ['string', 'number'].includes(typeof value))
  const batch = {
    batch_id: batchId,
    batch_time: uriMicroTime(performance.timeOrigin + performance.now()),
  }
  const words: UriWords = {
    ...Object.fromEntries(fields),
    name: spiderName,
    time: uriTime(startedAt),
    worker: worker.replaceAll(/[^\w.-]/g, '-'),
    ...batch,
  }
  if (typeof uriParams !== 'function') return words
  // Each batch must have a name of its own, whatever the function returns.
  return { ...words, ...(uriParams(words, spider) as UriWords | undefined), ...batch }
}

/** Returns the files that two feeds share: each would write into the other's output. */
function sharedTargets(plans: readonly FeedPlan[]): string[] {
  const uriOf = new Map<string, string>()
  const problems: string[] = []
  for (const plan of plans) {
    const { uri, target } = plan.placeOf(1)
    const place = placeShown(target)
    const other = uriOf.get(place)
    if (other !== undefined)
      problems.push(`FEEDS: ${other} and ${uri} both lead to ${place}; give each its own`)
    uriOf.set(place, uri)
  }
  return problems
}

function placeShown(target: FeedTarget): string {
  if (target.kind === 'stdout') return 'standard output'
  return target.kind === 'file' ? realPath(target.path) : remoteName(target)
}

/** Returns the output's name, which is the same as long as the crawl lasts. */
function remoteName(target: RemoteTarget): string {
  return target.kind === 's3' ? s3Uri(target) : shownUri(target.uri)
}

/** Returns the path without symbolic links, as far as it exists. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path))
  }
}

function feedOf(plan: FeedPlan, settings: Settings, context: FeedsContext & { cwd: string }): ItemFeed {
  const { uri, batchItemCount } = plan
  if (batchItemCount === 0) return oneFeed(plan, plan.placeOf(1), settings, context)
  return new BatchedFeed({
    uri,
    itemCount: batchItemCount,
    feedOf: (batchId) => oneFeed(plan, plan.placeOf(batchId), settings, context),
    isBegun: async (batchId) => begunOf(plan.placeOf(batchId).target, context).before(),
    timeoutMs: timeoutMsOf(settings),
  })
}

function oneFeed(
  plan: FeedPlan,
  place: FeedPlace,
  settings: Settings,
  context: FeedsContext & { cwd: string },
): ItemFeed {
  const losses = new LostItems({
    uri: place.uri,
    logger: context.logger ?? silentLogger,
    stats: context.stats,
    onLost: context.onUnserializable,
  })
  return new Feed({
    uri: place.uri,
    losses,
    storeEmpty: plan.storeEmpty,
    accepts: plan.accepts,
    // A name that holds the worker or the time never names the output of a later run.
    resumable: context.record !== undefined && !usesWord(plan.written, ['worker', 'time', 'batch_time']),
    timeoutMs: timeoutMsOf(settings),
    stats: context.stats,
    ...partsOf(plan, place, losses, settings, context),
  })
}

function timeoutMsOf(settings: Settings): number {
  return settings.getMs('COMPONENT_TIMEOUT')
}

type WholeTarget = Exclude<FeedTarget, { kind: 'stdout' }>
type RemoteTarget = Exclude<WholeTarget, { kind: 'file' }>

interface FeedParts {
  readonly format: ItemFormat
  readonly output: FeedOutput
  readonly lock?: OutputLock
}

function partsOf(
  plan: FeedPlan,
  place: FeedPlace,
  reports: FormatReports,
  settings: Settings,
  context: FeedsContext & { cwd: string },
): FeedParts {
  const { target } = place
  if (target.kind === 'stdout') {
    const forTerminal = process.stdout.isTTY === true
    return { format: streamFormat(plan, reports, forTerminal), output: new StdoutOutput() }
  }
  const isLines = !plan.compression && (plan.format === 'jsonl' || plan.format === 'csv')
  return target.kind === 'file' && isLines
    ? lineParts(plan, place, target.path, reports, context)
    : spooledParts(plan, place, target, reports, settings, context)
}

/** Makes a file that is written line by line. Workers may share a jsonl file; each would write the header of a CSV file. */
function lineParts(
  plan: FeedPlan,
  { uri, target }: FeedPlace,
  path: string,
  reports: FormatReports,
  context: FeedsContext,
): FeedParts {
  const { overwrite } = plan
  const begun = begunOf(target, context)
  const format = streamFormat(plan, reports, false)
  const lock = new OutputLock({ path, uri })
  return plan.format === 'jsonl'
    ? { format, output: new FileOutput({ path, uri, overwrite, begun, lock }) }
    : { format, output: new FileOutput({ path, uri, overwrite, begun }), lock }
}

/** Makes an output that exists only as a whole. */
function spooledParts(
  plan: FeedPlan,
  { uri }: FeedPlace,
  target: WholeTarget,
  reports: FormatReports,
  settings: Settings,
  context: FeedsContext & { cwd: string },
): FeedParts {
  const path = target.kind === 'file' ? target.path : placeholderPath(target, settings, context.cwd)
  return {
    format: new JsonLinesFormat({ fields: spoolFields(plan), reports }),
    output: new SpooledOutput({
      spoolPath: `${path}.spool`,
      uri,
      destination: destinationOf(plan, target, uri, settings, context.storages),
      layout: () => layoutOf(plan, reports),
      compression: plan.compression,
      overwrite: plan.overwrite,
      begun: begunOf(target, context),
      logger: reports.logger,
    }),
    lock: new OutputLock({ path, uri }),
  }
}

/** Returns a format whose text is written as the items come. */
function streamFormat(
  { format, fields, indent }: FeedPlan,
  reports: FormatReports,
  forTerminal: boolean,
): ItemFormat {
  const options = { fields, reports, forTerminal }
  switch (format) {
    case 'jsonl':
      return new JsonLinesFormat(options)
    case 'json':
      return new JsonArrayFormat({ ...options, indent })
    case 'csv':
      return new CsvFormat(options)
    case 'xml':
      return new XmlFormat({ ...options, indent })
    default:
      return new OwnFormat({ ...options, exporter: ownExporter(format, fields, indent) })
  }
}

function ownExporter(
  format: ItemExporterClass,
  fields: FieldNames | undefined,
  indent: number | null,
): ItemExporter {
  return exporterOf(format, { indent, ...(fields && { fields: [...fields.values()] }) })
}

/** Returns the fields and names that items get in the spool, which are those of the output; for CSV, those of its columns. */
function spoolFields({ format, fields }: FeedPlan): FieldNames | undefined {
  return format === 'csv' && fields ? new Map([...fields.keys()].map((name) => [name, name])) : fields
}

function layoutOf({ format, fields, indent }: FeedPlan, reports: FormatReports): SpoolLayout {
  switch (format) {
    case 'jsonl':
      return linesLayout()
    case 'json':
      return arraySpoolLayout(indent)
    case 'csv':
      return formatLayout(new CsvFormat({ fields, reports }))
    case 'xml':
      return formatLayout(new XmlFormat({ indent, reports }))
    default:
      return formatLayout(new OwnFormat({ reports, exporter: ownExporter(format, fields, indent) }))
  }
}

const WHOLES = { jsonl: 'a file', json: 'a JSON array', csv: 'a file', xml: 'an XML document' }

function wholeOf(format: FeedPlan['format']): string {
  return typeof format === 'string' ? WHOLES[format] : 'an output of this format'
}

function destinationOf(
  { format, compression }: FeedPlan,
  target: WholeTarget,
  uri: string,
  settings: Settings,
  storages: FeedStorages = {},
): Destination {
  if (target.kind === 'file')
    return new FileDestination(target.path, compression ? 'a compressed file' : wholeOf(format))
  if (target.kind === 'own') return new OwnDestination(storages[target.scheme]!, target)
  return new S3Destination(bucketOf(target, settings), target.key, uri)
}

function begunOf(target: FeedTarget, { record }: FeedsContext): OutputBegun {
  if (!record || target.kind === 'stdout') return NEVER_BEGUN
  const place = target.kind === 'file' ? target.path : remoteName(target)
  return { before: () => record.outputBegun(place), note: () => record.beginOutput(place) }
}
