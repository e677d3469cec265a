/** The desk of a crawl in this process that nobody shares: `webloom crawl --dash`. It begins when it is made, and ends with the process. */

import { hostname } from 'node:os'
import {
  type CrawlDesk,
  type CrawlDesks,
  type CrawlState,
  type CrawlStatus,
  type CrawlSummary,
  type FailedFilter,
  type FailedRequest,
  type FailedRetried,
  type FailuresSeen,
  type FilterSeen,
  type HistorySample,
  type HostChange,
  type HostsSeen,
  type ItemsSeen,
  type KnownSeen,
  type OneHostSeen,
  type QueueHeld,
  type ResponseSnapshot,
  type RunSeen,
  type SettingSeen,
  type SlotNow,
  settingsTold,
  totalsOf,
  UsageError,
  type WorkerSeen,
} from '@webloom/core'
import { dropFailed, leastTimeMs, openLoadMeter, paceOf, retryFailed } from '@webloom/queue'
import type { Crawl } from '../../assembly/crawl.ts'
import { VERSION } from '../../version.ts'
import { limitOf } from '../crawl-limit.ts'
import { filterSeen, knownSeen } from '../desk-filter.ts'
import { paced, type SetBy } from '../hosts/paces.ts'
import { answersOf, delayFrom, listsOf } from '../hosts/read-one-host.ts'
import { ledgerFilter, readFailed, readFailures, readResponse } from '../read-failures.ts'
import { fieldsOf } from '../read-items.ts'
import { settingsSeen } from '../settings-seen.ts'
import { timeLeftOf } from '../time-left.ts'
import { ProcessHostOrders } from './process-host-orders.ts'

const SERVER = 'this process'
const SAMPLE_EVERY_MS = 10_000
/** A day of them. */
const SAMPLES_MAX = 8640
const ITEMS_MAX = 5
const ITEM_CHARS_MAX = 4000

/** Hosts that are counted and looked at. */
const HELD_MAX = 1000
const NOTHING_NOW: SlotNow = { waiting: 0, delayed: 0, leased: 0, nextInMs: 0, delayMs: 0, failures: 0 }

export class ProcessCrawlDesk implements CrawlDesk, CrawlDesks {
  readonly id: string
  readonly spider: string
  readonly crawlId: string | null
  readonly server = SERVER
  readonly #crawl: Crawl
  readonly #begunAt = new Date()
  readonly #samples: HistorySample[] = []
  readonly #items: { readonly at: string; readonly json: string }[] = []
  readonly #sampling: NodeJS.Timeout
  readonly #orders = new ProcessHostOrders()
  readonly #load = openLoadMeter()
  #loadSeen = { cpuCores: 0, loopLagMs: 0 }
  #isPaused = false

  constructor(crawl: Crawl) {
    this.#crawl = crawl
    this.spider = crawl.spider.name
    this.crawlId = crawl.settings.get('CRAWL_ID')
    this.id = encodeURIComponent(this.spider)
    crawl.inside.signals.connect('itemScraped', ({ item }) => this.#keepItem(item))
    this.#sampling = setInterval(() => void this.#sample().catch(() => {}), SAMPLE_EVERY_MS).unref()
    void this.#sample().catch(() => {})
  }

  async status(): Promise<CrawlStatus> {
    const { settings, stats, inside } = this.#crawl
    const counts = await inside.store.queue.counts()
    const worker = this.#worker()
    const finishReason = stats.get('finish_reason')
    const hasEnded = this.#hasEnded
    const figures = {
      state: this.#state(),
      paused: this.#isPaused,
      flushing: false,
      run: null,
      begunAt: this.#begunAt.toISOString(),
      endedAt: hasEnded ? String(stats.get('finish_time')) : null,
      finishReason: hasEnded ? String(finishReason) : null,
      start: {
        cursor: Number(stats.get('start/yielded_count') ?? 0),
        ended: inside.engine.startHasEnded,
        worker: worker.id,
      },
      workers: [worker],
      pagesPerMinute: worker.pagesPerMinute,
      itemsPerMinute: worker.itemsPerMinute,
      errorsPerMinute: worker.errorsPerMinute,
      shards: 1,
      silentShards: [],
      counts,
      done: null,
      stats: stats.snapshot(),
      statsLack: false,
      readAt: new Date().toISOString(),
      seeds: null,
      itemsQueued: null,
      servers: [],
      highWater: 0,
    }
    const bounds = {
      concurrency: settings.getInt('CONCURRENT_REQUESTS'),
      startLowWater: settings.getInt('START_LOW_WATER'),
      spider: this.spider,
    }
    return {
      crawl: `{${this.id}}`,
      mode: 'turns',
      ...figures,
      limit: limitOf(figures, bounds),
      timeLeft: timeLeftOf(figures),
    }
  }

  async hosts(): Promise<HostsSeen> {
    return { mode: 'turns', lists: this.#crawl.inside.hostLists.now(), readAt: new Date().toISOString() }
  }

  async host(name: string): Promise<OneHostSeen> {
    const { lists, readAt } = await this.hosts()
    const own = listsOf(lists, name)
    const { settings, inside } = this.#crawl
    const orders = this.#orders.now()
    const order = orders.get(name)
    const now = inside.store.queue.slotNow?.(name) ?? NOTHING_NOW
    const setBy: SetBy = (setting) => settings.source(setting) ?? 'default'
    const paces = { settings, orders, pace: paceOf(settings), setBy }
    const [paused] = own.paused
    const slot = {
      ...paced({ slot: name, ...now }, paces),
      pausedMs: Math.max(0, (paused?.untilMs ?? 0) - Date.parse(readAt)),
      ...(paused && { pauseReason: paused.reason }),
      state:
        now.waiting === 0 ? ('none' as const) : now.nextInMs > 0 ? ('later' as const) : ('held' as const),
      lanes: 0,
      holders: now.waiting + now.leased > 0 ? [inside.store.workerId] : [],
    }
    return {
      host: name,
      slot,
      delayFrom: delayFrom(slot, paces),
      isBoosted: order?.isBoosted === true,
      lists: own,
      ...answersOf(lists, name),
      sample: null,
      readAt,
    }
  }

  filter(): Promise<FilterSeen> {
    return filterSeen(this.#crawl.inside.store.filter, this.#crawl.settings)
  }

  isKnown(url: string): Promise<KnownSeen> {
    return knownSeen(this.#crawl.inside.store.filter, this.#crawl.settings, url)
  }

  async items(): Promise<ItemsSeen> {
    const { stats } = this.#crawl
    return {
      count: Number(stats.get('item_scraped_count') ?? 0),
      perMinute: this.#rates().items,
      fields: fieldsOf(stats.snapshot()),
      last: this.#items.toReversed(),
    }
  }

  async runs(): Promise<readonly RunSeen[]> {
    const look = await this.#crawl.inside.store.runLog.look()
    return look ? [look.run, ...look.past] : []
  }

  async settings(): Promise<readonly SettingSeen[]> {
    return settingsSeen({ seedKey: null, settings: settingsTold(this.#crawl.settings) })
  }

  failures(): Promise<FailuresSeen> {
    return readFailures(this.#crawl.inside.store.queue.failures)
  }

  failed(filter: FailedFilter, max: number): Promise<readonly FailedRequest[]> {
    return readFailed(this.#crawl.inside.store.queue.failures, filter, max)
  }

  failedResponse(signature: string): Promise<ResponseSnapshot | undefined> {
    return readResponse(this.#crawl.inside.store.queue.failures, signature)
  }

  async history(sinceMs: number): Promise<readonly HistorySample[]> {
    return this.#samples.filter(({ atMs }) => atMs >= sinceMs)
  }

  async pause(): Promise<boolean> {
    if (this.#hasEnded) return false
    this.#isPaused = true
    this.#crawl.inside.engine.pause()
    return true
  }

  async resume(): Promise<boolean> {
    if (this.#hasEnded) return false
    this.#isPaused = false
    this.#crawl.inside.engine.resume()
    return true
  }

  async stop(reason = 'stopped'): Promise<boolean> {
    if (this.#hasEnded) return this.#state() === 'stopped'
    this.#crawl.stop(reason)
    return true
  }

  async setHost(name: string, change: HostChange): Promise<void> {
    this.#orders.change(name, change)
    await this.#crawl.inside.store.queue.steer(this.#orders.now())
  }

  async retryFailed(filter: FailedFilter): Promise<FailedRetried> {
    this.#refuseWhenEnded()
    const { failures } = this.#crawl.inside.store.queue
    const { queued, unreadable } = await retryFailed(failures, ledgerFilter(filter), {
      reopen: async () => {},
    })
    return { queued: queued.length, unreadable: unreadable.length }
  }

  async dropFailed(filter: FailedFilter): Promise<number> {
    return (await dropFailed(this.#crawl.inside.store.queue.failures, ledgerFilter(filter))).length
  }

  get #hasEnded(): boolean {
    return this.#crawl.stats.get('finish_reason') !== undefined
  }

  #state(): CrawlState {
    if (!this.#hasEnded) return 'running'
    return this.#crawl.stats.get('finish_reason') === 'finished' ? 'finished' : 'stopped'
  }

  #refuseWhenEnded(): void {
    if (!this.#hasEnded) return
    throw new UsageError('WL_USAGE', 'the crawl has ended, and a crawl without Redis ends with its process')
  }

  async crawls(): Promise<readonly CrawlSummary[]> {
    const { id, spider, crawlId, server } = this
    const seen = await this.status()
    const { state, paused, begunAt, endedAt, finishReason, counts, pagesPerMinute, itemsPerMinute } = seen
    const run = { state, paused, begunAt, endedAt, finishReason, counts, pagesPerMinute, itemsPerMinute }
    const workers = { present: 1, lost: 0, blocked: 0 }
    return [{ id, spider, crawlId, server, ...run, workers, totals: totalsOf(seen.stats) }]
  }

  async desk(id: string): Promise<CrawlDesk | undefined> {
    return id === this.id ? this : undefined
  }

  async close(): Promise<void> {
    clearInterval(this.#sampling)
    this.#load.close()
  }

  #worker(): WorkerSeen {
    const { inside, stats, settings } = this.#crawl
    const { pages, items, errors } = totalsOf(stats.snapshot())
    const rates = this.#rates()
    const placesMax = settings.getInt('CONCURRENT_REQUESTS')
    return {
      id: inside.store.workerId,
      host: hostname(),
      pid: process.pid,
      startedAt: this.#begunAt.toISOString(),
      seenAt: new Date().toISOString(),
      lost: false,
      ...inside.engine.activity,
      waits: inside.store.waits?.() ?? '',
      ...this.#held(),
      pages,
      items,
      errors,
      pagesPerMinute: rates.pages,
      itemsPerMinute: rates.items,
      errorsPerMinute: rates.errors,
      busy: placesMax > 0 ? Math.min(1, inside.engine.activity.downloading / placesMax) : 0,
      blocked: false,
      release: VERSION,
      ...this.#loadSeen,
      rssBytes: process.memoryUsage.rss(),
    }
  }

  /** Since the sample before the last one: between ten and twenty seconds. */
  #rates(): { readonly pages: number; readonly items: number; readonly errors: number } {
    const now = totalsOf(this.#crawl.stats.snapshot())
    const before = this.#samples.at(-2) ?? this.#samples.at(-1)
    const passedMs = before ? Date.now() - before.atMs : 0
    const perMinute = (count: number, then = 0) =>
      passedMs > 0 ? Math.round(((count - then) * 60_000) / passedMs) : 0
    return {
      pages: perMinute(now.pages, before?.pages),
      items: perMinute(now.items, before?.items),
      errors: perMinute(now.errors, before?.errors),
    }
  }

  /** What is learned of hosts makes their delays longer, so it takes no less than this. */
  #held(): QueueHeld {
    const { settings, inside } = this.#crawl
    const [slots, paces, orders] = [
      inside.store.queue.mostQueued(HELD_MAX),
      paceOf(settings),
      this.#orders.now(),
    ]
    const lines = slots.map(({ slot, waiting }) => {
      const ordered = orders.get(slot)?.delayMs
      const pace = { ...paces(slot), ...(ordered !== undefined && { delayMs: ordered, randomize: false }) }
      return { host: slot, leastMs: leastTimeMs(pace, waiting) }
    })
    const [longest] = lines.sort((a, b) => b.leastMs - a.leastMs)
    return {
      heldHosts: slots.length,
      longestMs: longest?.leastMs ?? 0,
      longestHost: longest?.leastMs ? longest.host : '',
      suspects: 0,
    }
  }

  async #sample(): Promise<void> {
    const { stats, inside } = this.#crawl
    const { waiting, delayed, leased } = await inside.store.queue.counts()
    const { pages, items, errors } = totalsOf(stats.snapshot())
    const rates = this.#rates()
    this.#samples.push({
      atMs: Date.now(),
      pages,
      items,
      errors,
      waiting,
      delayed,
      leased,
      workers: 1,
      pagesPerMinute: rates.pages,
      itemsPerMinute: rates.items,
      errorsPerMinute: rates.errors,
    })
    if (this.#samples.length > SAMPLES_MAX) this.#samples.shift()
    // Of the moment before the first there is nothing to tell.
    if (this.#samples.length > 1) this.#loadSeen = this.#load.measured()
  }

  /** An item is kept as text at once: its spider may change it afterwards. */
  #keepItem(item: unknown): void {
    let json: string
    try {
      json = JSON.stringify(item) ?? String(item)
    } catch {
      json = 'an item that is not JSON'
    }
    this.#items.push({ at: new Date().toISOString(), json: json.slice(0, ITEM_CHARS_MAX) })
    if (this.#items.length > ITEMS_MAX) this.#items.shift()
  }
}
