import { accessSync, constants, existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import {
  type OtherWorkers,
  type ProtocolTimes,
  persistsOf,
  redisTargets,
  UsageError,
  WebloomError,
} from '@webloom/core'
import { CRAWL_LOST, OTHER_SETTINGS, REQUESTS_LEFT, TOLD_AT_END } from '@webloom/queue'
import { limitReached, type SpiderClass } from '@webloom/spider'
import { assemble } from '../assembly/assemble.ts'
import type { Crawl, CrawlParts, CrawlResult } from '../assembly/crawl.ts'
import { crawlBaseOf } from '../assembly/crawl-base.ts'
import type { Participation } from '../assembly/store-port.ts'
import { startCrawlDash } from '../desk/crawl-dash.ts'
import { serveMetrics } from '../desk/metrics-server.ts'
import { EXIT, exitCodeOfReason } from '../exit-codes.ts'
import type { LoadedConfig } from '../loading/config.ts'
import type { CrawlFlags } from '../loading/crawl-flags.ts'
import { skippedText } from '../outcome/skipped-pages.ts'
import { keepMemoryFlat } from '../processes/flat-memory.ts'
import { tellAlive, tellProgress, type WorkerEnd } from '../processes/worker-process.ts'
import { startProgress } from '../progress/progress.ts'
import { startBanner } from '../terminal/banner.ts'
import { colorWanted } from '../terminal/color.ts'
import { logsAreForPeople } from '../terminal/logger-of.ts'
import { resumeLine, shownWord } from '../terminal/resume-line.ts'
import { statsTable } from '../terminal/stats-table.ts'
import { VERSION } from '../version.ts'

/** How the spider runs: `crawl` and `runspider` leave it out. */
export interface RunMode {
  readonly part?: Participation
  readonly stays?: boolean
  /** Shows the crawl in a browser while it runs. */
  readonly dash?: boolean | undefined
  /** There it can be told things, too. */
  readonly control?: boolean | undefined
  /** For tests: see `assemble`. */
  readonly times?: ProtocolTimes
}

/** Runs one spider for the command line: banner, progress, signals, final stats. Returns the exit code. */
export async function runCrawl(
  Class: SpiderClass,
  flags: CrawlFlags,
  config: LoadedConfig | undefined,
  mode: RunMode = {},
): Promise<number> {
  if (flags.statsFile !== undefined) checkWritable(flags.statsFile)
  keepMemoryFlat()
  const { dash: isSeen, control = false, ...how } = mode
  const crawl = await assemble(Class, { ...crawlBaseOf(flags, config), ...how })
  const endMetrics = await serveMetrics(crawl)
  await crawl.connect()
  const dash = isSeen ? await startCrawlDash(crawl, flags, config, { control }) : undefined
  await showBanner(crawl)
  // --nolog asks for silence; the block would be the loudest of all.
  const progress = crawl.settings.getBool('LOG_ENABLED') ? startProgress(crawl) : { stop() {} }
  if (mode.part?.isWorker) {
    tellAlive()
    tellProgress(() => crawl.snapshot())
  }
  const signals = watchSignals(crawl, progress.stop)
  const accidents = watchAccidents(crawl)
  try {
    const result = await crawl.run()
    progress.stop()
    await report(crawl, result, flags)
    tellSupervisor(result)
    if (!CANNOT_GO_ON.has(result.finishReason)) tellHowToResume(crawl)
    if (signals.received !== undefined) return signals.received
    const isFailure = crawl.isEmpty && crawl.settings.getBool('FAIL_ON_EMPTY')
    const code = isFailure ? EXIT.unexpected : exitCodeOfReason(result.finishReason)
    return code === EXIT.finished && crawl.alerts.length > 0 ? EXIT.alerts : code
  } catch (error) {
    progress.stop()
    // What was crawled until then is worth knowing; a crawl that could not begin has nothing to tell.
    if (crawl.stats.get('finish_reason') !== undefined) {
      await report(crawl, { stats: crawl.stats.snapshot(), finishReason: 'output_failed' }, flags)
    }
    throw error
  } finally {
    progress.stop()
    await endMetrics()
    signals.forget()
    accidents.forget()
    await dash?.close()
  }
}

async function showBanner(crawl: Crawl): Promise<void> {
  const { spider, settings, logger } = crawl
  const parts = await crawl.describe()
  const lines = startBanner({
    version: VERSION,
    spider: spider.name,
    queue: `${parts.queue.name}, ${parts.queue.order} order`,
    filter: parts.filter.name,
    fingerprinter: parts.filter.fingerprinter,
    urlRules: parts.filter.urlRules,
    outputs: parts.outputs,
    concurrency: settings.getInt('CONCURRENT_REQUESTS'),
    concurrencyPerHost: settings.getInt('CONCURRENT_REQUESTS_PER_DOMAIN'),
    delaySeconds: settings.getFloat('DOWNLOAD_DELAY'),
    notes: notesOn(parts),
  })
  for (const line of lines) logger.info(line)
}

function notesOn({ filter, notes }: CrawlParts): string[] {
  return [
    ...(filter.name === 'none' ? ['nothing is filtered: each link is fetched each time it is found'] : []),
    ...(filter.owners
      ? []
      : ['the filter does not know who asks: a crash may lose links (docs/guarantees.md, guarantee 1)']),
    ...notes,
  ]
}

async function report(
  { settings, logger, others }: Crawl,
  { stats, finishReason }: CrawlResult,
  flags: CrawlFlags,
): Promise<void> {
  if (settings.getBool('STATS_DUMP')) {
    if (settings.get('LOG_FILE') !== null) logger.info({ stats }, 'final stats')
    if (logsAreForPeople(settings)) showStats('final stats', stats)
    else if (settings.get('LOG_FILE') === null) logger.info({ stats }, 'final stats')
    // Of several processes their parent shows the stats of all.
    const together = others && !process.send && togetherText(stats, others)
    if (together) logger.info(together)
  }
  const skipped = skippedText(stats)
  if (skipped !== '') logger.info(`skipped: ${skipped}`)
  const limit = limitReached(finishReason)
  const isShared = redisTargets(settings, 'queue').length > 0
  if (limit !== undefined && isShared && settings.get(limit) === 0)
    logger.warn(`${limit} of another worker has ended the crawl for all: this one sets none`)
  const ended = `crawl ended: ${finishReason}`
  if (finishReason === CRAWL_LOST || finishReason === OTHER_SETTINGS)
    logger.error(`${ended}: it is not finished; the ERROR above says what to do`)
  else if (finishReason === REQUESTS_LEFT)
    logger.warn(`${ended}: nothing is left here, but requests of scrapy-redis wait (see the WARNING above)`)
  else logger.info(ended)
  if (flags.statsFile !== undefined) await writeStats(flags.statsFile, stats)
}

/** Returns nothing when the others have no page. */
function togetherText(stats: CrawlResult['stats'], others: OtherWorkers): string | undefined {
  const [ofPages, ofItems] = TOLD_AT_END
  if (others.stat(ofPages) === 0) return undefined
  const all = (key: string) => Number(stats[key] ?? 0) + others.stat(key)
  return `these stats are of this worker alone; all workers have told of ${all(ofPages)} pages and ${all(ofItems)} items so far, since the crawl was begun or resumed`
}

/** The table of them, on standard error. */
export function showStats(title: string, stats: CrawlResult['stats']): void {
  const { columns, isTTY } = process.stderr
  const table = statsTable(stats, { columns: columns || COLUMNS_UNKNOWN, color: colorWanted(isTTY) })
  process.stderr.write(`\n${title}\n\n${table}\n`)
}

async function writeStats(path: string, stats: CrawlResult['stats']): Promise<void> {
  try {
    await writeFile(path, `${JSON.stringify(stats, null, 2)}\n`)
  } catch (cause) {
    const why = (cause as Error).message
    throw new WebloomError('WL_OUTPUT_FAILED', `--stats-file ${path} cannot be written: ${why}`, { cause })
  }
}

/** On the screen and not in the log: it is for the person who types. */
function tellHowToResume({ settings }: Crawl): void {
  const place = settings.get('JOBDIR') ?? redisThatKeeps(settings)
  // Of several processes their parent would have to tell it once.
  if (place === undefined || process.send) return
  const hidden = process.argv.slice(2).some((word) => shownWord(word) !== word)
  const note = hidden ? '  (a secret is not printed: write it again where *** or "(not shown)" stands)\n' : ''
  process.stderr.write(`\nThe crawl is kept in ${place}. To go on:\n  ${resumeLine(settings)}\n${note}`)
}

/** Undefined where the queue is in this process, or is emptied at the end. */
function redisThatKeeps(settings: Crawl['settings']): string | undefined {
  const [target] = persistsOf(settings) ? redisTargets(settings, 'queue') : []
  return target && `Redis at ${target.shown}`
}

/** Ends after which nothing is left, or something else is to be done first, which the log says. */
const CANNOT_GO_ON: ReadonlySet<string> = new Set([
  ...['finished', CRAWL_LOST, OTHER_SETTINGS],
  ...[REQUESTS_LEFT, 'cleared'],
])

// A terminal that does not tell its width (0) is taken for one of the usual.
const COLUMNS_UNKNOWN = 80

/** Before anything is fetched: the stats of a long crawl must not be lost to a misspelt path. */
function checkWritable(path: string): void {
  try {
    accessSync(existsSync(path) ? path : dirname(resolve(path)), constants.W_OK)
  } catch (cause) {
    throw new UsageError(
      'WL_OUTPUT_UNWRITABLE',
      `--stats-file ${path} cannot be written: ${(cause as Error).message}`,
      { cause },
    )
  }
}

/** For `worker --processes`, which puts another process in the place of one that did not end by itself. */
function tellSupervisor({ finishReason, stats }: CrawlResult): void {
  process.send?.({ finishReason, stats } satisfies WorkerEnd)
}

const CODES = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated } as const

/** The first signal lets what is in flight finish, the second ends the process at once. */
function watchSignals(
  crawl: Crawl,
  beforeExit: () => void,
): { readonly received: number | undefined; forget(): void } {
  let received: number | undefined
  const onSignal = (signal: 'SIGINT' | 'SIGTERM') => {
    if (received !== undefined) {
      beforeExit()
      process.stderr.write(`\n${signal} again: ended at once\n`)
      tellHowToResume(crawl)
      process.exit(CODES[signal])
    }
    received = CODES[signal]
    const grace = crawl.settings.getFloat('SHUTDOWN_GRACE')
    crawl.logger.info(
      `${signal}: finishing what is in flight (${grace} s at the most); ${signal === 'SIGINT' ? 'press Ctrl-C' : 'send it'} again to end at once`,
    )
    crawl.stop('shutdown')
  }
  // Whoever started this process with `worker --processes` has died: nobody would end it any more.
  const onOrphaned = () => crawl.stop('shutdown')
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal).on('disconnect', onOrphaned)
  return {
    get received() {
      return received
    },
    forget: () => void process.off('SIGINT', onSignal).off('SIGTERM', onSignal).off('disconnect', onOrphaned),
  }
}

/**
 * A promise that a spider forgot to await must not take the crawl down with it. An error thrown in one of its timers or
 * listeners leaves it in an unknown state: the crawl ends, but in order.
 */
function watchAccidents(crawl: Crawl): { forget(): void } {
  const onRejection = (error: unknown) => {
    crawl.stats.inc('spider_exceptions/count')
    crawl.stats.inc('spider_exceptions/unhandledRejection')
    crawl.logger.error({ err: error }, 'a promise that no code awaits was rejected; the crawl goes on')
  }
  const onException = (error: Error & { code?: string }) => {
    // The reader of standard output has gone (`| head`): whoever writes there next is told.
    if (error.code === 'EPIPE') return
    crawl.stats.inc('spider_exceptions/count')
    crawl.stats.inc('spider_exceptions/uncaughtException')
    crawl.logger.error({ err: error }, 'an error was thrown outside of any callback; the crawl ends')
    crawl.stop('internal_error')
  }
  process.on('unhandledRejection', onRejection).on('uncaughtException', onException)
  return {
    forget: () => void process.off('unhandledRejection', onRejection).off('uncaughtException', onException),
  }
}
