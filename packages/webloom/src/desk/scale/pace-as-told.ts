/** The pace of a crawl, as its workers have told it, and as somebody has ordered it. */

import { type HostOrders, type HostPace, type SettingName, Settings, type SlotView } from '@webloom/core'
import { paceOf, readHostOrders, readSettings, type SettingsTold } from '@webloom/queue'
import type { CrawlFromOutside } from '../../assembly/crawl-from-outside.ts'

const PACE = [
  'CONCURRENT_REQUESTS',
  'CONCURRENT_REQUESTS_PER_DOMAIN',
  'CONCURRENT_REQUESTS_PER_IP',
  'DOWNLOAD_DELAY',
  'DOWNLOAD_DELAY_JITTER',
  'DOWNLOAD_SLOTS',
  'RANDOMIZE_DOWNLOAD_DELAY',
] as const satisfies readonly SettingName[]

/** Returns the settings with the pace of the workers: where they tell nothing of one they have its default. Those that were given for a crawl whose workers have told none. */
export function paceAsTold(settings: Settings, told: SettingsTold | undefined): Settings {
  if (!told) return settings
  const values = new Map(told.settings.map(({ name, value }) => [name, value]))
  const defaults = new Settings({})
  const paces = PACE.filter((name) => values.has(name) || settings.isSet(name)).map((name) => [
    name,
    values.has(name) ? values.get(name) : defaults.get(name),
  ])
  const asTold = settings.with('command', Object.fromEntries(paces))
  try {
    for (const name of PACE) asTold.get(name)
    return asTold
  } catch {
    // A value that was cut as too long, or of a newer release.
    return settings
  }
}

export interface Paces {
  /** With the pace of the workers. */
  readonly settings: Settings
  readonly orders: HostOrders
  /** As these settings have it. */
  readonly pace: (slot: string) => HostPace
}

/** Whoever asks may have other settings than the workers, which were started elsewhere. */
export async function readPaces(crawl: CrawlFromOutside): Promise<Paces> {
  const [told, orders] = await Promise.all([readSettings(crawl.redis, crawl.keys), readHostOrders(crawl)])
  const settings = paceAsTold(crawl.crawler.settings, told)
  return { settings, orders, pace: paceOf(settings) }
}

/** Returns a slot with the delay that holds: what is ordered for it, else that of the settings, or longer as was learned. */
export function paced(slot: SlotView, { orders, pace }: Paces): SlotView {
  const delayMs = orders.get(slot.slot)?.delayMs ?? Math.max(pace(slot.slot).delayMs, slot.delayMs)
  return { ...slot, delayMs }
}
