/**
 * The runs of a crawl on Redis, for its monitors.
 *
 * What is noted of a run is one text: it is read, changed here, and written when it is still what was read. So all that is decided is
 * decided in one place (`@webloom/spider`, `monitors/`), and Redis only sees to it that of two workers one comes first.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { type MonitorNotes, NO_NOTES, type RunLog, type RunLook, WebloomError } from '@webloom/core'
import type { Redis } from 'ioredis'
import { readCrawl } from '../outside/crawl-view.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { OomSafeScript } from '../redis/oom-safe-script.ts'
import { keepRun, readRuns, seenRun } from './run-records.ts'

export interface RedisRunLogOptions {
  /** The queue's Redis; opened and closed by whoever gives it. */
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  /** STATS_KEY with the crawl's name in it. */
  readonly statsKey: string
}

/** Workers that change notes in the same moment are as many as there are, and each does so some times a minute. */
const CHANGES_MAX = 200
const PAUSE_MS_MAX = 20

const noteScript = new OomSafeScript('history/note-run.lua')

export class RedisRunLog implements RunLog {
  readonly #options: RedisRunLogOptions

  constructor(options: RedisRunLogOptions) {
    this.#options = options
  }

  async look(): Promise<RunLook | undefined> {
    const { redis, keys } = this.#options
    const view = await readCrawl(this.#options)
    if (view.run === null) return undefined
    await keepRun(redis, keys, view)
    const runs = (await readRuns(redis, keys)).map(seenRun)
    const run = runs.find((one) => one.run === view.run)
    if (!run) return undefined
    return {
      run,
      past: runs.filter((one) => one !== run && one.state !== 'running'),
      stats: view.stats,
      atMs: view.readAt.getTime(),
      isWhole: !view.workers.some(({ lost }) => !lost),
    }
  }

  async change<T>(
    run: string,
    change: (notes: MonitorNotes, nowMs: number) => readonly [MonitorNotes, T],
  ): Promise<T> {
    const { redis, keys } = this.#options
    for (let n = 0; n < CHANGES_MAX; n++) {
      const [text, [seconds, micros]] = await Promise.all([redis.hget(keys.monitors, run), redis.time()])
      const notes = text === null ? NO_NOTES : (JSON.parse(text) as MonitorNotes)
      const [changed, result] = change(notes, Number(seconds) * 1000 + Math.floor(Number(micros) / 1000))
      if (changed === notes) return result
      const written = await noteScript.run(redis, [keys.monitors], [run, text ?? '', JSON.stringify(changed)])
      if (written === 1) return result
      await sleep(Math.random() * PAUSE_MS_MAX)
    }
    throw new WebloomError(
      'WL_REDIS_AWAY',
      `what monitors note of run ${run} was changed by others ${CHANGES_MAX} times in a row; it is tried again with the next look`,
    )
  }
}
