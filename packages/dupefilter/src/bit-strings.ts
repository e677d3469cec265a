import type { BloomLayer, BloomMode } from './bloom-parameters.ts'
import { companionKey } from './filter-keys.ts'
import type { RedisConnection } from './redis-script.ts'

/** The key of a block's bits. The first is the main key, except with liuxingming, who puts the block's number behind it. */
export function bitsKey(main: string, mode: BloomMode, layer: number, block: number): string {
  if (mode.startsWith('liuxingming')) return `${main}${block}`
  return layer === 0 && block === 0 ? main : companionKey(main, `bits:${layer}:${block}`)
}

export function bitsKeys(main: string, mode: BloomMode, layers: readonly BloomLayer[]): string[] {
  return layers.flatMap(({ blocks }, layer) =>
    Array.from({ length: blocks }, (_, block) => bitsKey(main, mode, layer, block)),
  )
}

/**
 * A string grows to the bit that is set, and Redis serves nobody while it fills the new part with zeros: 99 ms for
 * 128 MiB in one go. In steps of 1 MiB no step took longer than 6 ms (the allocator mostly grows in place; 110 ms in
 * all), once in 512 MiB one of 127 ms when it had to copy. Up to 4 MiB (3 ms) a string is left to grow by itself.
 */
const STEP_BYTES = 2 ** 20
const SELF_GROWN_BYTES_MAX = 4 * 2 ** 20

/** Makes a string of bits as long as it will become. Bits are left as they are, whoever else sets some meanwhile. */
export async function growBits(redis: RedisConnection, key: string, bits: number): Promise<void> {
  const bytes = Math.ceil(bits / 8)
  if (bytes <= SELF_GROWN_BYTES_MAX) return
  let length = await redis.strlen(key)
  while (length < bytes) {
    length = Math.min(bytes, length + STEP_BYTES)
    // Adding nothing to the last bit: it stays, and the string is long enough for it.
    await redis.bitfield(key, 'INCRBY', 'u1', String(length * 8 - 1), '0')
  }
}

/** Counted in slices, for Redis serves nobody while it counts: a slice takes less than a millisecond. */
const COUNT_BYTES = 4 * 2 ** 20

export async function countBits(redis: RedisConnection, key: string): Promise<number> {
  const length = await redis.strlen(key)
  let set = 0
  for (let from = 0; from < length; from += COUNT_BYTES) {
    set += await redis.bitcount(key, from, from + COUNT_BYTES - 1)
  }
  return set
}
