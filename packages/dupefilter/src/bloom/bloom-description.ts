import type { DupeFilterDescription } from '@webloom/core'
import { sizeOf } from '../bloom-sizing/bloom-parameters.ts'
import { type BloomRecord, errorOf, fillOf, warningsOf } from './bloom-record.ts'

/** A Bloom filter's size, how full it is, and what that costs. */
export interface BloomDescription extends DupeFilterDescription {
  /** How many requests raise the error to the wanted one. */
  readonly capacity: number
  /** How many requests are in all layers. */
  readonly inserted: number
  /** The share of the newest layer's bits that is set. */
  readonly fillRatio: number
  /** The probability that a new request is taken for a seen one now, by theory. */
  readonly errorNow: number
  /** How many pages were taken for seen ones so far, by theory. */
  readonly pagesLost: number
  /** The bits of all layers; of `counting-bloom` its counters, which have four bits each. */
  readonly bits: number
  /** How many bits a request sets in the first layer. */
  readonly hashes: number
  /** More than one when the filter has grown. */
  readonly layers: number
  /** Warnings for the user: half of the bits are set, the capacity is reached. */
  readonly warnings: readonly string[]
}

/** Returns the description of a Bloom filter from its record. */
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
