/**
 * What all workers of a crawl have counted: one hash on the queue's Redis (STATS_KEY).
 *
 *     <worker>|<stat>   what one worker has counted since it started, as it says
 *     total|<stat>      of all workers, those included that have left
 *     <stat>            the same once more, where scrapy-redis's RedisStatsCollector looks for it
 *     before|<stat>     the total when the crawl was resumed: limits like CLOSESPIDER_PAGECOUNT count from there
 *     beat|<worker>     number of the worker's last write
 *     untold|workers    there when a worker has left or died that may not have told all
 *     begunAt, runningSince   which run this is of, and since when it is resumed
 *
 * A worker writes absolute values, and the script adds the difference to what it wrote before: a write that is sent twice
 * adds nothing the second time, and one that comes late, behind a newer one, is passed over. So a total is one field to
 * read, and a worker that has left or died takes nothing with it when its own fields are deleted.
 *
 * A worker whose fields are gone while it lives (it stood still for minutes, or somebody deleted the hash) is refused and
 * goes on under another name, `<worker>#2`, with what it counts from then on. After a Redis has lost its last second the
 * numbers of the writes have a gap, and the worker writes all it has.
 *
 * The hash has a key of its own for whoever knows scrapy-redis, in another slot than the queue; so this is a script of its
 * own, sent together with a heartbeat.
 */

import type { StatsCollector, StatValue } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRun } from '../crawl/crawl-run.ts'
import { luaScript } from '../redis/lua.ts'
import { mergingOf } from './stats-merging.ts'

/** At most this many changed values are written at once; others wait for the next write. */
const MAX_STATS_PER_WRITE = 500

/** Bounds the last writes, as the script refuses a worker whose run is over each time. */
const END_WRITES_MAX = 100

/** Not a worker's field: its first word holds no colon. */
const UNTOLD = 'untold|workers'

const REFUSED = 0
const WRITTEN_AFTER_A_GAP = 2

const writeScript = luaScript('members/totals.lua', 'members/stats.lua')

/** The stats of all workers of a crawl: over its whole time, and since it was begun, resumed or woken last. */
export interface WholeTotals {
  readonly all: Readonly<Record<string, StatValue>>
  readonly sinceResumed: Readonly<Record<string, StatValue>>
}

export interface CrawlStatsOptions {
  readonly redis: Redis
  readonly statsKey: string
  readonly workerId: string
  /** This worker's own. */
  readonly stats: Pick<StatsCollector, 'snapshot'>
}

/** The stats of one worker, as a part of the crawl's. */
export class CrawlStats {
  readonly #redis: Redis
  readonly #key: string
  readonly #workerId: string
  readonly #stats: Pick<StatsCollector, 'snapshot'>
  #names = 1
  #beat = 0
  /** The values that Redis has under the present name, counted since the worker started. */
  #written = new Map<string, StatValue>()
  /** The values that were written under earlier names. */
  #before = new Map<string, number>()
  /** Sums over all workers, of the keys that `ofOthers` was asked for. */
  readonly #totals = new Map<string, number>()

  constructor({ redis, statsKey, workerId, stats }: CrawlStatsOptions) {
    this.#redis = redis
    this.#key = statsKey
    this.#workerId = workerId
    this.#stats = stats
  }

  /** True when `ofOthers` was called: then stats are exchanged more often. */
  get isAsked(): boolean {
    return this.#totals.size > 0
  }

  /** Returns the sum over the other workers; 0 until the first write after a key was first asked for. */
  ofOthers(key: string): number {
    const total = this.#totals.get(key)
    if (total === undefined) this.#totals.set(key, 0)
    return Math.max(0, (total ?? 0) - Number(this.#written.get(key) ?? 0))
  }

  /** Writes the values that have changed. The first write under a name holds none, so that a late copy of it adds nothing. */
  async write(run: CrawlRun): Promise<void> {
    const changed = this.#beat === 0 ? [] : this.#changed().slice(0, MAX_STATS_PER_WRITE)
    const asked = [...this.#totals.keys()]
    this.#beat++
    const [outcome, ...totals] = (await writeScript.run(
      this.#redis,
      [this.#key],
      [
        JSON.stringify({
          name: this.#name,
          beat: this.#beat,
          begunAt: String(run.begunAt),
          runningSince: String(run.runningSince),
          stats: changed.map(([key, value]) => [key, mergingOf(key, value), this.#ownText(key, value)]),
          asked,
        }),
      ],
    )) as [number, ...string[]]
    if (outcome === REFUSED) return this.#rename()
    if (outcome === WRITTEN_AFTER_A_GAP) this.#written.clear()
    for (const [key, value] of changed) this.#written.set(key, value)
    for (const [n, key] of asked.entries()) this.#totals.set(key, Number(totals[n]))
  }

  /**
   * Writes all values that are not written yet, then deletes this worker's own fields; the totals keep them.
   *
   * @param asked keys of which `ofOthers` knows the latest afterwards
   */
  async end(run: CrawlRun, asked: readonly string[] = []): Promise<void> {
    for (const key of asked) this.ofOthers(key)
    // If the script refuses the name, nothing was written; the next write has another name.
    let writes = 0
    do {
      await this.write(run)
      writes++
    } while (writes < END_WRITES_MAX && (this.#beat === 0 || this.#changed().length > 0))
    await this.#forget((name) => name === this.#name)
  }

  /** Deletes the fields of workers that are gone. */
  async forgetAllBut(workerIds: readonly string[]): Promise<void> {
    const there = new Set(workerIds)
    const forgotten = await this.#forget((name) => !there.has(name.replace(/#\d+$/, '')))
    if (forgotten) await this.#redis.hset(this.#key, UNTOLD, '1')
  }

  get #name(): string {
    return this.#names === 1 ? this.#workerId : `${this.#workerId}#${this.#names}`
  }

  #changed(): [string, StatValue][] {
    return Object.entries(this.#stats.snapshot()).filter(
      ([key, value]) => value !== null && this.#written.get(key) !== value,
    )
  }

  #ownText(key: string, value: StatValue): string {
    if (typeof value !== 'number' || mergingOf(key, value) !== 'sum') return String(value)
    return String(value - (this.#before.get(key) ?? 0))
  }

  /** Takes a new name: all values that were written stay in the totals. */
  #rename(): void {
    for (const [key, value] of this.#written) if (typeof value === 'number') this.#before.set(key, value)
    this.#written = new Map()
    this.#names++
    this.#beat = 0
  }

  /** True when there was something to forget. */
  async #forget(isMeant: (name: string) => boolean): Promise<boolean> {
    const fields = (await this.#redis.hkeys(this.#key)).filter((field) => {
      const name = nameIn(field)
      return name !== undefined && isMeant(name)
    })
    if (fields.length > 0) await this.#redis.hdel(this.#key, ...fields)
    return fields.length > 0
  }
}

/** The totals of a crawl, and whether one of its workers may not have told all. */
export interface ToldTotals {
  /** Keys sorted; none when the hash is of another run. */
  readonly totals: Readonly<Record<string, StatValue>>
  readonly isUntold: boolean
}

export async function readTold(redis: Redis, statsKey: string, begunAt: Date | null): Promise<ToldTotals> {
  const hash = begunAt ? await redis.hgetall(statsKey) : {}
  if (hash.begunAt !== String(begunAt?.getTime())) return { totals: {}, isUntold: false }
  return { totals: totalsIn(hash), isUntold: UNTOLD in hash }
}

/**
 * Resolves to the totals of a crawl that has no workers any more; undefined while one of them may not have told all: it
 * is there, could not write its last stats, or was killed.
 */
export async function readWholeTotals(
  redis: Redis,
  statsKey: string,
  begunAt: number,
): Promise<WholeTotals | undefined> {
  const hash = await redis.hgetall(statsKey)
  const isWhole = !(UNTOLD in hash) && Object.keys(hash).every((field) => nameIn(field) === undefined)
  return isWhole && hash.begunAt === String(begunAt)
    ? { all: totalsIn(hash), sinceResumed: sinceResumedIn(hash) }
    : undefined
}

/** Returns how much of what is counted was counted since the crawl was begun, resumed or woken last. */
function sinceResumedIn(hash: Readonly<Record<string, string>>): Record<string, StatValue> {
  const since = Object.entries(totalsIn(hash)).map(([key, total]) => {
    const before = Number(hash[`before|${key}`] ?? 0)
    return [key, typeof total === 'number' && Number.isFinite(before) ? total - before : total] as const
  })
  return Object.fromEntries(since)
}

function totalsIn(hash: Readonly<Record<string, string>>): Record<string, StatValue> {
  const totals = Object.entries(hash).filter(([field]) => field.startsWith('total|'))
  return Object.fromEntries(
    totals.map(([field, text]) => [field.slice('total|'.length), statOf(text)] as const).sort(byKey),
  )
}

/** Returns the worker's name in `<worker>|<stat>` and `beat|<worker>`; worker ids hold colons, which the words in their place do not. */
function nameIn(field: string): string | undefined {
  if (!field.includes('|')) return undefined
  const [head, tail] = [field.slice(0, field.indexOf('|')), field.slice(field.indexOf('|') + 1)]
  if (head === 'beat') return tail
  return head.includes(':') ? head : undefined
}

function statOf(text: string): StatValue {
  if (text === 'true' || text === 'false') return text === 'true'
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}

function byKey([a]: readonly [string, StatValue], [b]: readonly [string, StatValue]): number {
  return a < b ? -1 : 1
}
