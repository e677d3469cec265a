/**
 * Chance without state: every draw is a pure function of the seed and of what is being decided, so page 4711
 * can be made without making the 4710 before it, and the same in the server's process and in the test's.
 */

/** A number in [0, 1) for this seed and these coordinates. */
export function chance(seed: number, ...coordinates: number[]): number {
  return hash(seed, ...coordinates) / 2 ** 32
}

/** A stream of numbers in [0, 1), the same for the same seed and coordinates (mulberry32). */
export function randomStream(seed: number, ...coordinates: number[]): () => number {
  let state = hash(seed, ...coordinates)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** 32 bits from a seed and coordinates: murmur3's round for each of them, then its finalizer. */
function hash(...words: number[]): number {
  let mixed = 0x9747b28c
  for (const word of words) {
    let k = Math.imul(word, 0xcc9e2d51)
    k = Math.imul((k << 15) | (k >>> 17), 0x1b873593)
    mixed ^= k
    mixed = (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0
  }
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
