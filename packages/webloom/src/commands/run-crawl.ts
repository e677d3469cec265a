import { accessSync, constants, existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { environmentSettings, UsageError } from '@webloom/core'
import type { SpiderClass } from '@webloom/spider'
import { assemble } from '../assemble.ts'
import type { Crawl, CrawlResult } from '../crawl.ts'
import { EXIT, exitCodeOfReason } from '../exit-codes.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { startBanner } from '../terminal/banner.ts'
import { colorWanted } from '../terminal/color.ts'
import { loggerOf, logsAreForPeople } from '../terminal/logger-of.ts'
import { startProgress } from '../terminal/progress.ts'
import { statsTable } from '../terminal/stats-table.ts'
import { VERSION } from '../version.ts'
import { type CrawlFlags, commandLayer, spiderArguments } from './crawl-options.ts'

/** Runs one spider for the command line: banner, progress, signals, final stats. Answers the exit code. */
export async function runCrawl(
  Class: SpiderClass,
  flags: CrawlFlags,
  config: LoadedConfig | undefined,
): Promise<number> {
  if (flags.statsFile !== undefined) checkWritable(flags.statsFile)
  const crawl = await assemble(Class, {
    args: spiderArguments(flags),
    layers: {
      config: config?.settings ?? {},
      environment: environmentSettings(process.env),
      command: commandLayer(flags),
    },
    places: config ? { config: config.path } : {},
    folder: config ? dirname(config.path) : process.cwd(),
    createLogger: loggerOf,
  })
  showBanner(crawl)
  const progress = startProgress(crawl)
  const signals = watchSignals(crawl, progress.stop)
  const rejections = watchRejections(crawl)
  try {
    const result = await crawl.run()
    progress.stop()
    await report(crawl, result, flags)
    return signals.received ?? exitCodeOfReason(result.finishReason)
  } finally {
    progress.stop()
    signals.forget()
    rejections.forget()
  }
}

function showBanner({ spider, settings, parts, logger }: Crawl): void {
  const lines = startBanner({
    version: VERSION,
    spider: spider.name,
    queue: `${parts.queue.name}, ${parts.queue.order} order`,
    filter: parts.filter.name,
    fingerprinter: parts.filter.fingerprinter,
    outputs: parts.outputs,
    concurrency: settings.getInt('CONCURRENT_REQUESTS'),
    concurrencyPerHost: settings.getInt('CONCURRENT_REQUESTS_PER_DOMAIN'),
    delaySeconds: settings.getFloat('DOWNLOAD_DELAY'),
    notes:
      parts.filter.owners === false
        ? ['the filter knows no owners: a crash may lose links (guarantee 1)']
        : [],
  })
  for (const line of lines) logger.info(line)
}

async function report(
  { settings, logger }: Crawl,
  { stats, finishReason }: CrawlResult,
  flags: CrawlFlags,
): Promise<void> {
  if (settings.getBool('STATS_DUMP')) {
    if (logsAreForPeople(settings))
      process.stderr.write(
        `\nfinal stats\n\n${statsTable(stats, { columns: process.stderr.columns || COLUMNS_UNKNOWN, color: colorWanted(process.stderr.isTTY) })}\n`,
      )
    else logger.info({ stats }, 'final stats')
  }
  logger.info(`crawl ended: ${finishReason}`)
  if (flags.statsFile !== undefined) await writeFile(flags.statsFile, `${JSON.stringify(stats, null, 2)}\n`)
}

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
      process.exit(CODES[signal])
    }
    received = CODES[signal]
    const grace = crawl.settings.getFloat('SHUTDOWN_GRACE')
    crawl.logger.info(
      `${signal}: finishing what is in flight (${grace} s at the most); ${signal === 'SIGINT' ? 'press Ctrl-C' : 'send it'} again to end at once`,
    )
    crawl.stop('shutdown')
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  return {
    get received() {
      return received
    },
    forget: () => void process.off('SIGINT', onSignal).off('SIGTERM', onSignal),
  }
}

/** A promise that a spider forgot to await must not take the crawl down with it. */
function watchRejections(crawl: Crawl): { forget(): void } {
  const onRejection = (error: unknown) => {
    crawl.stats.inc('spider_exceptions/count')
    crawl.stats.inc('spider_exceptions/unhandledRejection')
    crawl.logger.error({ err: error }, 'a promise was rejected and nobody awaited it; the crawl goes on')
  }
  process.on('unhandledRejection', onRejection)
  return { forget: () => void process.off('unhandledRejection', onRejection) }
}
