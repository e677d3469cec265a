/** Fetches turns from BullMQ, one by one, while this worker wants more, and begins them. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type HostPace, isRedisFull, type Logger, type ProtocolTimes } from '@webloom/core'
import type { HeldTurns } from './held-turns.ts'
import { HostTurn } from './host-turn.ts'
import type { TurnJob, TurnJobs } from './turn-jobs.ts'
import type { Stirred, TurnScripts } from './turn-scripts.ts'

/** How long turns that were served already wait while more turns are at hand. */
const FRESH_WAIT_MS = 50
/** BullMQ's reply is awaited elsewhere; so many turns may be under way from there to here. */
const BEGINNING_MAX = 16

export interface TurnIntakeOptions {
  readonly scripts: TurnScripts
  readonly jobs: TurnJobs
  readonly workerId: string
  readonly pace: (slot: string) => HostPace
  readonly quarantineAfter: number
  readonly times: ProtocolTimes
  readonly logger: Logger
  /** Returns whether this worker has room for one more turn, with so many under way. */
  readonly wants: (beginning: number) => boolean
  /** The turns that this worker has. */
  readonly turns: HeldTurns
  readonly onBegun: (turn: HostTurn, stirred: Stirred) => void
  /** Called when BullMQ has no more turns at hand. */
  readonly onDrained: () => void
  readonly onPoint: (name: 'fetched' | 'begun' | 'completed') => void
}

export class TurnIntake {
  readonly #options: TurnIntakeOptions
  readonly #beginning = new Set<Promise<void>>()
  /** By host: until when its turns are left to others. */
  readonly #leftUntilMs = new Map<string, number>()
  /** True when the turn that was fetched last was left to others. */
  #hasLeftLast = false
  #turns = 0
  #lookingSinceMs: number | undefined
  /** True when BullMQ had no more turns at hand at the last fetch. */
  #isDrained = false
  #isClosed = false
  #wake: (() => void) | undefined

  constructor(options: TurnIntakeOptions) {
    this.#options = options
  }

  /** True while turns are at hand that may be fresher than those which this worker has. */
  get isLooking(): boolean {
    const sinceMs = this.#lookingSinceMs
    return sinceMs !== undefined && performance.now() - sinceMs < FRESH_WAIT_MS
  }

  open(): void {
    void this.#run()
  }

  /** Called when there may be room again. */
  wake(): void {
    if (this.#wake && this.#options.wants(this.#beginning.size)) {
      // Fresh turns may come from now on.
      this.#lookingSinceMs ??= performance.now()
      this.#wake()
    }
  }

  /** Leaves that host's turns to others for so long. */
  leave(host: string, ms: number): void {
    const nowMs = performance.now()
    for (const [old, untilMs] of this.#leftUntilMs) if (untilMs <= nowMs) this.#leftUntilMs.delete(old)
    this.#leftUntilMs.set(host, nowMs + ms)
  }

  /** Begins no more turns. A turn that is being fetched goes back. */
  stop(): void {
    this.#isClosed = true
    this.#wake?.()
  }

  /** Resolves when all fetched turns have begun, or have gone back. */
  async settled(): Promise<void> {
    await Promise.all(this.#beginning)
  }

  async #run(): Promise<void> {
    const { wants } = this.#options
    while (!this.#isClosed) {
      if (!wants(this.#beginning.size) || this.#beginning.size >= BEGINNING_MAX) {
        await this.#rest()
        continue
      }
      try {
        await this.#fetch()
      } catch (error) {
        if (this.#isClosed) return
        await this.#onRefusal(error as Error)
      }
    }
  }

  async #fetch(): Promise<void> {
    const job = this.#isDrained ? await this.#options.jobs.fetch({ block: true }) : await this.#fetchAtHand()
    this.#isDrained = !job
    if (!job || (await this.#isLeft(job))) return
    this.#lookingSinceMs ??= performance.now()
    const beginning = this.#begin(job).finally(() => {
      this.#beginning.delete(beginning)
      this.#wake?.()
    })
    this.#beginning.add(beginning)
  }

  async #fetchAtHand(): Promise<TurnJob | undefined> {
    this.#lookingSinceMs ??= performance.now()
    const job = await this.#options.jobs.fetch({ block: false })
    if (job) return job
    await Promise.all(this.#beginning)
    this.#lookingSinceMs = undefined
    this.#options.onDrained()
    return undefined
  }

  /**
   * Returns true for a turn that is left to others; it goes back. When no other is at hand, this worker waits until the
   * others had their time.
   */
  async #isLeft(job: TurnJob): Promise<boolean> {
    const leftMs = (this.#leftUntilMs.get(job.host) ?? 0) - performance.now()
    if (leftMs <= 0) {
      this.#hasLeftLast = false
      return false
    }
    await this.#options.jobs.giveBack(job, 0)
    this.#lookingSinceMs = undefined
    if (this.#hasLeftLast) await sleep(leftMs)
    this.#hasLeftLast = !this.#hasLeftLast
    return true
  }

  async #begin(job: TurnJob): Promise<void> {
    const { scripts, jobs, workerId, pace, quarantineAfter, logger, turns, onBegun, onPoint } = this.#options
    try {
      if (this.#isClosed) return await jobs.giveBack(job, 0)
      onPoint('fetched')
      const { host, lane, generation } = job
      const hostPace = pace(decodeURIComponent(host))
      const holder = `${workerId}/${++this.#turns}`
      const begun = await scripts.begin(
        {
          host,
          lane,
          generation,
          lockToken: job.lockToken,
          holder,
          delayMs: Math.ceil(hostPace.delayMs),
          isSecond: turns.of(host) !== undefined,
        },
        quarantineAfter,
      )
      onPoint('begun')
      // This worker stood still on the way, and another one has the turn now.
      if (begun === 'taken') return
      if (begun === 'gone') {
        await jobs.complete(job)
        return onPoint('completed')
      }
      if (begun.takenBack > 0)
        logger.info({ host, requests: begun.takenBack }, 'taken over from a worker that was lost')
      onBegun(
        new HostTurn(job, holder, hostPace, { standing: begun.standing, nowMs: performance.now() }),
        begun,
      )
    } catch (error) {
      // The turn's lock is not renewed, so the turn comes again in some seconds.
      logger.debug({ err: error, unit: job.unit }, 'a turn could not begin')
    }
  }

  /** Waits until there may be room. */
  async #rest(): Promise<void> {
    this.#lookingSinceMs = undefined
    this.#isDrained = false
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      if (this.#isClosed) resolve()
    })
    this.#wake = undefined
  }

  async #onRefusal(error: Error): Promise<void> {
    const { scripts, logger } = this.#options
    this.#lookingSinceMs = undefined
    logger.debug({ err: error }, 'no turn can be fetched now; it is tried again')
    if (isRedisFull(error)) await scripts.nudge().catch(() => false)
    await sleep(this.#options.times.turns.retryMs)
  }
}
