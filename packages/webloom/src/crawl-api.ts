import {
  checkOptions,
  environmentSettings,
  isSettingName,
  type Logger,
  type OptionNames,
  type Settings,
  type SettingsInput,
  type StatsCollector,
} from '@webloom/core'
import type { SpiderClass } from '@webloom/spider'
import { assemble } from './assemble.ts'
import type { CrawlResult } from './crawl.ts'
import { loggerOf } from './terminal/logger-of.ts'

/** What `crawl()` can be told; each part may be left out. */
export interface CrawlCallOptions {
  /** They count like the command line's: nothing overrides them. */
  readonly settings?: SettingsInput
  /** What `-a name=value` gives on the command line. */
  readonly args?: Readonly<Record<string, string>>
  /** When it fires, what is in flight is finished and the crawl ends with `finishReason` `shutdown`. */
  readonly signal?: AbortSignal
  /** Gets the log lines; without it they go where LOG_FILE and LOG_FORMAT say, as on the command line. */
  readonly logger?: Logger
}

const OPTIONS = {
  settings: true,
  args: true,
  signal: true,
  logger: true,
} as const satisfies OptionNames<CrawlCallOptions>

/**
 * Runs a spider in this process, from start to end.
 *
 * Resolves with the final stats and `finishReason`. Rejects with `SettingsError` or WL_OUTPUT_UNWRITABLE before
 * anything is fetched, and with WL_OUTPUT_FAILED when an output could not be written to its end.
 */
export async function crawl(Class: SpiderClass, options: CrawlCallOptions = {}): Promise<CrawlResult> {
  checkOptions(options, OPTIONS, { of: 'crawl()', hints: hintsOf(options) })
  const { settings = {}, args, signal, logger } = options
  const running = await assemble(Class, {
    layers: { environment: environmentSettings(process.env), command: settings },
    places: { command: 'the settings given to crawl()' },
    folder: process.cwd(),
    createLogger: (known: Settings, stats: StatsCollector) => logger ?? loggerOf(known, stats),
    ...(args && { args }),
  })
  const stop = () => running.stop('shutdown')
  signal?.addEventListener('abort', stop)
  if (signal?.aborted) stop()
  try {
    return await running.run()
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

/** Settings that were written where the options stand. */
function hintsOf(options: object): Record<string, string> {
  const settings = Object.keys(options).filter(isSettingName)
  return Object.fromEntries(
    settings.map((name) => [name, `It is a setting: write  settings: { ${name}: … }`]),
  )
}
