/** A run that a schedule has begun, and that its workers refuse: it would go on for ever without one. */

import type { CrawlName } from '@webloom/core'
import type { Redis } from 'ioredis'
import { NOT_OPENED } from '../crawl/crawl-leaving.ts'
import { stopCrawl } from '../outside/crawl-control.ts'
import { readPresence } from '../outside/crawl-view.ts'
import { crawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { askedBy, BEGAN, type Scheduled } from './begin-run.ts'
import { noteFire } from './fire-counts.ts'
import { type LastFire, lastKey, scheduleKeys } from './schedule-queue.ts'
import { addUntold } from './untold.ts'

/** The finish reason of such a run. */
export const REFUSED = 'refused'

/**
 * Ends the run and notes for its schedule why; its next hour tries it again. Resolves to the schedule's name; does nothing, and resolves to
 * undefined, for a run that no schedule has begun, and while a worker is there.
 *
 * @param asked of `crawlWanted`, as it was when a worker refused it: what has gone on with the run since is not refused
 */
export async function refuseRun(
  { redis, name, asked }: { readonly redis: Redis; readonly name: CrawlName; readonly asked?: string },
  why: string,
): Promise<string | undefined> {
  const keys = crawlRedisKeys(name)
  const [state, reason, ...began] = await redis.hmget(keys.record, 'state', 'finishReason', ...BEGAN)
  const [run, scheduled] = began
  if (asked !== undefined && asked !== askedBy(began)) return undefined
  const isRefused = state === 'running' || (state === 'stopped' && reason === NOT_OPENED)
  if (!isRefused || run == null || scheduled == null) return undefined
  const { present } = await readPresence({ redis, keys })
  if (present.length > 0) return undefined
  // Whoever is killed behind this does it again: the run goes on until its end.
  const { schedule } = JSON.parse(scheduled) as Scheduled
  await noteFailed({ redis, name }, schedule, why)
  return (await stopCrawl({ redis, keys }, REFUSED, run)) ? schedule : undefined
}

/** A schedule that is gone by now has no fire of which that could be noted; people are told all the same. */
async function noteFailed(
  { redis, name }: { readonly redis: Redis; readonly name: CrawlName },
  schedule: string,
  why: string,
): Promise<void> {
  const keys = scheduleKeys(name)
  const last = await redis.hget(lastKey(keys), schedule)
  const { crawlId } = name
  if (last === null) return addUntold(redis, keys, { schedule, crawlId, why })
  const failed: LastFire = { ...(JSON.parse(last) as LastFire), at: Date.now(), outcome: 'failed', why }
  await noteFire(redis, keys, { name: schedule, crawlId }, failed)
}
