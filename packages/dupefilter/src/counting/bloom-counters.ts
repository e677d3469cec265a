import { BloomLayerBytes } from '../bloom/bloom-bits.ts'
import type { BloomLayer } from '../bloom-sizing/bloom-parameters.ts'
import { COUNTER_MAX, countingPlaces } from './counting-places.ts'

/**
 * A counting Bloom filter in this process: four bits for each place, two places in a byte, the first in the higher half as
 * in Redis's u4.
 */
export class BloomCounters extends BloomLayerBytes {
  constructor(layer: BloomLayer) {
    super(layer, 2)
  }

  has(digest: string): boolean {
    const { block, places } = countingPlaces(digest, this.layer)
    const bytes = this.blocks[block]!
    return places.every((place) => counterAt(bytes, place) > 0)
  }

  /** Counts a request up. Only for one that is not in the filter. */
  add(digest: string): void {
    this.inserted++
    this.#change(digest, 1)
  }

  /** Counts a request down. Only for one that is in the filter. */
  remove(digest: string): void {
    this.inserted--
    this.#change(digest, -1)
  }

  #change(digest: string, by: 1 | -1): void {
    const { block, places } = countingPlaces(digest, this.layer)
    const bytes = this.blocks[block]!
    for (const place of places) {
      const counter = counterAt(bytes, place)
      if (counter === COUNTER_MAX) continue
      if (counter === 0) this.set++
      if (counter + by === 0) this.set--
      // Nothing carries over: a 15 stays, and a counter that is counted down is above 0.
      bytes[place >>> 1]! += by << shiftOf(place)
    }
  }
}

function counterAt(bytes: Uint8Array, place: number): number {
  return (bytes[place >>> 1]! >>> shiftOf(place)) & COUNTER_MAX
}

function shiftOf(place: number): number {
  return place % 2 === 0 ? 4 : 0
}
