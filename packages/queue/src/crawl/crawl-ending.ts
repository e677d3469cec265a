/**
 * What the workers of a crawl on Redis do when they come and when they leave, so that each crawl finds what it needs, and
 * nothing of another one. It owns whatever is emptied or tidied then; when that is owed, and that it is done once, is in
 * the record (crawl-todo.ts).
 */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type DupeFilter,
  type Logger,
  PROTOCOL_TIMES,
  type ProtocolTimes,
  type RequestQueue,
  silentLogger,
  withRedisCodes,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { OomSafeScript } from '../redis/oom-safe-script.ts'
import { untilTaken } from '../redis/until-taken.ts'
import { CRAWL_LOST } from './crawl-leaving.ts'
import { newRunId } from './crawl-run.ts'
import { doOwed, oweFilter, type Todo } from './crawl-todo.ts'
import type { RedisCrawlRecord } from './redis-crawl-record.ts'

export interface CrawlEndingOptions {
  /** The queue's Redis; opened and closed by whoever gives it. */
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  readonly workerId: string
  readonly record: Pick<RedisCrawlRecord, 'isFilterJoined' | 'noteFilter' | 'run' | 'runName'>
  readonly queue: Pick<RequestQueue, 'clear' | 'counts' | 'crawlEnded' | 'visits'>
  readonly filter: Pick<
    DupeFilter,
    'clear' | 'joined' | 'crawlEnded' | 'crawlLost' | 'crawlsBesides' | 'knowsLostCrawl' | 'place'
  >
  /** Returns the error of a worker whose filter is at another place than those of the workers at work. */
  readonly otherPlace?: () => Error
  /** Returns the error of a worker whose filter knows a crawl of this name that the queue has lost. `besides`: the queues of other crawls that use it. */
  readonly lostBefore?: (besides: readonly string[]) => Error
  /** Returns the error of a worker with a filter that knows such a crawl, while the run goes on with another filter: nothing is lost. */
  readonly leftBehind?: () => Error
  readonly startHosts: { clear(): Promise<void> }
  readonly pageForms: { clear(): Promise<void> }
  /** Of a crawl of several shards: tells those that are empty of its run. */
  readonly tellShards?: () => Promise<void>
  /** Deletes shards of the run before, when that had another number of them. */
  readonly clearFormerShards?: () => Promise<void>
  /** SCHEDULER_PERSIST, and so a new crawl knows what the last one has seen. */
  readonly persists?: boolean
  /** SCHEDULER_FLUSH_ON_START: it is to know nothing. */
  readonly flushes?: boolean
  /** RECRAWL: pages that are known are visited again, and its visits are what keeps them. */
  readonly comesBack?: boolean
  readonly logger?: Logger
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
}

const refusedScript = new OomSafeScript('members/refused.lua')

/** For so long a Redis that takes no writes is tried again by a worker that leaves; then it is the next worker's to do. */
const TIDY_AGAIN_MS_MAX = 5000

export class CrawlEnding {
  readonly #options: CrawlEndingOptions
  readonly #logger: Logger
  #filterPlace: string | undefined
  #waits: string | undefined

  constructor(options: CrawlEndingOptions) {
    this.#options = options
    this.#logger = options.logger ?? silentLogger
  }

  /**
   * Called when the record, the queue and the filter are open, before anything is queued. When `signal` fires while it waits, it resolves, and this
   * worker has not joined the filter.
   */
  async enter(signal?: AbortSignal): Promise<void> {
    try {
      await withRedisCodes(this.#enter(signal))
    } catch (error) {
      if (!signal?.aborted || error !== signal.reason) throw error
    } finally {
      this.#waits = undefined
    }
  }

  /** What it waits for as it enters, in words behind “it waits”. */
  get waits(): string | undefined {
    return this.#waits
  }

  async #enter(signal: AbortSignal | undefined): Promise<void> {
    const { record, filter, persists, comesBack } = this.#options
    let isWhole = false
    const act = async (todo: Todo) => {
      if (todo === 'queue' && persists) this.#logger.info(comesBack ? VISITS_STAY : MET_STAYS)
      // What is left in other shards than the home: that may yet get its data back.
      if (todo === 'shards' && persists) {
        if (await this.#isLeftOut(signal)) await this.#refuse()
        isWhole = true
      }
      await this.#do(todo)
    }
    const owed = () => doOwed({ ...this.#owed, act, isPatient: true })
    await owed()
    // It may take seconds to know.
    if (!isWhole) await this.#leaveNothingOut(owed, signal)
    await this.#refuseOtherPlace(signal)
    await filter.joined?.(await record.isFilterJoined())
    await record.noteFilter()
  }

  /** Where the filter keeps requests, as of the last look; looks again: it has another place when it has lost its data. */
  get filterPlace(): string | undefined {
    const kept = (place: string) => {
      if (this.#filterPlace !== undefined) this.#filterPlace = place
    }
    // A filter that is not open yet, or just emptied, must not be written to.
    if (this.#filterPlace !== undefined) this.#options.filter.place?.().then(kept, () => {})
    return this.#filterPlace
  }

  /** What a crawl had queued that is lost counts as seen. So the filter is emptied, or this worker refused. */
  async #leaveNothingOut(owed: () => Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
    const { redis, keys, record, persists, flushes } = this.#options
    if (!(await this.#isLeftOut(signal))) return
    // What a run that goes on has in another filter is no reason to empty this one.
    if ((!persists || flushes) && !(await record.isFilterJoined())) {
      this.#logger.warn(LOST_BEFORE)
      await oweFilter({ redis, keys }, record.run.id)
      await owed()
      // It stays where other crawls use it.
      if (!(await this.#isLeftOut(signal))) return
    }
    await this.#refuse()
  }

  async #isLeftOut(signal: AbortSignal | undefined): Promise<boolean> {
    const { record, filter } = this.#options
    if (await record.isFilterJoined(await filter.place?.())) return false
    this.#waits = 'until an earlier crawl of this name, of which its dupefilter knows, is known to be over'
    const isKnown = (await filter.knowsLostCrawl?.(signal)) ?? false
    this.#waits = undefined
    return isKnown
  }

  async #refuse(): Promise<void> {
    const { redis, keys, record, lostBefore, leftBehind, filter } = this.#options
    // The run is well, and is not to be told as lost, or cleared.
    if (leftBehind && (await record.isFilterJoined())) throw leftBehind()
    if (!lostBefore) return
    // Who looks at the crawl is told so, and not that somebody stopped it. A Redis that does not take that now has one line less.
    const noting = refusedScript.run(redis, [keys.record], [record.run.id, CRAWL_LOST])
    await noting.catch((err: unknown) =>
      this.#logger.debug({ err }, 'why this worker is refused could not be noted'),
    )
    throw lostBefore((await filter.crawlsBesides?.(keys.queueName, record.runName)) ?? [])
  }

  /** Called when the queue has lost this crawl. @param words for the log */
  lost(words: string): void {
    this.#logger.error(words)
    const failed = (err: unknown) => this.#logger.debug({ err }, 'the dupefilter could not be told of it')
    this.#options.filter.crawlLost?.().catch(failed)
  }

  async #refuseOtherPlace(signal: AbortSignal | undefined): Promise<void> {
    const { filter, otherPlace, times = PROTOCOL_TIMES } = this.#options
    const place = await filter.place?.()
    if (place === undefined || !otherPlace) return
    const worker = { ...this.#options, times, logger: this.#logger, ...(signal && { signal }) }
    this.#waits = 'for workers whose dupefilter has other data than its own, or for their end'
    if (!(await isFilterShared(place, worker))) throw otherPlace()
    this.#waits = undefined
    // Told before, it would let in another one that is wrong.
    this.#filterPlace = place
  }

  /** Called when this worker has left and the record has answered that something is owed; the filter is still open; the queue is closed, as what this worker held must not go back to an emptied one. */
  async tidy(): Promise<void> {
    const act = async (todo: Todo) => {
      if (todo !== 'owners' && todo !== 'filter') await this.#tellWhatGoes()
      await this.#do(todo)
    }
    const untilMs = performance.now() + TIDY_AGAIN_MS_MAX
    await untilTaken(() => withRedisCodes(doOwed({ ...this.#owed, act, leaves: true })), {
      isOver: () => performance.now() > untilMs,
      everyMs: (this.#options.times ?? PROTOCOL_TIMES).record.todoPollMs,
      logger: this.#logger,
    })
  }

  /** A crawl that was ended early, by a limit or by hand, has requests left that nobody else would tell of. */
  async #tellWhatGoes(): Promise<void> {
    const { waiting, delayed, leased } = await this.#options.queue.counts()
    const requests = waiting + delayed + leased
    if (requests > 0) this.#logger.warn({ requests }, LEFT_UNDONE)
  }

  get #owed() {
    const { redis, keys, workerId: worker, times } = this.#options
    return { redis, keys, worker, ...(times && { times }) }
  }

  async #do(todo: Todo): Promise<void> {
    const { queue, filter, startHosts, pageForms, tellShards, clearFormerShards } = this.#options
    this.#filterPlace = undefined
    if (todo === 'run') return tellShards?.()
    if (todo === 'shards') return queue.clear()
    if (todo === 'filter') return filter.clear()
    if (todo === 'owners') {
      await queue.crawlEnded?.()
      return filter.crawlEnded?.()
    }
    await startHosts.clear()
    await pageForms.clear()
    await clearFormerShards?.()
    await queue.clear()
    if (todo !== 'all') return
    await queue.visits?.clear()
    await filter.clear()
  }
}

const LEFT_UNDONE =
  'the crawl has ended early: the requests that still waited, and those that were seen, are deleted (SCHEDULER_PERSIST is false). The next crawl begins again from the start. With SCHEDULER_PERSIST=true it would go on where this one ended'

const LOST_BEFORE =
  'the dupefilter knows pages of an earlier crawl of this name that was not finished with it: the queue’s Redis has lost that crawl, or workers with another DUPEFILTER_REDIS_URL went on with it. It is emptied, unless other crawls use it, and the crawl begins from the start (SCHEDULER_PERSIST is false, or SCHEDULER_FLUSH_ON_START is true)'

const MET_STAYS =
  'a new crawl begins. Requests that the last one has seen are not fetched again (SCHEDULER_PERSIST). To fetch them, set SCHEDULER_FLUSH_ON_START=true or run webloom clear'

const VISITS_STAY =
  'a new run begins. Pages that are known are visited when they are due (RECRAWL), and not before. To have them visited now, run webloom refresh'

/*
 * Whether the workers fill one dupefilter. Its settings may name another Redis on one machine than on the others, and the record cannot tell: one
 * server has many names. So the filter itself tells its place (`DupeFilter.place`), each worker tells that with its heartbeats, and one that joins
 * compares.
 */

interface JoiningWorker {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  readonly workerId: string
  readonly times: ProtocolTimes
  readonly logger: Logger
  /** When it fires, the wait rejects with its reason. */
  readonly signal?: AbortSignal
}

const placeScript = new OomSafeScript('redis/now.lua', 'members/filter-place.lua')

/**
 * Resolves to true when a worker that is present has its filter at this place, or none of them tells; to false when all have other ones for longer
 * than this may pass: a killed worker looks present for a while, and those whose filter has lost its data read with their next heartbeat the place that this
 * worker has written there.
 */
export async function isFilterShared(place: string, worker: JoiningWorker): Promise<boolean> {
  const { redis, keys, workerId, times, logger, signal } = worker
  const { lostAfterMs, beatEveryMs } = times.members
  const isShared = async () =>
    (await placeScript.run(
      redis,
      [keys.record, keys.workers],
      [workerId, place, lostAfterMs, newRunId()],
    )) === 1
  const untilMs = performance.now() + lostAfterMs + beatEveryMs
  for (let looks = 0; performance.now() < untilMs; looks++) {
    if (await isShared()) return true
    if (looks === 0) logger.info(LOOKS_AGAIN)
    await sleep(times.record.todoPollMs, undefined, { ...(signal && { signal }) }).catch(() => {})
    signal?.throwIfAborted()
  }
  return isShared()
}

const LOOKS_AGAIN =
  'the dupefilter of this worker has other data than that of the workers at work. Perhaps its Redis has lost its data, or they are lost: looking again for some seconds'
