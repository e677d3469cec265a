/**
 * All crawls of a project, for a process that serves every one: begins runs that are due, and says which crawls want workers.
 *
 * A crawl wants workers while its record says that it runs, whoever began it; when a signal has interrupted a run that a schedule had begun;
 * and, of a spider that takes start URLs from Redis, while any wait.
 */

import {
  type CrawlName,
  crawlKey,
  crawlNameOf,
  type Logger,
  persistsOf,
  redisError,
  type Settings,
  storeTrouble,
  waitAtMost,
} from '@webloom/core'
import {
  type BegunRun,
  beginRun,
  crawlRedisKeys,
  crawlShown,
  crawlWanted,
  type DueRun,
  DueRuns,
  noteCrawl,
  readCrawls,
  readSeedCounts,
  type Schedule,
  type ScheduledFlags,
  scheduleKeys,
} from '@webloom/queue'
import { createSpider, isRedisSpider, type Spider, type SpiderClass, seedOptionsOf } from '@webloom/spider'
import { type CrawlBaseOptions, crawlBaseOf, spiderSettings } from '../assembly/crawl-base.ts'
import { shardsAsked } from '../assembly/store-settings.ts'
import type { LoadedConfig } from '../loading/config.ts'
import type { CrawlFlags } from '../loading/crawl-flags.ts'
import { TrialEnded } from '../processes/trial-process.ts'
import { VERSION } from '../version.ts'
import { MissedSchedules } from './missed-schedules.ts'
import { Refusals } from './refusals.ts'
import type { PlacedSpider, SchedulePlace } from './schedule-places.ts'
import { shownError } from './shown-error.ts'
import { UntoldRuns } from './untold-runs.ts'

export interface WantedCrawl {
  /** Tells it from all others. */
  readonly key: string
  readonly spider: string
  /** What its workers are started with, besides what this process was. */
  readonly flags: ScheduledFlags
  /** Its run, and what began that or has gone on with it: a refusal holds for the same alone. */
  readonly asked: string
}

const SCHEDULES_READ_EVERY_MS = 10_000
/** A look that takes longer goes on by itself, and what was found before holds meanwhile. */
const LOOK_MS_MAX = 1000
/** For so long a look waits for runs that are being begun. */
const BEGIN_MS = 500
/** Of one spider at one look; more are seen to at the next. */
const MAX_DUE_PER_LOOK = 100
export interface ProjectCrawlsOptions {
  readonly flags: Pick<CrawlFlags, 'set' | 'argument'>
  readonly config: LoadedConfig
  readonly logger: Logger
  /** Rejects with what would keep a worker of that spider, with these flags of a schedule, from its crawl. */
  readonly tries: (spider: PlacedSpider, flags: ScheduledFlags, asked: TriedCrawl) => Promise<void>
  /** The pause before people are told a second time, who could not be reached. */
  readonly toldAgainMs?: number
  /** For so long workers of other machines may join a run that one here has refused. */
  readonly othersJoinMs?: number
  /** A new schedule of another CRAWL_ID is known after so long, and one that is gone is missed. */
  readonly schedulesReadMs?: number
}

export class ProjectCrawls {
  readonly #options: ProjectCrawlsOptions
  readonly #spiders: SpiderCrawls[] = []

  constructor(options: ProjectCrawlsOptions) {
    this.#options = options
  }

  /** Sees to the crawls of a place whose servers are open, from the next look on. */
  async add(place: SchedulePlace): Promise<void> {
    const spiders = place.spiders.map((spider) => new SpiderCrawls(place, spider, this.#options))
    await Promise.all(spiders.map((one) => one.open()))
    this.#spiders.push(...spiders)
  }

  /**
   * Begins what is due; resolves to the crawls that want workers now. A server that is away holds up the crawls on it alone: of these it
   * tells what was true when the server was last heard.
   */
  async look(): Promise<WantedCrawl[]> {
    const looks = Promise.all(this.#spiders.map((one) => one.lookAgain()))
    await waitAtMost(LOOK_MS_MAX, looks)
    return this.#spiders.flatMap(({ wanted }) => wanted)
  }

  /** A worker here has refused that crawl: a run of a schedule that no other worker joins is ended, and people are told. */
  refused(crawl: WantedCrawl, why: string): void {
    for (const one of this.#spiders) one.refused(crawl, why)
  }

  async close(): Promise<void> {
    await Promise.all(this.#spiders.map((one) => one.close()))
  }
}

/** A crawl as flags ask for it. */
interface AskedCrawl {
  readonly spider: Spider
  readonly settings: Settings
}

/** A crawl whose spider has not been made with the flags of a schedule. */
export interface TriedCrawl {
  /** With those flags. */
  readonly base: CrawlBaseOptions
  /** Without them. */
  readonly settings: Settings
}

/** Those of one spider: there is one for each CRAWL_ID. */
class SpiderCrawls {
  readonly #place: SchedulePlace
  readonly #name: string
  readonly #Class: SpiderClass
  readonly #tries: ProjectCrawlsOptions['tries']
  readonly #config: LoadedConfig
  readonly #flags: Pick<CrawlFlags, 'set' | 'argument'>
  readonly #logger: Logger
  readonly #due: DueRuns
  readonly #missed: MissedSchedules
  readonly #untold: UntoldRuns
  /** As its crawl has it that has no schedule's settings. */
  readonly #own: AskedCrawl
  /** As their schedules have them, by the flags: made once, as authors' constructors may do anything. */
  #asked = new Map<string, AskedCrawl>()
  /** By the name of its queue. */
  #crawls: ReadonlyMap<string, CrawlName> = new Map()
  #readAt = Number.NEGATIVE_INFINITY
  #wanted: readonly WantedCrawl[] = []
  #looking: Promise<void> | undefined
  /** Goes on beside the looks: what an author's components do meanwhile holds up no crawl that goes on. */
  #beginning: Promise<void> | undefined
  #beginTrouble: { readonly error: unknown } | undefined
  #isAway = false
  readonly #schedulesReadMs: number
  readonly #refusals: Refusals

  constructor(place: SchedulePlace, spider: PlacedSpider, options: ProjectCrawlsOptions) {
    this.#place = place
    this.#name = spider.name
    this.#Class = spider.Class
    this.#tries = options.tries
    this.#config = options.config
    this.#flags = options.flags
    this.#logger = options.logger
    this.#schedulesReadMs = options.schedulesReadMs ?? SCHEDULES_READ_EVERY_MS
    this.#own = this.#with({})
    const { redis, prefixes } = place
    const keys = scheduleKeys({ spider: this.#name, crawlId: null, ...prefixes })
    const { logger, flags, config, toldAgainMs } = options
    this.#due = new DueRuns({ redis, keys, logger })
    this.#missed = new MissedSchedules(this.#due, logger)
    this.#refusals = new Refusals(redis, logger, options.othersJoinMs)
    const failing = { Class: this.#Class, flags, config, logger }
    this.#untold = new UntoldRuns({ ...failing, redis, keys, firstPauseMs: toldAgainMs })
  }

  open(): Promise<void> {
    return this.#due.open()
  }

  close(): Promise<void> {
    return this.#due.close()
  }

  /** What wants workers, by the last look that came to an end. */
  get wanted(): readonly WantedCrawl[] {
    return this.#wanted
  }

  /** Does nothing for a crawl of another spider. */
  refused({ key, asked }: WantedCrawl, why: string): void {
    const [, name] = [...this.#crawls].find(([queue]) => this.#keyOf(queue) === key) ?? []
    if (name) this.#refusals.add(name, asked, why)
  }

  #keyOf(queue: string): string {
    return JSON.stringify([this.#place.shown, this.#place.prefixes, queue])
  }

  /** Resolves when the look is over, or the one before it that is under way. Never rejects. */
  lookAgain(): Promise<void> {
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #lookNow(): Promise<void> {
    try {
      this.#wanted = await this.#look()
      if (this.#isAway) this.#logger.info(`which crawls of ${this.#name} want workers can be told again`)
      this.#isAway = false
    } catch (err) {
      if (!this.#isAway)
        this.#logger.warn(
          { err, redis: this.#place.shown },
          `which crawls of ${this.#name} want workers cannot be told now; it is asked again`,
        )
      this.#isAway = true
    }
  }

  async #look(): Promise<WantedCrawl[]> {
    await this.#beginDueMeanwhile()
    await this.#readSchedules()
    await this.#refusals.end()
    this.#untold.tellMeanwhile()
    const { redis } = this.#place
    const looks = [...this.#crawls].map(async ([queue, name]) => {
      const { isWanted, flags, asked } = await crawlWanted(redis, crawlRedisKeys(name))
      const key = this.#keyOf(queue)
      return isWanted || (name.crawlId === this.#ownName().crawlId && (await this.#hasSeeds()))
        ? [{ key, spider: this.#name, flags, asked }]
        : []
    })
    return (await Promise.all(looks)).flat()
  }

  /** Waits a moment for it, as it mostly takes no longer. Rejects with what it has failed with, now or since the last look. */
  async #beginDueMeanwhile(): Promise<void> {
    this.#beginning ??= this.#beginDue()
      .catch((error: unknown) => {
        this.#beginTrouble = { error }
      })
      .finally(() => {
        this.#beginning = undefined
      })
    await waitAtMost(BEGIN_MS, this.#beginning)
    const trouble = this.#beginTrouble
    this.#beginTrouble = undefined
    if (trouble) throw trouble.error
  }

  async #beginDue(): Promise<void> {
    for (let n = 0; n < MAX_DUE_PER_LOOK; n++) {
      const due = await this.#due.take()
      if (!due) return
      await this.#begin(due)
    }
  }

  async #begin(due: DueRun): Promise<void> {
    const { name } = due.schedule
    const logger = this.#logger
    let begun: BegunRun
    try {
      begun = await due.during(() => this.#begun(due))
    } catch (error) {
      // It is taken again, by whoever asks when its lock has ended.
      if (error instanceof TrialEnded || storeTrouble(redisError(error))) throw error
      const err = shownError(error)
      logger.error({ schedule: name, err }, `a run of ${this.#name} was due, and could not be begun`)
      await due.settled('failed', { why: err.message })
      return this.#untold.tellMeanwhile()
    }
    // What fails from here on does not undo what is begun: when the run is taken again, its record knows the fire.
    const { outcome, run } = begun
    await due.settled(outcome, outcome === 'going' ? { why: 'the run before had not ended' } : { run })
  }

  async #begun({ schedule: { name, flags }, fire }: DueRun): Promise<BegunRun> {
    const logger = this.#logger
    // A run that all its workers refuse would go on for ever, and nobody be told. A constructor that does not end ends the trial, and not us.
    const { settings: own } = this.#own
    await this.#tries({ name: this.#name, Class: this.#Class }, flags, {
      base: this.#baseOf(flags),
      settings: own,
    })
    const { settings } = this.#with(flags)
    const crawl = crawlNameOf(settings, this.#name)
    const keys = crawlRedisKeys(crawl)
    // Before it begins: whoever is killed behind that leaves a run that others find, though its schedule is gone by then.
    const statsKey = crawlKey(settings.getString('STATS_KEY'), crawl)
    await noteCrawl(this.#place.redis, { ...crawl, statsKey, release: VERSION })
    const begun = await beginRun({
      ...{ redis: this.#place.redis, keys, fire, schedule: name, flags },
      persists: persistsOf(settings),
      flushes: settings.getBool('SCHEDULER_FLUSH_ON_START'),
      shards: shardsAsked(settings),
      mode: settings.get('QUEUE_MODE'),
    })
    this.#readAt = Number.NEGATIVE_INFINITY
    const { outcome } = begun
    if (outcome === 'going')
      logger.warn(
        { schedule: name },
        `a run of ${crawlShown(keys)} was due, and none is begun: the one before has not ended`,
      )
    else if (outcome !== 'done') logger.info({ schedule: name }, `${OUTCOMES[outcome]} ${crawlShown(keys)}`)
    return begun
  }

  async #readSchedules(): Promise<void> {
    if (performance.now() - this.#readAt < this.#schedulesReadMs) return
    const schedules = await this.#due.schedules()
    await this.#missed.see(schedules)
    const kept = schedules.map(({ flags }) => JSON.stringify(flags))
    this.#asked = new Map([...this.#asked].filter(([flags]) => kept.includes(flags)))
    const names = schedules.flatMap((schedule) => {
      try {
        return [this.#nameBy(schedule)]
      } catch {
        // Whoever begins a run of it is told.
        return []
      }
    })
    const all = [this.#ownName(), ...names, ...(await this.#goingOn())]
    this.#crawls = new Map(all.map((name) => [crawlRedisKeys(name).queueName, name]))
    this.#readAt = performance.now()
  }

  /** An author's constructor may do anything with arguments: it is called here with those of a schedule when a trial has outlived them. */
  #nameBy({ flags, crawlId }: Schedule): CrawlName {
    const isHarmless = !flags.argument?.length || this.#asked.has(JSON.stringify(flags))
    return isHarmless ? crawlNameOf(this.#with(flags).settings, this.#name) : { ...this.#ownName(), crawlId }
  }

  /** Crawls that a schedule has begun, though it may be gone by now, or name another CRAWL_ID. */
  async #goingOn(): Promise<CrawlName[]> {
    const { redis, prefixes } = this.#place
    const known = (await readCrawls(redis, prefixes)).filter(({ spider }) => spider === this.#name)
    const looks = await Promise.all(known.map((name) => crawlWanted(redis, crawlRedisKeys(name))))
    return known.filter((_name, n) => looks[n]!.isWanted && looks[n]!.isScheduled)
  }

  #ownName(): CrawlName {
    return crawlNameOf(this.#own.settings, this.#name)
  }

  async #hasSeeds(): Promise<boolean> {
    const { spider, settings } = this.#own
    if (!isRedisSpider(spider)) return false
    const seeds = this.#place.servers.connection('seeds')
    if (!seeds) return false
    const { waiting, inWork } = await readSeedCounts(seeds, seedOptionsOf(spider, settings).key)
    return waiting + inWork > 0
  }

  /** The spider and its settings, with those of a schedule. */
  #with(flags: ScheduledFlags): AskedCrawl {
    const key = JSON.stringify(flags)
    const known = this.#asked.get(key)
    if (known) return known
    const made = this.#make(flags)
    this.#asked.set(key, made)
    return made
  }

  #make(flags: ScheduledFlags): AskedCrawl {
    const base = this.#baseOf(flags)
    const spider = createSpider(this.#Class, base.args)
    return { spider, settings: spiderSettings(spider, base) }
  }

  #baseOf(flags: ScheduledFlags): CrawlBaseOptions {
    const all = {
      ...flags,
      set: [...(this.#flags.set ?? []), ...(flags.set ?? [])],
      argument: [...(this.#flags.argument ?? []), ...(flags.argument ?? [])],
    }
    return crawlBaseOf(all, this.#config)
  }
}

const OUTCOMES = { begun: 'begun by its schedule: a run of', resumed: 'goes on by its schedule:' } as const
