import {
  checkOptions,
  environmentSettings,
  isSettingName,
  type Logger,
  type OptionNames,
  type Settings,
  type SettingsInput,
  type StatsCollector,
  UsageError,
  valueShown,
} from '@webloom/core'
import { type Response, Spider, type SpiderClass } from '@webloom/spider'
import { assemble } from '../assembly/assemble.ts'
import type { CrawlResult } from '../assembly/crawl.ts'
import { collectEarly } from '../processes/early-collections.ts'
import { loggerOf } from '../terminal/logger-of.ts'

/** What `crawl()` can be told; each part may be left out. */
export interface CrawlCallOptions {
  /** Settings that override those of all other places, as `-s NAME=VALUE` on the command line. */
  readonly settings?: SettingsInput
  /** The spider's arguments, as `-a name=value` on the command line. */
  readonly args?: Readonly<Record<string, string>>
  /** When it is aborted, requests in flight are finished, within SHUTDOWN_GRACE, and `finishReason` is `shutdown`. */
  readonly signal?: AbortSignal
  /** Gets the log lines. Absent: they go where LOG_FILE and LOG_FORMAT say, as on the command line. */
  readonly logger?: Logger
  /**
   * Called with each item that came through the pipelines and feeds, and with the item's page, which is null for an item of
   * `start()`. A Promise that the function returns is awaited before the page counts as done, so a slow function slows the crawl.
   * When the function throws or rejects, the crawl is stopped and `crawl()` rejects with that error.
   */
  readonly onItem?: (item: unknown, response: Response | null) => unknown
}

const OPTIONS = {
  onItem: true,
  settings: true,
  args: true,
  signal: true,
  logger: true,
} as const satisfies OptionNames<CrawlCallOptions>

/**
 * Runs a spider in this process, from start to end.
 *
 * Resolves with the final stats and `finishReason`, also for a crawl that was stopped or ended by an error of its own: look at
 * `finishReason`. Rejects before anything is fetched with `SettingsError`, with `UsageError` (WL_USAGE for options, WL_SPIDER_ARGUMENT,
 * WL_COMPONENT_LOAD), with WL_OUTPUT_UNWRITABLE, or with WL_REDIS_UNREACHABLE; and with WL_OUTPUT_FAILED when an output could not be written to its end.
 */
export async function crawl(Class: SpiderClass, options: CrawlCallOptions = {}): Promise<CrawlResult> {
  checkCall('crawl()', Class, options)
  const { settings = {}, args, signal, logger, onItem } = options
  const running = await assemble(Class, {
    layers: { environment: environmentSettings(process.env), command: settings },
    places: { command: 'the settings given to crawl()' },
    folder: process.cwd(),
    createLogger: (known: Settings, stats: StatsCollector) => logger ?? loggerOf(known, stats),
    ...(args && { args }),
  })
  const stop = () => running.stop('shutdown')
  let failure: { readonly error: unknown } | undefined
  if (onItem)
    running.onItem(async (item, response) => {
      try {
        if (!failure) await onItem(item, response)
      } catch (error) {
        failure ??= { error }
        running.stop('output_failed')
      }
    })
  signal?.addEventListener('abort', stop)
  if (signal?.aborted) stop()
  using _early = collectEarly()
  try {
    const result = await running.run()
    if (failure) throw failure.error
    return result
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

/**
 * `crawl()` as a stream of its items: `for await (const item of crawlItems(Quotes)) …`. The crawl goes no faster than the loop
 * takes the items. Leaving the loop stops the crawl, and waits for its end. The loop throws what `crawl()` rejects with; the
 * generator's return value is what `crawl()` resolves with. Throws WL_USAGE at once for what is not a spider class, and for unknown options.
 */
export function crawlItems(
  Class: SpiderClass,
  options: Omit<CrawlCallOptions, 'onItem'> = {},
): AsyncGenerator<unknown, CrawlResult> {
  // Now, and not when the first item is asked for.
  checkCall('crawlItems()', Class, options)
  return itemsOf(Class, options)
}

async function* itemsOf(
  Class: SpiderClass,
  options: Omit<CrawlCallOptions, 'onItem'>,
): AsyncGenerator<unknown, CrawlResult> {
  const left = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, left.signal]) : left.signal
  const waiting: { readonly item: unknown; taken(): void }[] = []
  let news = Promise.withResolvers<void>()
  let hasEnded = false
  const onItem = (item: unknown) =>
    new Promise<void>((taken) => {
      if (left.signal.aborted) return taken()
      waiting.push({ item, taken })
      news.resolve()
    })
  const running = crawl(Class, { ...options, signal, onItem }).finally(() => {
    hasEnded = true
    news.resolve()
  })
  // It is awaited below, however the loop is left.
  running.catch(() => {})
  try {
    while (!hasEnded || waiting.length > 0) {
      const [next] = waiting
      if (next) {
        // It stays in the list while it is read: whoever leaves the loop here is waited for by its page.
        yield next.item
        waiting.shift()
        next.taken()
      } else {
        await news.promise
        news = Promise.withResolvers()
      }
    }
    return await running
  } finally {
    left.abort()
    for (const { taken } of waiting.splice(0)) taken()
    await running
  }
}

/** What TypeScript sees at once, for those who write JavaScript, or a cast. Throws WL_USAGE. */
function checkCall(of: string, Class: unknown, options: CrawlCallOptions): void {
  const isClass = typeof Class === 'function'
  if (!isClass) {
    const name = Class instanceof Spider ? Class.constructor.name : 'QuotesSpider'
    throw new UsageError(
      'WL_USAGE',
      `${of} was given ${valueShown(Class)}; expected a spider's class, as in ${of.replace('()', `(${name})`)}, without quotes and without new`,
    )
  }
  checkOptions(options, OPTIONS, { of, hints: hintsOf(options) })
  if (options.onItem !== undefined && typeof options.onItem !== 'function')
    throw new UsageError(
      'WL_USAGE',
      `onItem of ${of} is ${valueShown(options.onItem)}; expected a function (item, response) => …`,
    )
}

/** Settings that were written where the options stand. */
function hintsOf(options: object): Record<string, string> {
  const settings = Object.keys(options).filter(isSettingName)
  return Object.fromEntries(
    settings.map((name) => [name, `It is a setting: write  settings: { ${name}: … }`]),
  )
}
