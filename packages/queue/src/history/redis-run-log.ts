/**
 * The runs of a crawl on Redis, for its monitors.
 *
 * The notes of a run are one text. A worker reads it, changes it, and writes it if nobody has changed it since (compare and set). So
 * all decisions are in one place (`monitors/` of `@webloom/spider`), and Redis only decides which of two workers comes first.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Logger,
  type MonitorNotes,
  type RunFigures,
  type RunLog,
  type RunLook,
  type RunSeen,
  type RunState,
  redisNowMs,
  redisRefusal,
  silentLogger,
  WebloomError,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import { readCrawl, readPresence } from '../outside/crawl-view.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { OomSafeScript } from '../redis/oom-safe-script.ts'
import { keepLostRun, keepRun, notesIn, pastRun, presentRun, readNotedRuns } from './run-records.ts'

export interface RedisRunLogOptions {
  /** The queue's Redis; opened and closed by whoever gives it. */
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  /** STATS_KEY with the crawl's name in it. */
  readonly statsKey: string
  /** The run that this worker has joined. Absent: it takes part in none. */
  readonly joined?: () => JoinedRun
  /** Default: tells nobody. */
  readonly logger?: Logger
}

/** Workers that change notes in the same moment are as many as there are, and each does so some times a minute. */
const CHANGES_MAX = 200
const PAUSE_MS_MAX = 20

const noteScript = new OomSafeScript('history/note-run.lua')

/** A run, as whoever joins it is told. */
export interface JoinedRun {
  readonly id: string
  /** Milliseconds. */
  readonly begunAt: number
}

export class RedisRunLog implements RunLog {
  readonly #options: RedisRunLogOptions
  #hasWarned = false

  constructor(options: RedisRunLogOptions) {
    this.#options = options
  }

  async look(): Promise<RunLook | undefined> {
    const { redis, keys } = this.#options
    const [view, since] = await Promise.all([
      readCrawl(this.#options),
      redis.hget(keys.record, 'runningSince'),
    ])
    if (view.run === null || view.begunAt === null) return undefined
    // While it runs, each sample writes it down. Who looks at its end is the one that judges it.
    if (view.state !== 'running')
      await keepRun(redis, keys, view).catch((error: unknown) => {
        // Reading tells of it.
        if (redisRefusal(error) !== 'wrong-type') throw error
      })
    const all = await readNotedRuns(redis, keys, (what) => this.#unreadable(what))
    const text = await redis.hget(keys.monitors, view.run)
    return {
      run: presentRun(view, view.run, view.begunAt, notesIn(text)),
      past: all.filter(({ run }) => run.run !== view.run && run.state !== 'running').map(pastRun),
      stats: view.stats,
      atMs: view.readAt.getTime(),
      runningSinceMs: Number(since ?? view.begunAt.getTime()),
    }
  }

  async state(): Promise<RunState | undefined> {
    const { redis, keys } = this.#options
    const [[run, state, endedAt, finishReason], { present }] = await Promise.all([
      redis.hmget(keys.record, 'run', 'state', 'endedAt', 'finishReason'),
      readPresence({ redis, keys }),
    ])
    if (!run) return undefined
    return {
      run,
      state: (state ?? 'lost') as RunState['state'],
      ...(endedAt && { endedAt: new Date(Number(endedAt)).toISOString() }),
      ...(finishReason && { finishReason }),
      isWhole: state !== 'running' && present.length === 0,
    }
  }

  async change<T>(
    run: string,
    change: (notes: MonitorNotes, nowMs: number) => readonly [MonitorNotes, T],
  ): Promise<T> {
    const { redis, keys } = this.#options
    for (let n = 0; n < CHANGES_MAX; n++) {
      const [text, nowMs] = await Promise.all([redis.hget(keys.monitors, run), redisNowMs(redis)])
      const notes = notesIn(text)
      const [changed, result] = change(notes, nowMs)
      if (changed === notes) return result
      const written = await noteScript.run(redis, [keys.monitors], [run, text ?? '', JSON.stringify(changed)])
      if (written === 1) return result
      await sleep(Math.random() * PAUSE_MS_MAX)
    }
    throw new WebloomError(
      'WL_REDIS_AWAY',
      `the monitors’ notes of run ${run} could not be written: others changed them ${CHANGES_MAX} times in a row. The next look tries again`,
    )
  }

  keepLost(figures: RunFigures): Promise<RunSeen> {
    const { redis, keys, joined } = this.#options
    if (!joined) throw new Error('whoever takes part in no run loses none')
    const { id, begunAt } = joined()
    return keepLostRun(redis, keys, { run: id, begunAt: new Date(begunAt), ...figures })
  }

  #unreadable(what: string): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    const { logger = silentLogger } = this.#options
    logger.warn(
      { what },
      'records of earlier runs cannot be read; the monitors compare this run with the others',
    )
  }
}
