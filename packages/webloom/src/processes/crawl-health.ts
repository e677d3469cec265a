/** Whether a process that crawls does so, for whoever would start another in its place. */

import { type Health, type HealthAnswer, redisTargets } from '@webloom/core'
import type { Crawl } from '../assembly/crawl.ts'

/** A server that is away is no reason to end a process that waits for it: it is alive, and not ready. */
export function crawlHealth(crawl: Crawl): Health {
  return {
    alive: () => answer(stalledBecause(crawl)),
    ready: async () => answer(stalledBecause(crawl) ?? (await notReadyBecause(crawl))),
  }
}

function answer(why: string | undefined): HealthAnswer {
  return why === undefined ? { ok: true } : { ok: false, why }
}

function stalledBecause(crawl: Crawl): string | undefined {
  if (!crawl.inside.engine.activity.stalled) return undefined
  return 'it has nothing to do, but the queue has requests in flight in its name'
}

async function notReadyBecause(crawl: Crawl): Promise<string | undefined> {
  if (crawl.phase === 'waiting') return `it waits for ${serversOf(crawl)}`
  if (crawl.phase === 'ending') return `it ends: ${crawl.inside.engine.endsBecause ?? 'the crawl is over'}`
  const waits = crawl.inside.store.waits?.()
  if (waits !== undefined) return `it waits ${waits}`
  if (crawl.phase === 'opening') return 'the crawl is being opened'
  const silent = await crawl.inside.store.silentServer()
  return silent && `Redis at ${silent} does not answer, or takes no writes`
}

function serversOf({ settings }: Crawl): string {
  const targets = (['queue', 'dupefilter'] as const).flatMap((role) => redisTargets(settings, role))
  const shown = [...new Set(targets.map((target) => target.shown))]
  return shown.length === 0 ? 'its queue' : `Redis at ${shown.join(' and ')}`
}
