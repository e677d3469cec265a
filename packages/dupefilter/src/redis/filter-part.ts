/**
 * What a filter of several parts asks of each: whether it is that part, and what becomes of askers that have asked other parts.
 *
 * An asker may have asked this part before, on a worker that was lost, or before its queue went back. Nobody knows that but the part.
 * So it is told of each asker that is settled without having been told here of a new link; by its name alone, which hardly ever is one
 * that it knows.
 */

import { SettingsError, type ShardPart } from '@webloom/core'
import { type Claims, ELSEWHERE } from '../asking/claims.ts'
import type { RedisRun } from '../asking/redis-run.ts'
import type { SettlingLine } from '../asking/settling-line.ts'
import { type FilterKeys, filterKeys, hasAny, partKey } from './filter-keys.ts'
import type { Elsewhere, PartOfFilter } from './redis-dupefilter-options.ts'
import type { RedisConnection } from './redis-script.ts'

export interface FilterPartOptions extends PartPlace {
  /** Undefined: the whole filter. */
  readonly shard: ShardPart | undefined
  readonly claims: Claims
  readonly run: RedisRun
  readonly settling: SettlingLine
}

export class FilterPart implements PartOfFilter {
  readonly #options: FilterPartOptions

  constructor(options: FilterPartOptions) {
    this.#options = options
  }

  get shard(): ShardPart | undefined {
    return this.#options.shard
  }

  get key(): string {
    return this.#options.key
  }

  get text(): string | undefined {
    return this.shard && partText(this.shard)
  }

  async open(): Promise<void> {
    await this.refuseOther()
    if (this.text === undefined) return
    const { redis, keys } = this.#options
    await redis.hsetnx(keys.record, 'shard', this.text)
    await this.refuseOther()
  }

  async refuseOther(): Promise<void> {
    await refuseOtherPart(this.#options, this.#options.shard)
  }

  hasAsked(asker: string): boolean {
    return this.#options.claims.runOf(asker) !== undefined
  }

  hasTold(asker: string): boolean {
    return this.#options.claims.hasTold(asker)
  }

  settlingElsewhere(asker: string): Elsewhere {
    const { claims, run } = this.#options
    return claims.elsewhere(asker, run.current)
  }

  settledElsewhere(asker: string, elsewhere: Elsewhere): Promise<void> | undefined {
    const { claims, run, settling } = this.#options
    const own = this.hasAsked(asker) && { ...claims.settle(asker, run.current), attempt: ELSEWHERE }
    return settling.add(own || elsewhere)
  }
}

/** Returns the part as it is stored in field `shard` of the record. The record of a whole filter has no such field. */
function partText({ index, count }: ShardPart): string {
  return `${index}/${count}`
}

/** Where a part of a filter is looked for. */
interface PartPlace {
  readonly redis: RedisConnection
  readonly keys: FilterKeys
  /** SCHEDULER_DUPEFILTER_KEY: the main key of the whole filter. */
  readonly key: string
  /** The crawl as it is typed. */
  readonly typed: string
  /** Resolves to true when anything of the part is stored. */
  readonly exists: () => Promise<boolean>
}

/** Throws SettingsError when another part of a filter is stored than `wanted`, or a whole one. Writes nothing. */
async function refuseOtherPart(place: PartPlace, wanted: ShardPart | undefined): Promise<void> {
  const { redis, keys, exists } = place
  const own = wanted ? partText(wanted) : null
  let stored = await redis.hget(keys.record, 'shard')
  // Another worker may begin it just now: a part notes which one it is before anything else.
  if (stored === null && own !== null && (await exists()))
    stored = (await redis.hget(keys.record, 'shard')) ?? WHOLE
  if (stored === null) await refuseOtherLayout(place, wanted)
  else if (stored !== own) {
    throw wanted?.hasOwnKeys && stored !== WHOLE
      ? otherCount(place, countIn(stored), wanted.count)
      : otherServer(keys.main, stored, wanted)
  }
}

/** Of a filter that is there, and notes no part. */
const WHOLE = ''

/** A whole filter has other keys than one of several parts, so that neither would notice the other. */
async function refuseOtherLayout(place: PartPlace, wanted: ShardPart | undefined): Promise<void> {
  const { redis, key, exists } = place
  if (wanted?.hasOwnKeys) {
    const whole = filterKeys(key)
    if (wanted.index === 0 && (await hasAny(redis, [whole.main, whole.record])))
      throw otherCount(place, 1, wanted.count)
  } else if (!wanted) {
    const first = filterKeys(partKey(key, { index: 0, count: 2, hasOwnKeys: true }))
    const stored = await redis.hget(first.record, 'shard')
    if (stored !== null && !(await exists())) throw otherCount(place, countIn(stored), 1)
  }
}

function countIn(stored: string): number {
  return Number(stored.slice(stored.indexOf('/') + 1))
}

function otherCount({ key, typed }: PartPlace, begunWith: number, asked: number): SettingsError {
  const origin =
    begunWith === 1
      ? 'in one part, by a crawl without this setting or by a Python crawler'
      : `with ${begunWith}`
  return new SettingsError([
    `DUPEFILTER_SHARDS is ${asked}, and the dupefilter ${key} was begun ${origin}: its requests lie where that number says. Go on with -s DUPEFILTER_SHARDS=${begunWith}, or empty it first: webloom clear ${typed} -s DUPEFILTER_SHARDS=${begunWith}, or choose another SCHEDULER_DUPEFILTER_KEY`,
  ])
}

function otherServer(key: string, stored: string, wanted: ShardPart | undefined): SettingsError {
  const place = wanted ? `server ${wanted.index + 1} of the ${wanted.count}` : 'the only server'
  return new SettingsError([
    `${place} in DUPEFILTER_REDIS_URL has ${shown(stored)} of the filter ${key}. The list must name the same servers in the same order as when the filter was begun, each once: set it back, or clear the filter with the list that it was begun with, or choose another SCHEDULER_DUPEFILTER_KEY`,
  ])
}

function shown(stored: string): string {
  const [index, count] = stored.split('/')
  return stored === WHOLE ? 'all' : `part ${Number(index) + 1} of ${count}`
}
