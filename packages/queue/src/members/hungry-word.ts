/**
 * How a worker says that it has nothing to do: its name, and whether it has fewer buckets than its share; in a crawl of shards in which of
 * them, and of which that is so. A release that does not know of shares hears the rest.
 *
 *     <worker>  ·  <worker> below  ·  <worker>\n<shard>\n<shard>\n<shard> below…
 */

const BELOW = ' below'

export interface HungryWord {
  readonly worker: string
  /** In a crawl of one shard. */
  readonly isBelowShare: boolean
  /** The shards by their places in the crawl, each with whether the worker has fewer buckets there than its share; absent in a crawl of one. */
  readonly shards?: ReadonlyMap<number, boolean>
}

export function hungryText({ worker, isBelowShare, shards }: HungryWord): string {
  if (!shards) return isBelowShare ? worker + BELOW : worker
  const below = [...shards].filter(([, isBelow]) => isBelow).map(([shard]) => `${shard}${BELOW}`)
  return [worker, ...shards.keys(), ...below].join('\n')
}

export function hungryIn(text: string): HungryWord {
  const [first = '', ...rest] = text.split('\n')
  const isBelowShare = first.endsWith(BELOW)
  const worker = isBelowShare ? first.slice(0, -BELOW.length) : first
  if (rest.length === 0) return { worker, isBelowShare }
  const numbers = rest.filter((shard) => /^\d+$/.test(shard))
  return {
    worker,
    isBelowShare,
    shards: new Map(numbers.map((shard) => [Number(shard), rest.includes(shard + BELOW)])),
  }
}
