/** One host of a crawl on Redis, found by its exact name. */

import { type HostLists, type HostsSeen, mergedAnswers, type OneHostSeen, type SlotView } from '@webloom/core'
import { lineSample, readSlot, slotPaces } from '@webloom/queue'
import type { CrawlFromOutside } from '../../assembly/crawl-from-outside.ts'
import { type Paces, paced, readPaces } from './paces.ts'

const SAMPLE_MAX = 20

export async function readOneHost(
  crawl: CrawlFromOutside,
  host: string,
  { lists, mode, readAt }: HostsSeen,
): Promise<OneHostSeen> {
  const paces = await readPaces(crawl)
  const slot = mode === 'turns' ? paced(await readSlot(crawl.redis, crawl.keys, host), paces) : null
  return {
    host,
    slot,
    delayFrom: slot && delayFrom(slot, paces),
    isBoosted: paces.orders.get(host)?.isBoosted === true,
    lists: listsOf(lists, host),
    ...answersOf(lists, host),
    sample: slot && (await sampleOf(crawl, host)),
    readAt,
  }
}

/** Returns where a slot's delay comes from; null when there is none. */
export function delayFrom(
  { slot, delayMs }: Pick<SlotView, 'slot' | 'delayMs'>,
  { settings, orders, pace, setBy }: Paces,
): string | null {
  const order = orders.get(slot)
  if (order?.delayMs !== undefined) return `set by hand, ${new Date(order.at).toISOString()}`
  if (delayMs === 0) return null
  if (delayMs > pace(slot).delayMs) return 'learned: its robots.txt, or its answers'
  const setting = slotPaces(settings)[slot]?.delayMs === undefined ? 'DOWNLOAD_DELAY' : 'DOWNLOAD_SLOTS'
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
    unanswered: lists.unanswered.filter(isIts),
    paused: lists.paused.filter(isIts),
    givenUp: lists.givenUp.filter(isIts),
    recovered: lists.recovered.filter(isIts),
    answers: lists.answers.filter(isIts),
  }
}
