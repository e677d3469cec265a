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

export class QueueRun {
  readonly #redis: Redis
  /** One of each slot that the queue has. */
  readonly #keys: readonly string[]

  /** @param shards how many the crawl has */
  constructor({ redis, keys, shards = 1 }: { redis: Redis; keys: CrawlRedisKeys; shards?: number }) {
    this.#redis = redis
    this.#keys = new CrawlShards(keys, shards).parts.map(({ record }) => record)
  }

  /** Another one after each start of a server that has a part of the queue. Rejects with WL_REDIS_AWAY when one does not answer: it is asked again. */
  async id(): Promise<string> {
    return this.#idIn(await this.#ask('server'))
  }

  /**
   * The same, while no server can lose what it had taken three seconds ago. Rejects with WL_REDIS_AWAY while none of a server's replicas is
   * near. A server without replicas has nobody who takes its place.
   */
  async keptId(): Promise<string> {
    const infos = await this.#ask('server', 'replication')
    if (!infos.every(hasNearReplica))
      throw new WebloomError('WL_REDIS_AWAY', 'no replica of the queue’s Redis is near')
    return this.#idIn(infos)
  }

  #idIn(infos: readonly string[]): string {
    // Until it is known which slots a server has, it is asked by several keys.
    const ids = new Set(infos.map((info) => /^run_id:(\S+)/m.exec(info)?.[1] ?? '-'))
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

/** @param info a server's, of its replication */
export function hasNearReplica(info: string): boolean {
  // An old master that was found again; and one that takes no writes for want of replicas.
  if (/^(role:slave|min_slaves_good_slaves:0)/m.test(info)) return false
  const replicas = [...info.matchAll(/^slave\d+:.*state=online,offset=(\d+),lag=(\d+)/gm)]
  // Of one that has only just come back no offset is known.
  const isNear = ([, offset, lag]: RegExpExecArray) => Number(offset) > 0 && Number(lag) <= NEAR_S
  return replicas.length === 0 || replicas.some(isNear)
}
