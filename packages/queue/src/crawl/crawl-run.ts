/** Runs of a crawl: their names, as the record knows one, and as others may read it who share something with the crawl; and that one is over. */

import { randomUUID } from 'node:crypto'
import { WebloomError } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'

/**
 * Begins the ids of runs whose pages ask the dupefilter under names that tell their crawl. In a run that an earlier release
 * has begun its workers may still be there, and take over from ours: all go on with its names.
 */
const NAMED_RUN = 'n.'

/** Whoever begins a run makes its id here: a worker, or `webloom import`. */
export function newRunId(): string {
  return NAMED_RUN + randomUUID()
}

/** Letters of a crawl's id: of a thousand crawls of one name on one filter two have the same with one in ten thousand. */
const CRAWL_LETTERS = 8

/**
 * The crawl and its run; '' for a run that was begun before there were such names. A crawl of the same name may be on another
 * server, so it has the id of its first run, too.
 */
export function runNameOf({ queueName }: CrawlRedisKeys, runId: string, firstRunId: string): string {
  if (!runId.startsWith(NAMED_RUN)) return ''
  return `${queueName}/${firstRunId.slice(NAMED_RUN.length, NAMED_RUN.length + CRAWL_LETTERS)} ${runId}`
}

/**
 * Resolves to the name of the run that is there, or of one that would begin now, and whether a worker of it has joined its dupefilter: for a
 * command that is about to bring requests.
 */
export async function joinedRunOf({
  redis,
  keys,
}: {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
}): Promise<{ readonly name: string; readonly isJoined: boolean }> {
  const fields = ['run', 'firstRun', 'filterJoined', 'clearing']
  const [run, firstRun, joined, clearing] = await redis.hmget(keys.record, ...fields)
  // A clearing that was cut off has left what it was about.
  const [id, first] = run ? [run, firstRun] : (clearing?.split(' ') ?? [newRunId()])
  return { name: runNameOf(keys, id!, first ?? id!), isJoined: joined !== null }
}

/** One crawl from its beginning to its end. */
export interface CrawlRun {
  readonly id: string
  /** Milliseconds, by Redis's clock. */
  readonly begunAt: number
  /** When it began, or was resumed, whichever was later. */
  readonly runningSince: number
}

/** The crawl has finished or was cleared, or another run of it has begun: this worker may write nothing more for its run. */
export class RunOver extends WebloomError {
  constructor() {
    super(
      'WL_LEASE_LOST',
      'the crawl has ended or was cleared, or another run of it has begun: nothing of this worker’s is queued or fetched any more',
    )
  }
}
