import {
  type Logger,
  MemoryStatsCollector,
  type OptionNames,
  requireMethods,
  Settings,
  SettingsError,
  type SettingsLayers,
  type SettingsPlaces,
  Signals,
  type StatsCollector,
  UsageError,
  valueShown,
} from '@webloom/core'
import { createSpider, Spider, type SpiderClass } from '@webloom/spider'
import { withLoadedFunctions } from '../loading/component-class.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { type CrawlFlags, settingsLayers, spiderArguments } from '../loading/crawl-flags.ts'
import { noteArguments } from '../loading/typed-spider.ts'
import { guardStats } from '../terminal/guarded-stats.ts'
import { loggerOf } from '../terminal/logger-of.ts'

export interface CrawlBaseOptions {
  readonly args?: Readonly<Record<string, string>>
  readonly layers?: Omit<SettingsLayers, 'spider'>
  /** How messages call the layers, e.g. the path of the config file. */
  readonly places?: SettingsPlaces
  /** Folder from which `./file.ts#Export` in settings is meant. */
  readonly folder: string
  /** Folder of the project that the spider is of. Absent: it is of none, or nothing is kept there. */
  readonly project?: string | undefined
  /** Made once the settings are known, as they say where lines go and which. */
  readonly createLogger: (settings: Settings, stats: StatsCollector) => Logger
}

/** What all parts of a crawl are made from. */
export interface CrawlBase {
  readonly spider: Spider
  readonly settings: Settings
  readonly stats: StatsCollector
  readonly signals: Signals
  readonly logger: Logger
}

/** Returns what a command line begins a crawl with: with its flags, and the config of its folder. */
export function crawlBaseOf(flags: CrawlFlags, config: LoadedConfig | undefined): CrawlBaseOptions {
  return {
    args: spiderArguments(flags),
    ...settingsLayers(flags, config),
    folder: config?.folder ?? process.cwd(),
    project: config?.isProject ? config.folder : undefined,
    createLogger: loggerOf,
  }
}

/** A spider with its settings. Opens nothing; throws `SettingsError` with every problem there is. */
export async function crawlBase(Class: SpiderClass, options: CrawlBaseOptions): Promise<CrawlBase> {
  const spider = createSpider(Class, options.args)
  noteArguments(spider, options.args ?? {})
  refuseStranger(spider)
  const settings = await withLoadedFunctions(spiderSettings(spider, options), options.folder)
  const stats = statsCollector(settings)
  const tellTo = settings.get('STATS_CLASS') !== 'memory' ? guardStats(stats) : undefined
  const logger = options.createLogger(settings, stats)
  tellTo?.(logger)
  const signals = new Signals((signal, error) =>
    logger.error({ signal, err: error }, 'a signal handler threw; the others were called'),
  )
  return { spider, settings, stats, signals, logger }
}

/** The settings of all layers, the spider's among them. Throws `SettingsError` with every problem. */
export function spiderSettings(
  spider: Pick<Spider, 'name' | 'customSettings'>,
  { layers, places }: Pick<CrawlBaseOptions, 'layers' | 'places'>,
): Settings {
  const settings = Settings.fromLayers(
    { ...layers, spider: spider.customSettings ?? {} },
    { spider: `customSettings of ${spider.name}`, ...places },
  )
  settings.validate()
  return settings
}

/** STATS_CLASS. It is made first, as the log itself is counted. */
function statsCollector(settings: Settings): StatsCollector {
  const chosen = settings.get('STATS_CLASS')
  if (chosen === 'memory') return new MemoryStatsCollector()
  if (typeof chosen !== 'function')
    throw new SettingsError([
      `STATS_CLASS is ${JSON.stringify(chosen)}; expected memory, a class or ./file.ts#Export`,
    ])
  const stats = made(chosen as new () => StatsCollector)
  requireMethods(stats, Object.keys(STATS_METHODS), 'stats collector', 'STATS_CLASS')
  return stats
}

function made(Class: new () => StatsCollector): StatsCollector {
  if ('fromCrawler' in Class)
    throw new UsageError(
      'WL_COMPONENT_LOAD',
      `the stats collector ${Class.name} (STATS_CLASS) has static fromCrawler; it is made by new, before the crawler, whose log it counts: read what it needs in its methods, or in an extension that finds it as crawler.stats`,
    )
  try {
    return new Class()
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : `it threw ${valueShown(cause)}`
    throw new UsageError(
      'WL_COMPONENT_LOAD',
      `the stats collector ${Class.name} (STATS_CLASS) could not be made: ${reason}`,
      { cause },
    )
  }
}

const STATS_METHODS: OptionNames<StatsCollector> = {
  inc: true,
  set: true,
  max: true,
  min: true,
  get: true,
  snapshot: true,
  clear: true,
}

/** Two copies of the package know nothing of each other's requests and errors. */
function refuseStranger(spider: unknown): void {
  if (spider instanceof Spider) return
  throw new UsageError(
    'WL_SPIDER_LOAD',
    'the spider extends the Spider of another copy of webloom; run it by that copy:  npx webloom …  in the folder where it is installed',
  )
}
