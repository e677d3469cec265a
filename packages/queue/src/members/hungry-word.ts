/**
 * How a worker says that it has nothing to do: its name, and whether it has its share of buckets already; in a crawl of shards in which of
 * them, and of which that is so. Releases that do not know of shares say and hear the rest; one that says nothing of its share is given some.
 *
 *     <worker>  ·  <worker> enough  ·  <worker>\n<shard>\n<shard>\n<shard> enough…
 */

const ENOUGH = ' enough'

export interface HungryWord {
  readonly worker: string
  /** In a crawl of one shard. */
  readonly isBelowShare: boolean
  /** The shards by their places in the crawl, each with whether the worker has fewer buckets there than its share; absent in a crawl of one. */
  readonly shards?: ReadonlyMap<number, boolean>
}

export function hungryText({ worker, isBelowShare, shards }: HungryWord): string {
  if (!shards) return isBelowShare ? worker : worker + ENOUGH
  const enough = [...shards].filter(([, isBelow]) => !isBelow).map(([shard]) => `${shard}${ENOUGH}`)
  return [worker, ...shards.keys(), ...enough].join('\n')
}

export function hungryIn(text: string): HungryWord {
  const [first = '', ...rest] = text.split('\n')
  const hasEnough = first.endsWith(ENOUGH)
  const worker = hasEnough ? first.slice(0, -ENOUGH.length) : first
  if (rest.length === 0) return { worker, isBelowShare: !hasEnough }
  const numbers = rest.filter((shard) => /^\d+$/.test(shard))
  const shards = numbers.map((shard) => [Number(shard), !rest.includes(shard + ENOUGH)] as const)
  return { worker, isBelowShare: true, shards: new Map(shards) }
}
