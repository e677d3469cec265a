/**
 * Outboxes on a real Redis Cluster of three masters with a replica each, of which some are killed: what the model calls going back, with
 * `replid`s and offsets as servers have them.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { newRedisClient } from '@webloom/core'
import { type RedisCluster, startCluster } from '@webloom/testkit'
import { Cluster, Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { bucketOf, bucketsOfShard } from '../../politeness/bucket-of.ts'
import { crawlRedisKeys } from '../../redis/crawl-redis-keys.ts'
import { CrawlShards } from '../../shards/crawl-shards.ts'
import { addressIn } from '../../shards/outbox-entry.ts'
import { firstLacking } from '../../shards/outbox-numbers.ts'
import { OutboxTender } from '../../shards/outbox-tender.ts'
import { shardName, shardOf } from '../../shards/shard-of.ts'
import type { ShardState } from '../../shards/shard-state.ts'
import { BucketScripts } from './bucket-scripts.ts'
import { CommandNumbers, WentBack } from './command-numbers.ts'
import type { PushPart } from './placed-lines.ts'
import { ShardScripts } from './shard-scripts.ts'

const SHARDS = 6
const ALL = new CrawlShards(crawlRedisKeys({ spider: 'many', crawlId: null }), SHARDS)
const PAGES = 6000
const LOOKS_EVERY_MS = 20
const ENDS_MS_MAX = 120_000

let cluster: RedisCluster
let redis: Redis
beforeAll(async () => {
  cluster = await startCluster({ replicas: 1, minReplicas: 0 })
  const nodes = cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
  const behaviour = { retryStrategy: () => 50, maxRetriesPerRequest: null }
  redis = newRedisClient({ Redis, Cluster }, { nodes, socketTimeout: 4000 }, behaviour) as Redis
  redis.on('error', () => {})
})
afterAll(async () => {
  redis?.disconnect()
  await cluster?.stop()
})

/** A shard, with a worker that queues pages' links there: what a server has lost it does again, as pages run again. */
class Shard {
  readonly scripts: ShardScripts
  readonly #buckets: BucketScripts
  readonly #commands = new CommandNumbers('writer')
  readonly #done: { number: number; part: Omit<PushPart, 'command'> }[] = []
  wentBack = 0
  pushed = 0

  constructor(name: string) {
    const keys = ALL.keysOf(name)
    this.scripts = new ShardScripts({ redis, keys, order: 'priority' })
    this.#buckets = new BucketScripts({ redis, keys, order: 'priority', isShard: true })
  }

  async push(part: Omit<PushPart, 'command'>): Promise<void> {
    const command = this.#commands.next()
    try {
      await this.#buckets.push({ ...part, command })
      this.#commands.wasAnswered(command)
      this.pushed++
      this.#done.push({ number: command.number, part })
    } catch (error) {
      if (!(error instanceof WentBack)) throw error
      this.#commands.wentBack(error)
      this.wentBack++
      const lost = this.#done.filter(({ number }) => number > error.heard)
      this.#done.splice(0, this.#done.length, ...this.#done.filter((one) => !lost.includes(one)))
      // In another order than before: numbers that their receivers know are now those of other links.
      await this.push(part)
      for (const one of lost) await this.push(one.part)
    }
  }

  async waiting(): Promise<number> {
    return (await this.#buckets.counts()).waiting
  }
}

test('a master is killed, and its replica is older: each link comes to its shard once', {
  timeout: 300_000,
}, async () => {
  const names = Array.from({ length: SHARDS }, (_, n) => shardName(n, SHARDS))
  const shards = new Map(names.map((name) => [name, new Shard(name)]))
  const tender = new OutboxTender()
  let [links, lost, isWriting] = [0, 0, true]

  const write = async (name: string, from: number) => {
    for (let page = from; page < PAGES; page += SHARDS) {
      const groups = Array.from({ length: 4 }, (_, n) => {
        const slot = `host${(page * 7 + n * 13) % 301}.test`
        const to = shardOf(slot, SHARDS)
        const there = bucketOf(slot, bucketsOfShard(SHARDS))
        const bucket = to === name ? there : addressIn(to, `page ${page}`, there)
        const id = `${slot}/${page}/${n}`
        return {
          place: 'end' as const,
          bucket,
          slot,
          priority: 0,
          requests: [{ id, text: `${id}\n\n{"v":1}` }],
        }
      })
      await shards.get(name)!.push({ asker: `page ${page}`, isNoting: true, groups })
      links += groups.length
    }
  }

  /** Nobody delivers: all is done by looks, as if each worker had been killed. Resolves to whether any shard lacks something. */
  const look = async (): Promise<boolean> => {
    const round = new Map<string, ShardState>()
    for (const [name, { scripts }] of shards) round.set(name, await scripts.shardState())
    const { resends, trims } = tender.look(round)
    for (const { sender, receiver, from } of resends) {
      const deliveries = await shards.get(sender)!.scripts.read(sender, receiver, from.number, 500)
      const done = await shards.get(receiver)!.scripts.apply('tender', '', deliveries)
      lost += done.lost
    }
    for (const one of trims) await shards.get(one.sender)!.scripts.trim([one])
    return [...round].some(([sender, { sent }]) =>
      [...sent].some(([receiver, list]) =>
        firstLacking(list, round.get(receiver)!.applied.get(sender) ?? new Map()),
      ),
    )
  }

  /** Its replica has heard nothing for a while when the master is killed. */
  const kill = async (shard: string) => {
    const key = ALL.keysOf(shard).record
    const master = (await cluster.masterOf(key))!
    const others = cluster.nodes.slice(SHARDS / 2)
    await Promise.all(others.map((node) => node.pause()))
    // What has been sent would still be read.
    await master.command('CLIENT', 'KILL', 'TYPE', 'replica')
    await untilWritten(shard, 400)
    await master.kill()
    await Promise.all(others.map((node) => node.resume()))
    await cluster.untilWritable(`${key}:testkit`, master)
  }

  const untilWritten = async (shard: string, more: number) => {
    const wanted = shards.get(shard)!.pushed + more
    await vi.waitUntil(() => shards.get(shard)!.pushed >= wanted, { interval: 2 })
  }

  const writing = Promise.all(names.map((name, n) => write(name, n))).finally(() => {
    isWriting = false
  })
  const until = performance.now() + ENDS_MS_MAX
  const looking = (async () => {
    for (;;) {
      const lacks = await look()
      if (!isWriting && !lacks) return
      if (performance.now() > until) throw new Error('a shard lacks entries for ever')
      await sleep(LOOKS_EVERY_MS) // Waits: more often than a worker looks: what the server will lose has come to its receivers.
    }
  })()
  await untilWritten(names[0]!, 50)
  await kill(names[0]!)
  await Promise.all([writing, looking])
  // What went back may have been known before.
  expect(await look()).toBe(false)
  const waiting = await Promise.all([...shards.values()].map((shard) => shard.waiting()))
  const wentBack = [...shards.values()].reduce((sum, shard) => sum + shard.wentBack, 0)
  expect({ lost, isOlder: wentBack > 0 }).toEqual({ lost: 0, isOlder: true })
  expect(waiting.reduce((sum, one) => sum + one)).toBe(links)
})
