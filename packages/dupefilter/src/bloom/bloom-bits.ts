import { totalmem } from 'node:os'
import { WebloomError } from '@webloom/core'
import { nativeBlock, nativeOffsets } from '../bloom-sizing/bloom-offsets.ts'
import type { BloomLayer } from '../bloom-sizing/bloom-parameters.ts'
import type { CountedLayer } from './bloom-record.ts'

/** A layer of a Bloom filter in this process, with its counts. Subclasses say what a place is. */
export abstract class BloomLayerBytes {
  protected readonly layer: BloomLayer
  protected readonly blocks: readonly Uint8Array[]
  protected inserted = 0
  /** How many places are not 0. */
  protected set = 0

  /** Throws WL_DUPEFILTER_FULL when the machine has too little memory. */
  constructor(layer: BloomLayer, placesPerByte: number) {
    this.layer = layer
    this.blocks = zeroedBlocks(layer.blocks, Math.ceil(layer.bits / placesPerByte))
  }

  /** The layer with its counts; places that are not 0 count as bits that are set. */
  get counted(): CountedLayer {
    return { ...this.layer, inserted: this.inserted, set: this.set }
  }
}

/** A layer of a Bloom filter in this process. Its bytes are the same as those of the strings on Redis. */
export class BloomBits extends BloomLayerBytes {
  constructor(layer: BloomLayer) {
    super(layer, 8)
  }

  has(digest: string): boolean {
    const { bits, hashes } = this.layer
    const bytes = this.#blockOf(digest)
    return nativeOffsets(digest, bits, hashes).every((bit) => (bytes[bit >>> 3]! & maskOf(bit)) !== 0)
  }

  add(digest: string): void {
    const { bits, hashes } = this.layer
    const bytes = this.#blockOf(digest)
    for (const bit of nativeOffsets(digest, bits, hashes)) {
      const [at, mask] = [bit >>> 3, maskOf(bit)]
      if ((bytes[at]! & mask) === 0) this.set++
      bytes[at]! |= mask
    }
    this.inserted++
  }

  #blockOf(digest: string): Uint8Array {
    return this.blocks[nativeBlock(digest, this.layer.blocks)]!
  }
}

/** Redis counts bits from the highest bit of the first byte. */
function maskOf(bit: number): number {
  return 128 >>> (bit & 7)
}

/**
 * Makes the blocks. Pages that were never touched take no memory, so a filter that is too large for the machine would fail
 * only when it is half full.
 */
function zeroedBlocks(blocks: number, bytes: number): Uint8Array[] {
  const wanted = blocks * bytes
  const noRoom = (cause?: unknown) =>
    new WebloomError(
      'WL_DUPEFILTER_FULL',
      `this machine has no room for a Bloom filter of ${Math.ceil(wanted / 2 ** 20)} MiB in memory. Make it smaller (BLOOMFILTER_BIT, BLOOMFILTER_CAPACITY, BLOOMFILTER_ERROR_RATE), or keep it on a Redis that has (DUPEFILTER_CLASS=redis-bloom)`,
      cause === undefined ? {} : { cause },
    )
  if (wanted > totalmem()) throw noRoom()
  try {
    return Array.from({ length: blocks }, () => new Uint8Array(bytes))
  } catch (error) {
    if (error instanceof RangeError) throw noRoom(error)
    throw error
  }
}
