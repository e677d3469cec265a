/** The pace of a crawl, as its workers have told it, and as somebody has ordered it. */

import {
  type HostOrders,
  type HostPace,
  type SettingName,
  Settings,
  SettingsError,
  type SlotView,
} from '@webloom/core'
import { paceOf, readHostOrders, readSettings, type SettingsTold, slotPaces } from '@webloom/queue'
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

/**
 * Returns the settings with the pace of the workers: where they tell nothing of one they have its default. Those that were given for a crawl
 * whose workers have told none, and of a value that was cut, or is of a newer release.
 */
export function paceAsTold(settings: Settings, told: SettingsTold | undefined): Settings {
  if (!told) return settings
  const values = new Map(told.settings.map(({ name, value }) => [name, value]))
  const defaults = new Settings({})
  let asTold = settings
  for (const name of PACE) {
    if (!values.has(name) && !settings.isSet(name)) continue
    const one = asTold.with('command', { [name]: values.has(name) ? values.get(name) : defaults.get(name) })
    if (isReadable(one, name)) asTold = one
  }
  return asTold
}

/** A newer release may know more of DOWNLOAD_SLOTS. */
function isReadable(settings: Settings, name: SettingName): boolean {
  try {
    if (name === 'DOWNLOAD_SLOTS') slotPaces(settings)
    else settings.get(name)
    return true
  } catch (error) {
    if (error instanceof SettingsError) return false
    throw error
  }
}

/** Who has set a setting of which a delay comes. */
export type SetBy = (name: 'DOWNLOAD_SLOTS' | 'DOWNLOAD_DELAY') => string

/** Returns who has set what `paceAsTold` has of a setting: where the workers have told nothing of theirs, or nothing readable, whoever looks. */
export function setByOf(own: Settings, told: SettingsTold | undefined, name: Parameters<SetBy>[0]): string {
  const one = told?.settings.find((setting) => setting.name === name)
  if (told && !one) return 'default'
  const isTold = one !== undefined && isReadable(own.with('command', { [name]: one.value }), name)
  return (isTold ? one.source : own.source(name)) ?? 'default'
}

/** How fast hosts may be asked, and why. */
export interface Paces {
  /** With the pace of the workers. */
  readonly settings: Settings
  readonly orders: HostOrders
  /** As these settings have it. */
  readonly pace: (slot: string) => HostPace
  readonly setBy: SetBy
}

/** Whoever asks may have other settings than the workers, which were started elsewhere. */
export async function readPaces(crawl: CrawlFromOutside): Promise<Paces> {
  const [told, orders] = await Promise.all([readSettings(crawl.redis, crawl.keys), readHostOrders(crawl)])
  const settings = paceAsTold(crawl.crawler.settings, told)
  const setBy: SetBy = (name) => setByOf(crawl.crawler.settings, told, name)
  return { settings, orders, pace: paceOf(settings), setBy }
}

/** Returns a slot with the delay that holds: what is ordered for it, else that of the settings, or longer as was learned. */
export function paced<Slot extends Pick<SlotView, 'slot' | 'delayMs'>>(
  slot: Slot,
  { orders, pace }: Pick<Paces, 'orders' | 'pace'>,
): Slot {
  const delayMs = orders.get(slot.slot)?.delayMs ?? Math.max(pace(slot.slot).delayMs, slot.delayMs)
  return { ...slot, delayMs }
}
