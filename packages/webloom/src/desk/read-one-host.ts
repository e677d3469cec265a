/** One host of a crawl on Redis, found by its exact name. */

import type { HostLists, HostsSeen, OneHostSeen, Settings, SlotView } from '@webloom/core'
import { lineSample, paceOf, readSlot } from '@webloom/queue'
import type { CrawlFromOutside } from '../assembly/crawl-from-outside.ts'

const SAMPLE_MAX = 20

export async function readOneHost(
  crawl: CrawlFromOutside,
  host: string,
  { lists, mode, readAt }: HostsSeen,
): Promise<OneHostSeen> {
  const slot = mode === 'turns' ? await readSlotPaced(crawl, host) : null
  return {
    host,
    slot,
    delayFrom: slot && delayFrom(crawl.crawler.settings, slot),
    lists: listsOf(lists, host),
    sample: slot && (await sampleOf(crawl, host)),
    statuses: null,
    readAt,
  }
}

/** With the delay of the settings in it. */
export async function readSlotPaced(
  { redis, keys, crawler }: CrawlFromOutside,
  host: string,
): Promise<SlotView> {
  return paced(await readSlot(redis, keys, host), crawler.settings)
}

export function paced(slot: SlotView, settings: Settings): SlotView {
  return { ...slot, delayMs: Math.max(paceOf(settings)(slot.slot).delayMs, slot.delayMs) }
}

function delayFrom(settings: Settings, { slot, delayMs }: SlotView): string | null {
  if (delayMs === 0) return null
  const own = paceOf(settings)(slot).delayMs
  if (delayMs > own) return 'learnt: its robots.txt, or its answers'
  const setting = slot in settings.getDict('DOWNLOAD_SLOTS') ? 'DOWNLOAD_SLOTS' : 'DOWNLOAD_DELAY'
  return `${setting} (${settings.source(setting)})`
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

function listsOf(lists: HostLists, host: string): HostLists {
  const isIts = (entry: { readonly host: string }) => isOfHost(entry.host, host)
  return {
    mostQueued: lists.mostQueued.filter(({ slot }) => isOfHost(slot, host)),
    failing: lists.failing.filter(isIts),
    slowest: lists.slowest.filter(isIts),
    paused: lists.paused.filter(isIts),
    givenUp: lists.givenUp.filter(isIts),
    recovered: lists.recovered.filter(isIts),
  }
}
