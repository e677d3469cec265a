/** What is in the shards of a crawl, for whoever looks at it from outside. */

import type { QueueCounts, SilentShard } from '@webloom/core'
import type { Redis } from 'ioredis'
import { ShardScripts } from '../buckets/scripts/shard-scripts.ts'
import { type CrawlShards, HOME } from '../shards/crawl-shards.ts'
import { countLacking, firstLacking, hasEntries } from '../shards/outbox-numbers.ts'
import type { ShardState } from '../shards/shard-state.ts'
import { askShards } from './shards-asked.ts'

/** Reading does not depend on it. */
const ANY_ORDER = 'priority'
/** Requests may be large. */
const MAX_ENTRIES_PER_READ = 200

export interface ShardsCounted {
  readonly counts: QueueCounts
  /** Of this run. */
  readonly done: number
  readonly silent: readonly SilentShard[]
}

/** Resolves to the counts of all shards together that answer: what is on its way from one to another waits, too. */
export async function countShards(redis: Redis, shards: CrawlShards): Promise<ShardsCounted> {
  const { answers, silent } = await askShards(
    redis,
    shards,
    [...shards.names, HOME],
    async ({ quarantine, record }, name) => {
      const [state, quarantined, done] = await Promise.all([
        stateUnlessQuiet(scriptsOf(redis, shards, name)),
        redis.hlen(quarantine),
        redis.hget(record, 'done'),
      ])
      return { state, quarantined, done }
    },
  )
  const applied = await appliedOf(redis, shards, answers)
  const counts = { waiting: 0, delayed: 0, leased: 0, quarantined: 0 }
  let done = 0
  for (const [sender, { state, ...besides }] of answers) {
    counts.waiting += state?.waiting ?? 0
    counts.delayed += state?.delayed ?? 0
    counts.leased += state?.leased ?? 0
    for (const [receiver, list] of state?.sent ?? []) {
      const known = applied.get(receiver)
      // What a silent one has of it, nobody knows.
      if (known) counts.waiting += countLacking(list, known.get(sender) ?? new Map())
    }
    if (sender === HOME) continue
    counts.quarantined += besides.quarantined
    done += Number(besides.done ?? 0)
  }
  return { counts, done, silent }
}

/** Resolves to undefined where a shard is noted to have nothing, neither here nor for others: `lua/outbox/rests.lua`. */
async function stateUnlessQuiet(scripts: ShardScripts): Promise<ShardState | undefined> {
  return (await scripts.quietIn()) !== null ? undefined : scripts.shardState()
}

/** What shards know of the entries of others; of those that have nothing only where there is something for them. */
async function appliedOf(
  redis: Redis,
  shards: CrawlShards,
  answers: ReadonlyMap<string, { readonly state: ShardState | undefined }>,
): Promise<ReadonlyMap<string, ShardState['applied']>> {
  const receivers = new Set(
    [...answers.values()].flatMap(({ state }) =>
      [...(state?.sent ?? [])].filter(hasEntries).map(([receiver]) => receiver),
    ),
  )
  const quiet = [...receivers].filter((name) => answers.has(name) && !answers.get(name)!.state)
  const asked = await askShards(redis, shards, quiet, (_keys, name) =>
    scriptsOf(redis, shards, name).shardState(),
  )
  const states = [...answers].flatMap(([name, { state }]) => (state ? [[name, state] as const] : []))
  return new Map([...states, ...asked.answers].map(([name, { applied }]) => [name, applied]))
}

/** Yields the packed requests that are on their way from one shard to another. */
export async function* textsUnderWay(redis: Redis, shards: CrawlShards): AsyncGenerator<readonly string[]> {
  const states = await statesOf(redis, shards)
  for (const [sender, { sent }] of states)
    for (const [receiver, list] of sent) {
      const applied = states.get(receiver)?.applied.get(sender) ?? new Map()
      let from = firstLacking(list, applied)?.number
      while (from !== undefined) {
        const read = await scriptsOf(redis, shards, sender).read(sender, receiver, from, MAX_ENTRIES_PER_READ)
        let count = 0
        for (const { epoch, entries } of read) {
          count += entries.length
          const known = applied.get(epoch)
          const lacking = entries.filter((entry) => {
            const number = Number.parseInt(entry, 10)
            return known === undefined || (number > known.upTo && !known.beyond.has(number))
          })
          yield lacking.map(requestText)
        }
        from = count === 0 ? undefined : from + count
      }
    }
}

async function statesOf(redis: Redis, shards: CrawlShards) {
  const all = [...shards.names, HOME]
  const states = await Promise.all(all.map((name) => scriptsOf(redis, shards, name).shardState()))
  return new Map(all.map((name, n) => [name, states[n]!]))
}

function scriptsOf(redis: Redis, shards: CrawlShards, name: string): ShardScripts {
  return new ShardScripts({ redis, keys: shards.keysOf(name), order: ANY_ORDER })
}

/** An entry is `<number>, asker, bucket, slot, priority, request`, a line each. */
function requestText(entry: string): string {
  let from = 0
  for (let line = 0; line < 5; line++) from = entry.indexOf('\n', from) + 1
  return entry.slice(from)
}
