/** One host of a crawl on Redis, found by its exact name. */

import {
  type HostLists,
  type HostOrders,
  type HostsSeen,
  mergedAnswers,
  type OneHostSeen,
  type Settings,
  type SlotView,
} from '@webloom/core'
import { lineSample, paceOf, readHostOrders, readSettings, readSlot, slotPaces } from '@webloom/queue'
import type { CrawlFromOutside } from '../assembly/crawl-from-outside.ts'
import { paceAsTold } from './scale/pace-as-told.ts'

const SAMPLE_MAX = 20

/** Who has set a setting: its workers tell, and whoever looks has their values from them. */
export type SetBy = (name: 'DOWNLOAD_SLOTS' | 'DOWNLOAD_DELAY') => string

export async function readOneHost(
  crawl: CrawlFromOutside,
  host: string,
  { lists, mode, readAt }: HostsSeen,
  setBy: SetBy,
): Promise<OneHostSeen> {
  const orders = await readHostOrders(crawl)
  const slot = mode === 'turns' ? await readSlotPaced(crawl, host, orders) : null
  return {
    host,
    slot,
    delayFrom: slot && delayFrom(crawl.crawler.settings, slot, orders, setBy),
    isBoosted: orders.get(host)?.isBoosted === true,
    lists: listsOf(lists, host),
    ...answersOf(lists, host),
    sample: slot && (await sampleOf(crawl, host)),
    readAt,
  }
}

/** Reads the slot of a host with the delay that holds. */
export async function readSlotPaced(
  crawl: CrawlFromOutside,
  host: string,
  known?: HostOrders,
): Promise<SlotView> {
  const [slot, withPace] = await Promise.all([
    readSlot(crawl.redis, crawl.keys, host),
    readPaces(crawl, known),
  ])
  return withPace(slot)
}

/**
 * Resolves to a function that returns a slot with the delay that holds: what is ordered for the host, else that of the workers' settings, or longer as was
 * learned of it. Whoever asks may have other settings than the workers, which were started elsewhere.
 */
export async function readPaces(
  { redis, keys, crawler }: CrawlFromOutside,
  known?: HostOrders,
): Promise<(slot: SlotView) => SlotView> {
  const [told, orders] = await Promise.all([
    readSettings(redis, keys),
    known ?? readHostOrders({ redis, keys }),
  ])
  const pace = paceOf(paceAsTold(crawler.settings, told))
  return (slot) => {
    const delayMs = orders.get(slot.slot)?.delayMs ?? Math.max(pace(slot.slot).delayMs, slot.delayMs)
    return { ...slot, delayMs }
  }
}

/** Returns where a slot's delay comes from; null when there is none. */
export function delayFrom(
  settings: Settings,
  { slot, delayMs }: Pick<SlotView, 'slot' | 'delayMs'>,
  orders: HostOrders,
  setBy: SetBy,
): string | null {
  const order = orders.get(slot)
  if (order?.delayMs !== undefined) return `set by hand, ${new Date(order.at).toISOString()}`
  if (delayMs === 0) return null
  const own = paceOf(settings)(slot).delayMs
  if (delayMs > own) return 'learned: its robots.txt, or its answers'
  const setting = slot in slotPaces(settings) ? 'DOWNLOAD_SLOTS' : 'DOWNLOAD_DELAY'
  return `${setting} (${setBy(setting)})`
}

async function sampleOf(crawl: CrawlFromOutside, host: string): Promise<OneHostSeen['sample']> {
  const entries = await lineSample(crawl, host, SAMPLE_MAX)
  return entries.flatMap(({ request }) => (request ? [{ url: request.url, priority: request.priority }] : []))
}

/** A slot is named without a port, and what stands out with it. */
export function isOfHost(name: string, host: string): boolean {
  return name === host || withoutPort(name) === host
}

export function withoutPort(name: string): string {
  return name.replace(/:\d+$/, '')
}

/** Returns what the host has answered on all its ports. */
export function answersOf(
  { answers }: HostLists,
  name: string,
): Pick<OneHostSeen, 'statuses' | 'errors' | 'countedSince'> {
  const own = answers.filter(({ host }) => isOfHost(host, name)).map((entry) => ({ ...entry, host: name }))
  const [all] = mergedAnswers(own)
  if (!all) return { statuses: null, errors: [], countedSince: null }
  return { statuses: all.counts, errors: all.errors, countedSince: new Date(all.sinceMs).toISOString() }
}

/** Returns those entries alone that are the host's own. */
export function listsOf(lists: HostLists, host: string): HostLists {
  const isIts = (entry: { readonly host: string }) => isOfHost(entry.host, host)
  return {
    mostQueued: lists.mostQueued.filter(({ slot }) => isOfHost(slot, host)),
    failing: lists.failing.filter(isIts),
    slowest: lists.slowest.filter(isIts),
    paused: lists.paused.filter(isIts),
    givenUp: lists.givenUp.filter(isIts),
    recovered: lists.recovered.filter(isIts),
    answers: lists.answers.filter(isIts),
  }
}
