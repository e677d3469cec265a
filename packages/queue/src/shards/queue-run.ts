/**
 * In which run its servers have the queue of a crawl, and whether they could come back without what they took some seconds ago.
 *
 * A master that is cut off from its replicas takes writes for a while, and nobody has these. It answers what reads for longer: until a replica
 * takes its place, by default 15 s later in a cluster and 30 s later with Sentinels. So that the same run still answers says
 * nothing; that a replica has been heard of does.
 */

import { hash } from 'node:crypto'
import { infoOf, serverOfSlot, WebloomError, withDeadline } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { slotOf } from '../redis/key-slot.ts'
import { CrawlShards } from './crawl-shards.ts'

/** Longer than a silent connection takes to be noticed, and to be made anew. */
const ANSWER_MS_MAX = 10_000
/** A replica says once a second how far it is. INFO tells since when it has not, in whole seconds, so that this is two seconds at most. */
const NEAR_S = 1
/**
 * So long a master is not believed to have no replicas when it had some: theirs may be the side that has another master already. It is
 * told so by Sentinels some 20 s after it can be reached again, and loses its replicas as soon as it can.
 */
const REPLICAS_GONE_MS = 60_000

export interface QueueRunOptions {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  /** How many the crawl has. Default: 1. */
  readonly shards?: number
  readonly replicasGoneMs?: number
}

export class QueueRun {
  readonly #redis: Redis
  /** One of each slot that the queue has. */
  readonly #keys: readonly string[]

  /** When a server last had replicas, by its run. */
  readonly #hadReplicasAt = new Map<string, number>()
  readonly #replicasGoneMs: number

  constructor({ redis, keys, shards = 1, replicasGoneMs = REPLICAS_GONE_MS }: QueueRunOptions) {
    this.#replicasGoneMs = replicasGoneMs
    this.#redis = redis
    this.#keys = new CrawlShards(keys, shards).parts.map(({ record }) => record)
  }

  /** Another one after each start of a server that has a part of the queue. Rejects with WL_REDIS_AWAY when one does not answer: it is asked again. */
  async id(): Promise<string> {
    return this.#idIn(await this.#ask('server'))
  }

  /**
   * The same, while no server can lose what it had taken three seconds ago. Rejects with WL_REDIS_AWAY while none of a server's replicas is
   * near. A server that has had no replicas for a minute has nobody who takes its place.
   */
  async keptId(): Promise<string> {
    const infos = await this.#ask('server', 'replication')
    if (!infos.map((info) => this.#isKept(info)).every(Boolean))
      throw new WebloomError('WL_REDIS_AWAY', 'no replica of the queue’s Redis is near')
    return this.#idIn(infos)
  }

  #isKept(info: string): boolean {
    const run = runOf(info)
    const now = performance.now()
    for (const [known, at] of this.#hadReplicasAt)
      if (now - at > this.#replicasGoneMs) this.#hadReplicasAt.delete(known)
    if (replicasOf(info).length > 0) this.#hadReplicasAt.set(run, now)
    else if (this.#hadReplicasAt.has(run)) return false
    return hasNearReplica(info)
  }

  #idIn(infos: readonly string[]): string {
    // Until it is known which slots a server has, it is asked by several keys.
    const ids = new Set(infos.map(runOf))
    return this.#keys.length === 1 ? [...ids][0]! : hash('sha1', [...ids].sort().join(' '))
  }

  /** Asks each server by a key: one that has lost its cluster would answer without. */
  #ask(...sections: string[]): Promise<string[]> {
    const keys = new Map(this.#keys.map((key) => [serverOfSlot(this.#redis, slotOf(key)), key]))
    const late = () =>
      new WebloomError('WL_REDIS_AWAY', `the queue’s Redis has not told its run for ${ANSWER_MS_MAX} ms`)
    const infos = [...keys.values()].map((key) => infoOf(this.#redis, key, ...sections))
    return withDeadline(ANSWER_MS_MAX, Promise.all(infos), late)
  }
}

function runOf(info: string): string {
  return /^run_id:(\S+)/m.exec(info)?.[1] ?? '-'
}

/** Those that follow, each with its offset and since when it is silent. */
function replicasOf(info: string): RegExpExecArray[] {
  return [...info.matchAll(/^slave\d+:.*state=online,offset=(\d+),lag=(\d+)/gm)]
}

/** @param info a server's, of its replication */
function hasNearReplica(info: string): boolean {
  // An old master that was found again; and one that takes no writes for want of replicas.
  if (/^(role:slave|min_slaves_good_slaves:0)/m.test(info)) return false
  const replicas = replicasOf(info)
  // Of one that has only just come back no offset is known.
  return (
    replicas.length === 0 || replicas.some(([, offset, lag]) => Number(offset) > 0 && Number(lag) <= NEAR_S)
  )
}
