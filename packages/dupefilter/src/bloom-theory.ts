/** What the theory of Bloom filters says: pure functions, for sizing a filter and for saying how well it fits. */

/** All bits of a filter, over all its blocks, and how many of them a request sets. */
export interface BloomSize {
  readonly bits: number
  readonly hashes: number
}

/** The smallest filter that holds `capacity` requests with an error of `errorRate` at the end. */
export function optimalSize(capacity: number, errorRate: number): BloomSize {
  const bits = Math.ceil((-capacity * Math.log(errorRate)) / Math.LN2 ** 2)
  return { bits, hashes: Math.max(1, Math.round((bits / capacity) * Math.LN2)) }
}

/** The bits needed when the number of hashes is given. Fewer hashes cost some memory and save time. */
export function bitsFor(capacity: number, errorRate: number, hashes: number): number {
  return Math.ceil((-hashes * capacity) / Math.log1p(-(errorRate ** (1 / hashes))))
}

/** The share of bits set after `count` different requests. */
export function fillAt({ bits, hashes }: BloomSize, count: number): number {
  return bits <= 1 ? Math.min(1, count) : -Math.expm1(hashes * count * Math.log1p(-1 / bits))
}

/** How likely a new request is taken for one seen before. */
export function errorAt(size: BloomSize, count: number): number {
  return fillAt(size, count) ** size.hashes
}

/** How many different requests bring the error to `errorRate`. */
export function capacityAt({ bits, hashes }: BloomSize, errorRate: number): number {
  if (bits <= 1) return 1
  return Math.max(1, Math.floor(Math.log1p(-(errorRate ** (1 / hashes))) / (hashes * Math.log1p(-1 / bits))))
}

/** How many different requests would set this share of the bits. */
export function countAtFill({ bits, hashes }: BloomSize, fill: number): number {
  if (fill <= 0 || bits <= 1) return 0
  return Math.round(Math.log1p(-Math.min(fill, 1 - 1 / bits)) / (hashes * Math.log1p(-1 / bits)))
}

/** Pages expected to be lost while the filter takes `count` requests: the error, summed over the way there. */
export function lostUntil(size: BloomSize, count: number): number {
  // Simpson's rule. The error is smooth, and 2 000 steps give six digits.
  const steps = 2000
  const width = count / steps
  let sum = errorAt(size, 0) + errorAt(size, count)
  for (let step = 1; step < steps; step++) sum += (step % 2 === 1 ? 4 : 2) * errorAt(size, step * width)
  return (sum * width) / 3
}
