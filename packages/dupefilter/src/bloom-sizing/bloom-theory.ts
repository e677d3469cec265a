/** The theory of Bloom filters: pure functions, to choose a filter's size and to tell how well it fits. */

/** All bits of a filter, over all its blocks, and how many of them a request sets. */
export interface BloomSize {
  readonly bits: number
  readonly hashes: number
}

/** Returns the smallest filter whose error is at most `errorRate` when it holds `capacity` requests. */
export function optimalSize(capacity: number, errorRate: number): BloomSize {
  // The best number of hashes is seldom a whole one; one of its neighbours is taken.
  const hashes = Math.max(1, Math.floor(-Math.log2(errorRate)))
  const [fewer, more] = [hashes, hashes + 1].map((n) => ({
    bits: bitsFor(capacity, errorRate, n),
    hashes: n,
  })) as [BloomSize, BloomSize]
  return fewer.bits <= more.bits ? fewer : more
}

/** Returns the bits needed with a given number of hashes. Fewer hashes cost some memory and save time. */
export function bitsFor(capacity: number, errorRate: number, hashes: number): number {
  const size = (bits: number) => ({ bits, hashes })
  let bits = Math.max(
    2,
    Math.ceil(-1 / Math.expm1(Math.log1p(-(errorRate ** (1 / hashes))) / (hashes * capacity))),
  )
  // How many bits are set depends on chance, and more of them add more error than fewer save. So some bits are added.
  for (let n = 0; n < 50; n++) {
    const excess = meanErrorAt(size(bits), capacity) / errorRate
    if (excess <= 1) break
    bits = Math.ceil(bits * excess ** (1 / hashes)) + 1
  }
  return bits
}

/** Returns the bits of each block when requests fall on `blocks` blocks at random, on some more than on others. */
export function blockBitsFor(capacity: number, errorRate: number, hashes: number, blocks: number): number {
  const mean = capacity / blocks
  if (blocks === 1) return bitsFor(capacity, errorRate, hashes)
  let bits = bitsFor(Math.max(1, Math.ceil(mean)), errorRate, hashes)
  for (let n = 0; n < 200; n++) {
    const excess = blockErrorAt({ bits, hashes }, mean) / errorRate
    if (excess <= 1) break
    bits = Math.ceil(bits * excess ** (1 / hashes)) + 1
  }
  return bits
}

/** Returns the error of a block that gets `mean` requests on average, over all counts that it may get. */
function blockErrorAt(size: BloomSize, mean: number): number {
  const deviation = Math.sqrt(mean)
  const [from, to] = [Math.max(0, Math.floor(mean - 8 * deviation)), Math.ceil(mean + 8 * deviation + 8)]
  const step = Math.max(1, Math.floor((to - from) / 1000))
  let [sum, weights] = [0, 0]
  for (let count = from; count <= to; count += step) {
    const weight = Math.exp(logPoisson(count, mean))
    sum += weight * meanErrorAt(size, count)
    weights += weight
  }
  return sum / weights
}

/** By Stirling's formula, without a constant factor. */
function logPoisson(count: number, mean: number): number {
  if (count === 0) return -mean + 0.5 * Math.log(2 * Math.PI)
  return count * Math.log(mean / count) + count - mean - 0.5 * Math.log(count) - 1 / (12 * count)
}

/** Returns the error over all fillings that `count` requests may lead to: a little more than that of the expected filling. */
export function meanErrorAt(size: BloomSize, count: number): number {
  const { bits, hashes } = size
  const fill = fillAt(size, count)
  if (fill === 0 || bits <= 1) return fill ** hashes
  const open = 1 - fill
  const variance = Math.max(0, (open * (1 - open * (1 + (hashes * count) / bits))) / bits)
  return Math.min(1, fill ** hashes * (1 + (hashes * (hashes - 1) * variance) / (2 * fill ** 2)))
}

/**
 * Returns the size that earlier releases made for a capacity, as their filters are still used. Its error is up to 2 % above
 * the wanted one.
 */
export function roundedSize(capacity: number, errorRate: number, hashNumber?: number): BloomSize {
  if (hashNumber !== undefined) {
    const bits = Math.ceil((-hashNumber * capacity) / Math.log1p(-(errorRate ** (1 / hashNumber))))
    return { bits, hashes: hashNumber }
  }
  const bits = Math.ceil((-capacity * Math.log(errorRate)) / Math.LN2 ** 2)
  return { bits, hashes: Math.max(1, Math.round((bits / capacity) * Math.LN2)) }
}

/** Returns the share of bits that are set after `count` different requests. */
export function fillAt({ bits, hashes }: BloomSize, count: number): number {
  return bits <= 1 ? Math.min(1, count) : -Math.expm1(hashes * count * Math.log1p(-1 / bits))
}

/** Returns the probability that a new request is taken for one seen before. */
export function errorAt(size: BloomSize, count: number): number {
  return fillAt(size, count) ** size.hashes
}

/** Returns how many different requests raise the error to `errorRate`. */
export function capacityAt({ bits, hashes }: BloomSize, errorRate: number): number {
  if (bits <= 1) return 1
  return Math.max(1, Math.floor(Math.log1p(-(errorRate ** (1 / hashes))) / (hashes * Math.log1p(-1 / bits))))
}

/** Returns how many different requests set this share of the bits. */
export function countAtFill({ bits, hashes }: BloomSize, fill: number): number {
  if (fill <= 0 || bits <= 1) return 0
  return Math.round(Math.log1p(-Math.min(fill, 1 - 1 / bits)) / (hashes * Math.log1p(-1 / bits)))
}

/** Returns the expected number of pages lost while the filter takes `count` requests: the sum of the error on the way. */
export function lostUntil(size: BloomSize, count: number): number {
  // Simpson's rule. The error is smooth, and 2 000 steps give six digits.
  const steps = 2000
  const width = count / steps
  let sum = errorAt(size, 0) + errorAt(size, count)
  for (let step = 1; step < steps; step++) sum += (step % 2 === 1 ? 4 : 2) * errorAt(size, step * width)
  return (sum * width) / 3
}
