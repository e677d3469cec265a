/** What a checkout that may be older than this one can be told. */

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Settings } from './crawl-of-row.ts'

/** Settings without which a row would be another crawl; those of a row that does not use them are never asked for. */
const NEEDED: readonly string[] = [
  'DUPEFILTER_CLASS',
  'DUPEFILTER_REDIS_URL',
  'QUEUE_REDIS_URL',
  'DOWNLOAD_DELAY',
  'ROBOTSTXT_OBEY',
  'DNS_SERVERS',
]

/** The checkout has no setting, or no command, that the row cannot do without. */
export class RowNotKnown extends Error {}

/** The settings that the checkout's table has. Throws `RowNotKnown` when one of those it lacks is needed. */
export async function knownSettings(settings: Settings, checkout: string): Promise<Settings> {
  const file = pathToFileURL(join(checkout, 'packages/core/dist/index.js')).href
  const { SETTINGS_TABLE } = (await import(file)) as { SETTINGS_TABLE: readonly { readonly name: string }[] }
  const names = new Set(SETTINGS_TABLE.map(({ name }) => name))
  const lacking = Object.keys(settings).filter((name) => !names.has(name))
  const needed = lacking.filter((name) => NEEDED.includes(name))
  if (needed.length > 0) throw new RowNotKnown(`${checkout} has no setting ${needed.join(', ')}`)
  if (lacking.length > 0) console.error(`${checkout} has no setting ${lacking.join(', ')}: left out`)
  return Object.fromEntries(Object.entries(settings).filter(([name]) => names.has(name)))
}
