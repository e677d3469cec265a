/** The scripts of a shard that are about other shards, `lua/outbox/`, with their arguments and replies as values. */

import type { QueueOrder } from '@webloom/core'
import type { Redis } from 'ioredis'
import { RunOver } from '../../crawl/crawl-run.ts'
import type { ShardChanges } from '../../frontier/turn-protocol.ts'
import type { CrawlRedisKeys } from '../../redis/crawl-redis-keys.ts'
import { luaScript } from '../../redis/lua.ts'
import { type Delivery, runsOf } from '../../shards/outbox-entry.ts'
import { appliedEpochsOf, firstOf, sentSpansOf } from '../../shards/outbox-numbers.ts'
import type { Trim } from '../../shards/outbox-tender.ts'
import type { ShardState } from '../../shards/shard-state.ts'
import { keyListOf } from './key-list.ts'
import { type Argument, type JobChangesReply, jobChangesOf, nudgesOf } from './turn-wire.ts'

const KEYS = ['slots/clock.lua', 'slots/keys.lua'] as const

const applyScript = luaScript(
  ...KEYS,
  'slots/wake.lua',
  'slots/short-line.lua',
  'slots/lines.lua',
  'slots/record.lua',
  'slots/ready.lua',
  'outbox/stirs.lua',
  'outbox/applied.lua',
  'outbox/apply.lua',
)
const stateScript = luaScript(...KEYS, 'outbox/send.lua', 'outbox/state.lua')
const readScript = luaScript(...KEYS, 'outbox/send.lua', 'outbox/read.lua')
const trimScript = luaScript(...KEYS, 'outbox/send.lua', 'outbox/trim.lua')
const clearScript = luaScript(...KEYS, 'outbox/clear.lua')

/** As many as `lua/outbox/trim.lua` has. */
const MAX_TRIMMED_PER_CALL = 2000

export interface ShardScriptsOptions {
  readonly redis: Redis
  /** Of the shard. */
  readonly keys: CrawlRedisKeys
  readonly order: QueueOrder
}

export class ShardScripts {
  readonly #redis: Redis
  readonly #keyList: readonly string[]
  readonly #counts: string
  readonly #order: QueueOrder

  constructor({ redis, keys, order }: ShardScriptsOptions) {
    this.#redis = redis
    this.#keyList = keyListOf(keys)
    this.#counts = keys.frontierCounts
    this.#order = order
  }

  /**
   * Brings entries of other shards to this one's lines; those that it knows do nothing. Resolves also to how many were lost: their
   * sender has them no longer. Rejects with `RunOver`.
   */
  async apply(
    worker: string,
    run: string,
    deliveries: readonly Delivery[],
  ): Promise<ShardChanges & { added: number; lost: number }> {
    const runs = runsOf(deliveries)
    const args: Argument[] = [worker, run, runs.length]
    for (const { sender, epoch, listFrom = '', from, entries } of runs) {
      args.push(sender, epoch, listFrom, from, entries.length)
      for (const { line, member, text } of entries) args.push(line, member, text)
    }
    const reply = (await this.#run(applyScript, args)) as
      | [number, number, ...JobChangesReply, nudged: string[]]
      | number
    if (typeof reply === 'number') throw new RunOver()
    const [added, lost, woken, raised, nudged] = reply
    return { added, lost, nudged: nudgesOf(nudged), ...jobChangesOf([woken, raised]) }
  }

  /** Resolves to the run in which it is noted to have nothing at all: `lua/outbox/rests.lua`. */
  quietIn(): Promise<string | null> {
    return this.#redis.hget(this.#counts, 'quiet')
  }

  /** @param tells it is to be noted, and told to all workers, when it has nothing for others */
  async shardState(tells = false): Promise<ShardState> {
    const reply = await this.#run(stateScript, [tells ? 1 : 0])
    const [replid, nowMs, offset, replica, [waiting, delayed, leased], sent, applied, run, mayFinish] =
      reply as [
        string,
        number,
        number,
        number | '',
        [number, number, number],
        string[],
        string[],
        string,
        number,
      ]
    return {
      ...{ replid, nowMs, offset, ...(replica !== '' && { replicaOffset: replica }) },
      ...{ waiting, delayed, leased, run, mayFinish: mayFinish === 1 },
      sent: mapOf(sent, sentSpansOf),
      applied: mapOf(applied, appliedEpochsOf),
    }
  }

  /** Resolves to entries for that receiver from a number on, as they are to be delivered: `most`, or some megabyte of them. */
  async read(sender: string, receiver: string, from: number, most: number): Promise<Delivery[]> {
    const reply = await this.#run(readScript, [receiver, from, most])
    const [spans, entries] = reply as [string, string[]]
    const list = sentSpansOf(spans)
    return list.spans.flatMap(({ epoch, to }) => {
      const ofEpoch = entries.filter((entry) => {
        const number = Number.parseInt(entry, 10)
        return number >= firstOf(epoch) && number <= to
      })
      return ofEpoch.length > 0 ? [{ sender, epoch, listFrom: list.from, entries: ofEpoch }] : []
    })
  }

  /** Deletes entries that their receivers cannot lose any more, in steps between which the server serves others. Resolves to how many. */
  async trim(trims: readonly Pick<Trim, 'receiver' | 'upTo'>[]): Promise<number> {
    const args = trims.flatMap(({ receiver, upTo }) => [receiver, upTo.epoch, upTo.number])
    for (let all = 0; ; ) {
      const gone = (await this.#run(trimScript, [trims.length, ...args])) as number
      all += gone
      if (gone < MAX_TRIMMED_PER_CALL) return all
    }
  }

  /** Deletes what it has for those shards, and what it knows of the entries of others. */
  async clear(shards: readonly string[]): Promise<void> {
    await this.#run(clearScript, [shards.length, ...shards])
  }

  #run(script: ReturnType<typeof luaScript>, args: readonly Argument[]): Promise<unknown> {
    return script.run(this.#redis, this.#keyList, [this.#order, ...args])
  }
}

function mapOf<Value>(flat: readonly string[], made: (text: string) => Value): Map<string, Value> {
  const map = new Map<string, Value>()
  for (let at = 0; at < flat.length; at += 2) map.set(flat[at]!, made(flat[at + 1]!))
  return map
}
