/** Begins a Bloom filter on Redis, or goes on with one: writes its record, or compares the record with what is wanted. */

import { isRedisFull, SettingsError, WebloomError } from '@webloom/core'
import type { BloomLayer } from '../bloom-sizing/bloom-parameters.ts'
import type { FilterKeys } from '../redis/filter-keys.ts'
import { luaScript, type RedisConnection } from '../redis/redis-script.ts'
import { growBits, missingBytes, roomFor } from './bit-strings.ts'
import { type BloomRecord, isSame, recordOf, refuseOthers, type StoredParameters } from './bloom-record.ts'

const OPEN = luaScript('bloom/open.lua')

/** The filter that a worker wants to open. */
export interface BloomWish {
  /** The filter's name in DUPEFILTER_CLASS. */
  readonly filter: string
  readonly keys: FilterKeys
  /** The key of the first string of bits. */
  readonly first: string
  readonly parameters: StoredParameters
  readonly layer: BloomLayer
  /** Parameters that a filter of an earlier release may have noted instead. Such a filter is used as it is. */
  readonly older?: readonly StoredParameters[]
  /** The crawl as it is written on a command line. */
  readonly typed: string
  /** True when bits without a record, a Python crawler's, may be used. */
  readonly adopts?: boolean
}

export interface OpenedBloom {
  readonly record: BloomRecord
  /** The parameters of the record: the wanted ones, or some of an earlier release. */
  readonly parameters: StoredParameters
  /** True when the record was made now. */
  readonly isNew: boolean
  readonly hadBits: boolean
}

/** Opens the filter. Throws SettingsError when the stored filter was begun with other parameters. */
export async function openBloom(redis: RedisConnection, wish: BloomWish): Promise<OpenedBloom> {
  const { filter, keys, first, parameters, layer, typed, older = [], adopts = false } = wish
  await refuseOtherTypes(redis, first, filter)
  const reply = (await OPEN.run(
    redis,
    [first, keys.record],
    [JSON.stringify(parameters), JSON.stringify(layer), adopts ? '1' : '0'],
  )) as [string, number, ...string[]]
  const [found, hasBits, ...fields] = reply
  if (found === 'foreign') throw foreignBits(first)
  const stored = fieldsOf(fields)
  const noted = JSON.parse(stored.get('parameters')!) as StoredParameters
  const record = recordOf(stored)
  if (!older.some((one) => isSame(one, noted))) {
    const held = record.layers.reduce((sum, { inserted }) => sum + inserted, 0)
    const begun = { parameters: noted, layer: record.layers[0] ?? layer }
    refuseOthers(keys.main, begun, { parameters, layer }, held, typed)
  }
  return { record, parameters: noted, isNew: found === 'made', hadBits: hasBits === 1 }
}

export async function readRecord(redis: RedisConnection, { record }: FilterKeys): Promise<BloomRecord> {
  return recordOf(new Map(Object.entries(await redis.hgetall(record))))
}

/** Resolves to the parameters that a filter was begun with; to null without a record. */
export async function readParameters(
  redis: RedisConnection,
  { record }: FilterKeys,
): Promise<StoredParameters | null> {
  const parameters = await redis.hget(record, 'parameters')
  return parameters === null ? null : (JSON.parse(parameters) as StoredParameters)
}

/** Resolves to how the filter's fingerprints were made, by its record; to null without a record. */
export async function bloomNote(redis: RedisConnection, keys: FilterKeys): Promise<string | null> {
  return (await readParameters(redis, keys))?.fingerprinter ?? null
}

/**
 * Makes the strings as long as they will become. Throws WL_DUPEFILTER_FULL when Redis has no room for them.
 *
 * @param bits the bits of each string
 */
export async function makeRoom(
  redis: RedisConnection,
  strings: readonly string[],
  bits: number,
  main: string,
): Promise<void> {
  const noRoom = (cause?: unknown) =>
    new WebloomError(
      'WL_DUPEFILTER_FULL',
      `Redis has no room for a Bloom filter of ${Math.ceil((bits * strings.length) / 8 / 2 ** 20)} MiB at ${main}. Raise its maxmemory, or make the filter smaller (BLOOMFILTER_BIT, BLOOMFILTER_CAPACITY, BLOOMFILTER_ERROR_RATE)`,
      cause === undefined ? {} : { cause },
    )
  const missing = await missingBytes(redis, strings, bits)
  if (missing > 0 && missing > (await roomFor(redis))) throw noRoom()
  try {
    for (const key of strings) await growBits(redis, key, bits)
  } catch (error) {
    throw isRedisFull(error) ? noRoom(error) : error
  }
}

async function refuseOtherTypes(redis: RedisConnection, key: string, filter: string): Promise<void> {
  const type = await redis.type(key)
  if (type === 'string' || type === 'none') return
  throw new SettingsError([
    type === 'set'
      ? `DUPEFILTER_CLASS is ${filter}, but the key ${key} holds a set, as redis-set and scrapy-redis do; set DUPEFILTER_CLASS=redis-set, or another SCHEDULER_DUPEFILTER_KEY`
      : `SCHEDULER_DUPEFILTER_KEY is ${key}, a key that holds a ${type}; ${filter} needs a string or a key that is not used yet`,
  ])
}

function fieldsOf(flat: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>()
  for (let n = 0; n + 1 < flat.length; n += 2) fields.set(flat[n]!, flat[n + 1]!)
  return fields
}

function foreignBits(key: string): SettingsError {
  return new SettingsError([
    `the key ${key} holds bits that are not of this filter's making (no record beside them). If a Python crawler set them, set BLOOMFILTER_COMPAT to germey (scrapy-redis-bloomfilter), liuxingming or liuxingming-demo; otherwise choose another SCHEDULER_DUPEFILTER_KEY, or delete the key`,
  ])
}
