import { SettingsError } from '@webloom/core'
import type { BloomCompat } from '../bloom-sizing/bloom-offsets.ts'
import type { BloomLayer, BloomMode, BloomParameters } from '../bloom-sizing/bloom-parameters.ts'
import type { PartitionNote } from '../bloom-sizing/bloom-partition.ts'
import { compatStanding } from '../bloom-sizing/compat-error.ts'

/**
 * `counters`: four bits for each place, so that a request can be taken out. `hosts`: a string for each host. `leaves`:
 * strings that split.
 */
export type BloomLayout = 'counters' | 'hosts' | 'leaves'

/**
 * The parameters by which two workers' bits are the same. They are JSON in the field `parameters` of the record beside the
 * bits.
 */
export interface StoredParameters {
  readonly mode: BloomMode
  /** The layout of the bits. Absent: one bit for each place, in as few strings as possible. */
  readonly layout?: BloomLayout
  /** For the layout `hosts`: which filter a request belongs to. */
  readonly partition?: PartitionNote
  readonly bits: number
  readonly blocks: number
  readonly hashes: number
  /** For leaves: how often they may split. */
  readonly splits?: number
  readonly fingerprinter: string
}

/** A layer with its counts. */
export interface CountedLayer extends BloomLayer {
  /** How many requests were recorded in it. */
  readonly inserted: number
  /** How many of its bits are set. */
  readonly set: number
  /** The Python fork whose hashes set its bits; absent for our own. */
  readonly compat?: BloomCompat
}

/** What a Bloom filter on Redis notes beside its bits: its layers, with their counts. */
export interface BloomRecord {
  /** Oldest first; empty before the filter was opened for the first time. */
  readonly layers: readonly CountedLayer[]
  /** The expected number of pages that were taken for seen ones so far. */
  readonly lost: number
}

export function storedParameters(
  { mode, layer }: BloomParameters,
  fingerprinter: string,
  layout?: BloomLayout,
): StoredParameters {
  const { bits, blocks, hashes } = layer
  return { mode, ...(layout && { layout }), bits, blocks, hashes, fingerprinter }
}

/** Returns the record in a hash of Redis. */
export function recordOf(fields: ReadonlyMap<string, string>): BloomRecord {
  const count = Number(fields.get('layers') ?? 0)
  const { mode = 'native' } = JSON.parse(fields.get('parameters') ?? '{}') as Partial<StoredParameters>
  const layers = Array.from({ length: count }, (_, n) => ({
    ...(JSON.parse(fields.get(`layer:${n}`)!) as BloomLayer),
    inserted: Number(fields.get(`inserted:${n}`) ?? 0),
    set: Number(fields.get(`set:${n}`) ?? 0),
    ...(mode !== 'native' && { compat: mode }),
  }))
  return { layers, lost: Number(fields.get('lost') ?? 0) }
}

/**
 * Returns how many lost requests each recorded one stands for: of those that come to a filter of error e, e are lost and
 * 1 - e recorded.
 */
export function lostPerRecorded(error: number): number {
  return 1 / Math.max(1 - error, 1e-6) - 1
}

/** Returns the probability that these layers together take a new request for a seen one. */
export function errorOf(layers: readonly CountedLayer[]): number {
  let right = 1
  for (const layer of layers) right *= 1 - layerError(layer)
  return 1 - right
}

function layerError(layer: CountedLayer): number {
  const { compat, bits, hashes } = layer
  const fill = fillOf(layer)
  return compat && fill > 0 ? compatStanding(compat, bits, hashes, fill).error : fill ** hashes
}

/** Returns how many times larger the error of a Python fork's filter is than that of independent hashes. */
export function excessOf(layer: CountedLayer): number {
  const fill = Number(fillOf(layer).toPrecision(3))
  if (fill === 0) return 1
  const { compat, bits, hashes } = layer
  const name = `${compat} ${bits} ${hashes} ${fill}`
  const excess =
    excesses.get(name) ?? layerError({ ...layer, set: fill * bits * layer.blocks }) / fill ** hashes
  excesses.set(name, excess)
  return excess
}

/** Kept, as a result takes a millisecond and each question needs one; there are some thousand fillings of three digits. */
const excesses = new Map<string, number>()

export function fillOf({ bits, blocks, set }: CountedLayer): number {
  return Math.min(1, set / (bits * blocks))
}

/** Returns whether the newest layer holds as many requests as it was made for. */
export function isFull(layers: readonly CountedLayer[]): boolean {
  const newest = layers.at(-1)
  return newest !== undefined && newest.inserted >= newest.capacity
}

/** A stage at which a filter needs attention. */
export interface BloomWarning {
  readonly stage: 'half' | 'full'
  readonly text: string
}

/** Returns the warnings about the newest layer. A filter that grows needs no warning at half its bits, as it grows there. */
export function warningsOf(layers: readonly CountedLayer[], grows: boolean): BloomWarning[] {
  const newest = layers.at(-1)
  if (newest === undefined || grows) return []
  const warnings: BloomWarning[] = []
  if (fillOf(newest) >= 0.5) {
    warnings.push({
      stage: 'half',
      text: 'half of the Bloom filter’s bits are set; from here its errors grow fast',
    })
  }
  if (newest.inserted >= newest.capacity) {
    warnings.push({
      stage: 'full',
      text: `the Bloom filter has reached its capacity: an error of ${newest.errorRate}, and more from here on. pagesLost tells how many pages that has cost; BLOOMFILTER_ON_FULL=grow adds layers`,
    })
  }
  return warnings
}

const SETTING_OF: Readonly<Record<keyof StoredParameters, string>> = {
  layout: 'DUPEFILTER_CLASS, BLOOMFILTER_PARTITION_BY',
  mode: 'BLOOMFILTER_COMPAT',
  partition: 'BLOOMFILTER_PARTITION_BY, BLOOMFILTER_PARTITIONS',
  bits: 'BLOOMFILTER_BIT or BLOOMFILTER_CAPACITY and BLOOMFILTER_ERROR_RATE',
  blocks: 'BLOOMFILTER_BLOCK_NUM',
  hashes: 'BLOOMFILTER_HASH_NUMBER',
  splits: 'BLOOMFILTER_SPLITS_MAX',
  fingerprinter: 'FINGERPRINTER, DUPEFILTER_DIGEST, CANONICALIZER, URL_RULES',
}
const NAMES = Object.keys(SETTING_OF) as (keyof StoredParameters)[]

export function isSame(one: StoredParameters, other: StoredParameters): boolean {
  return NAMES.every((name) => one[name] === other[name])
}

/** A filter that is stored, or that is wanted. */
export interface ComparedBloom {
  readonly parameters: StoredParameters
  readonly layer: BloomLayer
}

/**
 * Throws when the filters differ: bits that are read in another way than they were written would have every request seen,
 * or every request new.
 *
 * @param held how many requests the filter holds
 * @param typed the crawl as it is written on a command line
 */
export function refuseOthers(
  key: string,
  stored: ComparedBloom,
  own: ComparedBloom,
  held: number,
  typed: string,
): void {
  const [before, now] = [stored.parameters, own.parameters]
  const problems = NAMES.filter((name) => before[name] !== now[name]).map(
    (name) =>
      `the Bloom filter ${key} was begun with ${name} ${before[name] ?? 'plain'}, and this worker is set to ${now[name] ?? 'plain'} (${SETTING_OF[name]})`,
  )
  const last = problems.pop()
  if (last === undefined) return
  const lines = [
    last,
    ...(isOfSize(stored.layer, own.layer)
      ? []
      : [
          `It was made for ${sizeInWords(stored.layer)}; what is set now makes one for ${sizeInWords(own.layer)}.`,
        ]),
    `Nothing was changed: it keeps the requests seen (${held} request${held === 1 ? '' : 's'}). To go on with it, use the settings that it was begun with.`,
    `To begin a new filter with the present settings, and forget the requests seen:  webloom clear ${typed}`,
    'Or leave it as it is, and begin another one beside it with another SCHEDULER_DUPEFILTER_KEY',
  ]
  throw new SettingsError([...problems, lines.join('\n    ')])
}

function isOfSize(one: BloomLayer, other: BloomLayer): boolean {
  return one.capacity === other.capacity && one.errorRate === other.errorRate
}

function sizeInWords({ capacity, errorRate }: BloomLayer): string {
  return `${capacity} requests at an error of ${errorRate}`
}
