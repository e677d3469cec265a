/**
 * Where in a Redis Cluster a shard lies. A tag's slot is by chance: of six tags four may come to one master of three. So each shard's tag
 * gets a number at its end, `{quotes#07.12}`, by which its slot lies in the shard's own part of all slots, the same for each shard. Masters
 * have neighbouring slots, as many each, until somebody moves them: then each master has as many shards, up to one.
 */

import { crcOf, SLOTS } from '../redis/key-slot.ts'

/** @param queueName of the home, `{quotes}` */
export function shardTag(queueName: string, shard: string, shards: number): string {
  const tag = `${queueName.slice(1, -1)}#${shard}`
  const [from, to] = slotsOf(Number(shard), shards)
  const begun = crcOf(Buffer.from(`${tag}.`))
  for (let n = 0; ; n++) {
    const slot = crcOf(digitsOf(n), begun) % SLOTS
    if (slot >= from && slot < to) return `{${tag}.${n}}`
  }
}

/** The middle half of its part: masters' borders may be some slots aside. */
function slotsOf(n: number, shards: number): [from: number, to: number] {
  const at = (part: number) => Math.round(((n + part) * SLOTS) / shards)
  return [at(0.25), at(0.75)]
}

/** Returns the bytes of a number's digits, without making a text: many numbers are tried. */
function digitsOf(n: number): number[] {
  const digits: number[] = []
  for (let rest = n; digits.length === 0 || rest > 0; rest = Math.floor(rest / 10))
    digits.unshift(48 + (rest % 10))
  return digits
}
