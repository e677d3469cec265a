/**
 * The settings of a crawl as its workers have them, for whoever looks at it without its project: a dashboard on another machine.
 *
 * Each worker writes them when it joins, so they are those of the worker that came last. Whoever writes them has hidden secrets.
 */

import type { SettingName, SettingTold } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'

/** What a worker tells of itself and its settings. */
export interface SettingsTold {
  /** Key of the start URLs from outside; null for a spider that takes none. */
  readonly seedKey: string | null
  /** Those that have their default are left out. */
  readonly settings: readonly SettingTold[]
}

const FORM = 1
/** Longer ones are cut, as they are shown and not used: a list of a thousand proxies. */
const VALUE_CHARS_MAX = 2000
/** By these the delays of hosts are told; some twenty thousand hosts. */
const USED_CHARS_MAX = 2 ** 20
const USED: ReadonlySet<string> = new Set<SettingName>(['DOWNLOAD_SLOTS'])
const CUT = '… (too long to be kept)'

export async function keepSettings(
  redis: Redis,
  keys: CrawlRedisKeys,
  { seedKey, settings }: SettingsTold,
): Promise<void> {
  const kept = settings.map((setting) => ({ ...setting, value: bounded(setting) }))
  await redis.set(keys.settings, JSON.stringify({ form: FORM, seedKey, settings: kept }))
}

/** Resolves to undefined for a crawl whose workers did not write them, or in another form. */
export async function readSettings(redis: Redis, keys: CrawlRedisKeys): Promise<SettingsTold | undefined> {
  const text = await redis.get(keys.settings)
  if (text === null) return undefined
  const { form, ...told } = JSON.parse(text) as SettingsTold & { readonly form: number }
  return form === FORM ? told : undefined
}

function bounded({ name, value }: SettingTold): unknown {
  const text = JSON.stringify(value) ?? 'null'
  if (text.length <= (USED.has(name) ? USED_CHARS_MAX : VALUE_CHARS_MAX)) return value
  return `${text.slice(0, VALUE_CHARS_MAX)}${CUT}`
}
