import type { DupeFilterDescription } from '@webloom/core'
import { sizeOf } from '../bloom-sizing/bloom-parameters.ts'
import { type BloomRecord, errorOf, fillOf, warningsOf } from './bloom-record.ts'

/** What a Bloom filter says of itself: its size, how full it is, and what that costs. */
export interface BloomDescription extends DupeFilterDescription {
  /** How many requests bring the error to the one asked for. */
  readonly capacity: number
  /** Requests in all layers. */
  readonly inserted: number
  /** Of the newest layer's bits, the share that is set. */
  readonly fillRatio: number
  /** How likely a new request is taken for a seen one now, by theory. */
  readonly errorNow: number
  /** How many pages were taken for seen ones so far, by theory. */
  readonly pagesLost: number
  /** Of all layers; of `counting-bloom` its counters, which have four bits each. */
  readonly bits: number
  /** Of the first layer. */
  readonly hashes: number
  /** More than one when the filter has grown. */
  readonly layers: number
  /** What its asker should know: half of the bits are set, the capacity is reached. */
  readonly warnings: readonly string[]
}

/** What a Bloom filter says of itself, from its record. */
export function bloomDescription(
  { layers, lost }: BloomRecord,
  {
    grows = false,
    ...rest
  }: Pick<BloomDescription, 'name' | 'fingerprinter' | 'urlRules' | 'hashes'> & { grows?: boolean },
): BloomDescription {
  const inserted = layers.reduce((sum, layer) => sum + layer.inserted, 0)
  return {
    ...rest,
    count: inserted,
    owners: true,
    capacity: layers.reduce((sum, { capacity }) => sum + capacity, 0),
    inserted,
    fillRatio: layers.length === 0 ? 0 : fillOf(layers.at(-1)!),
    errorNow: errorOf(layers),
    pagesLost: lost,
    bits: layers.reduce((sum, layer) => sum + sizeOf(layer).bits, 0),
    layers: layers.length,
    warnings: warningsOf(layers, grows).map(({ text }) => text),
  }
}
