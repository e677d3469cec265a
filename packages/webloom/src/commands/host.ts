/** `webloom host`: how one host stands, and what is ordered for it while the crawl runs. */

import { type HostOrder, type SlotView, slotNamed, slotTyped, UsageError } from '@webloom/core'
import { type HostOrderChange, isCrawlKnown, readSlot, readSlots, refuseOtherFormat } from '@webloom/queue'
import type { SpiderClass } from '@webloom/spider'
import {
  type CrawlFromOutside,
  type OutsideFlags,
  withCrawlFromOutside,
} from '../assembly/crawl-from-outside.ts'
import { paced, readPaces } from '../desk/hosts/paces.ts'
import { delayFrom } from '../desk/hosts/read-one-host.ts'
import { setHost } from '../desk/hosts/set-host.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { delayInWords, grouped, row } from '../terminal/figures.ts'
import { visible, visibleJson } from '../terminal/sanitize.ts'
import { spanMs } from '../terminal/time-span.ts'

export interface HostFlags extends OutsideFlags {
  /** A span of time, or `default`. */
  readonly delay?: string
  /** A span of time. */
  readonly pause?: string
  readonly resume?: boolean
  readonly boost?: boolean
  readonly unboost?: boolean
}

/** Changes what the flags name; without any of them only tells how the host stands. */
export async function host(
  Class: SpiderClass,
  typed: string,
  flags: HostFlags,
  config: LoadedConfig,
): Promise<void> {
  const change = changeOf(flags)
  await withCrawlFromOutside(Class, flags, config, async (crawl) => {
    await refuseOtherFormat(crawl)
    const name = slotMeant(typed)
    if (Object.keys(change).length > 0) await setHost(crawl, name, change)
    const isInTurns = crawl.crawler.settings.get('QUEUE_MODE') === 'turns'
    const [read, paces] = await Promise.all([
      isInTurns ? readSlot(crawl.redis, crawl.keys, name) : null,
      readPaces(crawl),
    ])
    const order = paces.orders.get(name)
    const slot = read && paced(read, paces)
    if (flags.json) {
      console.log(visibleJson(JSON.stringify({ host: name, order: order ?? null, slot })))
      return
    }
    const lines = [
      ...orderLines(name, order),
      ...(slot
        ? [row('delay', delayWords(slot.delayMs, delayFrom(slot, paces))), row('queue', queueWords(slot))]
        : []),
      ...(slot && slot.waiting + slot.delayed + slot.leased === 0 ? await strangerLines(crawl) : []),
    ]
    for (const line of lines) console.log(visible(line))
  })
}

function changeOf({ delay, pause, resume, boost, unboost }: HostFlags): HostOrderChange {
  if (pause !== undefined && resume)
    throw new UsageError('WL_USAGE', '--pause and --resume exclude each other: give one of them')
  if (boost && unboost)
    throw new UsageError('WL_USAGE', '--boost and --unboost exclude each other: give one of them')
  return {
    ...(delay !== undefined && { delayMs: delay === 'default' ? null : spanMs(delay, '--delay') }),
    ...(pause !== undefined && { pauseMs: spanMs(pause, '--pause') }),
    ...(resume && { pauseMs: null }),
    ...(boost && { boost: true }),
    ...(unboost && { boost: false }),
  }
}

/** Slots are named by the host alone. */
function slotMeant(typed: string): string {
  if (/^[^"]*\*/.test(typed) && typed.includes('.'))
    throw new UsageError(
      'WL_USAGE',
      `${JSON.stringify(typed)} looks like a pattern, and an order is for one host; write its name, as shop.example.com, or for a meta.download_slot of that name  '"${typed}"'`,
    )
  const name = slotNamed(typed)
  if (name !== undefined) return name
  throw new UsageError(
    'WL_USAGE',
    `${JSON.stringify(typed)} is not a host; write its name, as quotes.toscrape.com`,
  )
}

function delayWords(delayMs: number, from: string | null): string {
  const words = delayMs === 0 ? 'none' : delayInWords(delayMs)
  return from === null ? words : `${words} · ${from}`
}

function queueWords({ waiting, delayed, leased }: SlotView): string {
  return `waiting ${grouped(waiting)} · delayed ${grouped(delayed)} · in flight ${leased}`
}

function orderLines(name: string, order: HostOrder | undefined): string[] {
  if (!order) return [`${name}   nothing is ordered for it: settings and the host itself decide`]
  const { delayMs, pauseMs, isBoosted } = order
  const parts = [
    ...(delayMs === undefined ? [] : [`delay ${delayInWords(delayMs)}`]),
    ...(pauseMs === undefined
      ? []
      : [pauseMs === 0 ? 'its pause ends' : `paused for ${delayInWords(pauseMs)}`]),
    ...(isBoosted ? ['boosted'] : []),
  ]
  return [`${name}   ordered: ${parts.join(' · ')}, since ${new Date(order.at).toISOString()}`]
}

const EXAMPLES_MAX = 3
/** Paused hosts come first, and may have nothing. */
const LOOKED_AT = 20

const NOT_KNOWN =
  '  nobody has begun the crawl here; a misspelt name, and another CRAWL_ID or REDIS_URL than the workers have, look like this, too'

/** A name that is misspelt must not look as if all were well. */
async function strangerLines({ redis, keys }: CrawlFromOutside): Promise<string[]> {
  const slots = await readSlots(redis, keys, LOOKED_AT)
  const some = slots.filter(({ waiting, delayed, leased }) => waiting + delayed + leased > 0)
  if (some.length === 0 && !(await isCrawlKnown(redis, keys))) return [NOT_KNOWN]
  const named = some
    .slice(0, EXAMPLES_MAX)
    .map(({ slot }) => slotTyped(slot))
    .join(', ')
  return [
    `  nothing of that host is queued now.${named === '' ? '' : ` Hosts of which something is: ${named}`}`,
  ]
}
