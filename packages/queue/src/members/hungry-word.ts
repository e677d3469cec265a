/**
 * How a worker says that it has nothing to do: its name, how many requests it would take, and whether it has its share of buckets already; in a
 * crawl of shards in which of them, and of which that is so. Releases that do not know of shares, or of how many, say and hear the rest; one that
 * says nothing of its share is given some, and one that does not say how many is taken to want one request.
 *
 *     <worker> 64  ·  <worker> 64 enough  ·  <worker> 64\n<shard>\n<shard>\n<shard> enough…
 */

import type { Hunger } from '../frontier/turn-protocol.ts'

const ENOUGH = ' enough'

export interface HungryWord extends Hunger {
  readonly worker: string
  /** The shards by their places in the crawl, each with whether the worker has fewer buckets there than its share; absent in a crawl of one. */
  readonly shards?: ReadonlyMap<number, boolean>
}

export function hungryText({ worker, wants, isBelowShare, shards }: HungryWord): string {
  const first = `${worker} ${wants}`
  if (!shards) return isBelowShare ? first : first + ENOUGH
  const enough = [...shards].filter(([, isBelow]) => !isBelow).map(([shard]) => `${shard}${ENOUGH}`)
  return [first, ...shards.keys(), ...enough].join('\n')
}

export function hungryIn(text: string): HungryWord {
  const [first = '', ...rest] = text.split('\n')
  const [, worker = '', wanted, enough] = /^(.*?)(?: (\d+))?( enough)?$/.exec(first) ?? []
  const common = { worker, wants: Number(wanted ?? 1) }
  if (rest.length === 0) return { ...common, isBelowShare: enough === undefined }
  const numbers = rest.filter((shard) => /^\d+$/.test(shard))
  const shards = numbers.map((shard) => [Number(shard), !rest.includes(shard + ENOUGH)] as const)
  return { ...common, isBelowShare: true, shards: new Map(shards) }
}
