import { SettingsError, type ShardPart } from '@webloom/core'
import type { RedisConnection } from './redis-script.ts'

/**
 * The keys of one filter. The main key has the name that users and Python crawlers know. The other keys have that name as
 * their hash tag, so that Redis Cluster keeps all of them in one slot, where one script can reach them.
 */
export interface FilterKeys {
  /** What the filter remembers: the set, or the first string of bits. */
  readonly main: string
  /** Hash: member → the attempt and asker that were told it is new. */
  readonly pending: string
  /** Hash: asker → whether it is settled. `<owners>:<asker>` is the list of its members. */
  readonly owners: string
  /** List: settled askers, oldest first. `<settled>:<tag>` is that of a crawl that may share the filter with others. */
  readonly settled: string
  /** Hash: generation; for a Bloom filter also its parameters and counts. */
  readonly record: string
}

export function filterKeys(main: string): FilterKeys {
  return {
    main,
    pending: companionKey(main, 'pending'),
    owners: companionKey(main, 'owners'),
    settled: companionKey(main, 'settled'),
    record: companionKey(main, 'record'),
  }
}

/**
 * Returns the main key of a part: with its number at the end of the hash tag, `quotes:dupefilter#07` or `{quotes#07}:dupefilter`, so
 * that each part has a slot of its own. The first part has the same name whatever the number of parts.
 */
export function partKey(main: string, part: ShardPart | undefined): string {
  if (!part?.hasOwnKeys) return main
  const number = partNumber(part.index)
  return /\{[^}]+\}/.test(main) ? main.replace('}', `${number}}`) : main + number
}

/** A part in the names of its keys: `#07`. */
export function partNumber(index: number): string {
  return `#${String(index).padStart(2, '0')}`
}

export function companionKey(main: string, name: string): string {
  if (/\{[^}]+\}/.test(main)) return `${main}:${name}`
  if (!/[{}]/.test(main) && main !== '') return `{${main}}:${name}`
  throw new SettingsError([
    `SCHEDULER_DUPEFILTER_KEY is ${JSON.stringify(main)}; expected a name without braces, or with one hash tag in them, as in {quotes}:dupefilter`,
  ])
}

/** Yields the names of the askers, some hundred at a time. */
export async function* askersOf(redis: RedisConnection, { owners }: FilterKeys): AsyncGenerator<string[]> {
  let cursor = '0'
  do {
    const [next, found] = await redis.hscan(owners, cursor, 'COUNT', 200)
    cursor = next
    if (found.length > 0) yield found.filter((_text, n) => n % 2 === 0)
  } while (cursor !== '0')
}

/** Resolves to the bytes of memory that these keys take; to undefined where Redis cannot tell. */
export async function bytesOf(redis: RedisConnection, keys: readonly string[]): Promise<number | undefined> {
  let bytes = 0
  for (const key of keys) bytes += Number((await redis.memory('USAGE', key)) ?? 0)
  return bytes
}

/** Deletes the notes of all askers. */
export async function forgetAskers(redis: RedisConnection, keys: FilterKeys): Promise<void> {
  for await (const askers of askersOf(redis, keys))
    await redis.unlink(askers.map((asker) => `${keys.owners}:${asker}`))
}

/** Resolves to true when Redis has one of the keys. */
export async function hasAny(redis: RedisConnection, keys: readonly string[]): Promise<boolean> {
  const found = await Promise.all(keys.map((key) => redis.exists(key)))
  return found.includes(1)
}
