/** The names of runs: as the record knows one, and as others may read it who share something with the crawl. */

import { randomUUID } from 'node:crypto'
import type { CrawlRedisKeys } from './crawl-redis-keys.ts'

/**
 * Begins the ids of runs whose pages ask the dupefilter under names that tell their crawl. In a run that an earlier release
 * has begun its workers may still be there, and take over from ours: all go on with its names.
 */
const NAMED_RUN = 'n.'

/** Whoever begins a run makes its id here: a worker, or `webloom import`. */
export function newRunId(): string {
  return NAMED_RUN + randomUUID()
}

/** The crawl and its run; '' for a run that was begun before there were such names. */
export function runNameOf({ queueName }: CrawlRedisKeys, runId: string): string {
  return runId.startsWith(NAMED_RUN) ? `${queueName} ${runId}` : ''
}
