/** Fetches turns from BullMQ, one by one, while this worker wants more, and begins them. */

import { setTimeout as sleep } from 'node:timers/promises'
import { isRedisFull, type Logger, type ProtocolTimes } from '@webloom/core'
import type { FrontierMachine } from '../frontier/frontier-machine.ts'
import type { JobChanges, TurnJob, UnitStatus } from '../frontier/turn-protocol.ts'
import type { CrawlChannel } from '../members/crawl-channel.ts'
import type { OrderedSlots } from './ordered-slots.ts'
import type { BucketScripts } from './scripts/bucket-scripts.ts'
import type { TurnJob as BullTurn, TurnJobs } from './turn-jobs.ts'

/** BullMQ's reply is awaited elsewhere; so many turns may be under way from there to here. */
const CONCURRENT_BEGINNINGS_MAX = 16
/** How long a second lane of a slot that this worker has is left to others, and how often before it is closed. */
const SECOND_LANE_REST_MS = 20
const SECOND_LANE_TRIES = 5
/** How long what was served already waits while more turns are at hand. */
const FRESH_WAIT_MS = 50

/** How long it is remembered that another worker has nothing to do. */
export const HUNGRY_MS = 2000
/** All workers with nothing to do together say so about once in this time, and each no more often than twice in HUNGRY_MS. */
const HUNGRY_GAP_MS = 50

export interface Begun {
  readonly job: TurnJob
  readonly bull: BullTurn
  readonly holder: string
  readonly unitStatus: UnitStatus
  readonly jobChanges: JobChanges
}

export interface TurnFetcherOptions {
  readonly machine: FrontierMachine
  readonly scripts: BucketScripts
  readonly jobs: TurnJobs
  readonly ordered: OrderedSlots
  readonly channel: CrawlChannel
  readonly workerId: string
  readonly quarantineAfter: number
  readonly times: ProtocolTimes
  readonly logger: Logger
  /** How many requests would be handed out at once. */
  readonly demand: () => number
  /** Called when BullMQ has no more turns at hand. */
  readonly onDrained: () => void
  readonly onBegun: (begun: Begun) => void
  readonly onPoint: (name: 'fetched' | 'begun' | 'completed') => void
}

export class TurnFetcher {
  readonly #options: TurnFetcherOptions
  /** The turns that begin, and their units. */
  readonly #beginning = new Map<Promise<void>, string>()
  /** By unit: how often another of its lanes was given back to others. */
  readonly #secondLanes = new Map<string, number>()
  /** By unit: until when its turns are left to others. */
  readonly #leftUntilMs = new Map<string, number>()
  #hungrySaidAtMs = Number.NEGATIVE_INFINITY
  #hasLeftLast = false
  #turns = 0
  #isDrained = false
  #lookingSinceMs: number | undefined
  #isClosed = false
  #wake: (() => void) | undefined

  constructor(options: TurnFetcherOptions) {
    this.#options = options
  }

  /** True while turns are at hand that may be fresher than those which this worker has. */
  get isLooking(): boolean {
    const sinceMs = this.#lookingSinceMs
    return sinceMs !== undefined && performance.now() - sinceMs < FRESH_WAIT_MS
  }

  /** True while BullMQ has no turn at hand, and this worker waits for one. */
  get isDrained(): boolean {
    return this.#isDrained
  }

  open(): void {
    void this.#run()
  }

  /** Called when there may be room again. */
  wake(): void {
    if (!this.#wake || !this.#wants) return
    this.#lookingSinceMs ??= performance.now()
    this.#wake()
  }

  /** Others that have more than they serve are told, again and again, that this worker has nothing to do. */
  sayHungry(): void {
    const { machine, channel, workerId, demand } = this.#options
    const nowMs = performance.now()
    const gapMs = Math.max(HUNGRY_MS / 2, HUNGRY_GAP_MS * machine.others.workers)
    if (this.#isClosed || !machine.isHungry(demand()) || nowMs - this.#hungrySaidAtMs < gapMs) return
    this.#hungrySaidAtMs = nowMs
    channel.hungry(workerId, { wants: demand(), isBelowShare: machine.isBelowShare })
  }

  /** Leaves that unit's turns to others for so long. */
  leave(unit: string, ms: number): void {
    const nowMs = performance.now()
    for (const [old, untilMs] of this.#leftUntilMs) if (untilMs <= nowMs) this.#leftUntilMs.delete(old)
    this.#leftUntilMs.set(unit, nowMs + ms)
  }

  /** Begins no more turns. A turn that is being fetched goes back. */
  stop(): void {
    this.#isClosed = true
    this.#wake?.()
  }

  /** Resolves when all fetched turns have begun, or have gone back. */
  async drained(): Promise<void> {
    await Promise.all(this.#beginning.keys())
  }

  /** True when this worker has room for one more turn. */
  get #wants(): boolean {
    const { machine, demand } = this.#options
    return machine.wantsTurn(this.#beginning.size, demand(), performance.now())
  }

  async #run(): Promise<void> {
    const { jobs, demand } = this.#options
    while (!this.#isClosed) {
      if (!this.#wants || this.#beginning.size >= CONCURRENT_BEGINNINGS_MAX) {
        await this.#rest()
        continue
      }
      try {
        if (!this.#isDrained) this.#lookingSinceMs ??= performance.now()
        const job = await jobs.fetch({ block: this.#isDrained && demand() > 0 })
        this.#isDrained = !job
        if (!job) await this.#drained()
        else if (!(await this.#isLeft(job)) && !(await this.#isSecondLane(job)))
          this.#track(this.#begin(job), job.unit)
      } catch (error) {
        if (this.#isClosed) return
        await this.#onRefusal(error as Error)
      }
    }
  }

  async #drained(): Promise<void> {
    if (this.#options.demand() === 0) this.#options.machine.others.noneWait()
    await Promise.all(this.#beginning.keys())
    this.#lookingSinceMs = undefined
    this.sayHungry()
    this.#options.onDrained()
  }

  #track(begin: Promise<void>, unit: string): void {
    const beginning = begin.finally(() => {
      this.#beginning.delete(beginning)
      this.#wake?.()
    })
    this.#beginning.set(beginning, unit)
  }

  /**
   * Returns true for a turn that is left to others; it goes back. When no other is at hand, this worker waits until the
   * others had their time.
   */
  async #isLeft(job: BullTurn): Promise<boolean> {
    const leftMs = (this.#leftUntilMs.get(job.unit) ?? 0) - performance.now()
    if (leftMs <= 0) {
      this.#hasLeftLast = false
      return false
    }
    await this.#options.jobs.giveBack(job, 0)
    if (this.#hasLeftLast) await sleep(leftMs)
    this.#hasLeftLast = !this.#hasLeftLast
    return true
  }

  /**
   * Returns true for another lane of a slot of which this worker has one: it goes back, and the worker that needs it gets it while
   * this one rests. When nobody takes it, Redis closes it.
   */
  async #isSecondLane(job: BullTurn): Promise<boolean> {
    const { machine, jobs } = this.#options
    const { unit } = job
    const tries = (this.#secondLanes.get(unit) ?? 0) + 1
    this.#secondLanes.delete(unit)
    if (!machine.turns.of(unit) && ![...this.#beginning.values()].includes(unit)) return false
    if (tries > SECOND_LANE_TRIES) return false
    this.#secondLanes.set(unit, tries)
    this.#lookingSinceMs = undefined
    await jobs.giveBack(job, 0)
    await sleep(SECOND_LANE_REST_MS)
    return true
  }

  async #begin(bull: BullTurn): Promise<void> {
    const { machine, scripts, jobs, workerId, ordered, quarantineAfter, logger, onBegun, onPoint } =
      this.#options
    const ownDelays = ordered.ownDelaysOf(bull.unit)
    try {
      if (this.#isClosed) return await jobs.giveBack(bull, 0)
      onPoint('fetched')
      const { unit, lane, generation, lockToken, lockedUntilMs } = bull
      const holder = `${workerId}/${++this.#turns}`
      const turn = { unit, lane, generation, lockToken, holder }
      const begun = await scripts.begin(
        {
          ...turn,
          delayMs: Math.ceil(ordered.delayOf(unit)),
          isSecond: machine.turns.of(unit) !== undefined,
          ...(ownDelays && { ownDelays }),
        },
        quarantineAfter,
      )
      onPoint('begun')
      // This worker stood still on the way, and another one has the turn now.
      if (begun === 'taken') return
      if (begun === 'gone') {
        await jobs.complete(bull)
        return onPoint('completed')
      }
      const { unitStatus, reclaimed, ...jobChanges } = begun
      if (reclaimed > 0) logger.info({ bucket: unit, requests: reclaimed }, 'reclaimed from a lost worker')
      const job = { unit, lane, generation, lockToken, lockedUntilMs, job: bull.id }
      onBegun({ job, bull, holder, unitStatus, jobChanges })
    } catch (error) {
      // The turn's lock is not renewed, so the turn comes again in some seconds.
      logger.debug({ err: error, job: bull.id }, 'a turn could not begin')
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
    const { scripts, logger, times } = this.#options
    this.#lookingSinceMs = undefined
    logger.debug({ err: error }, 'no turn can be fetched now; trying again')
    if (isRedisFull(error)) await scripts.nudge().catch(() => false)
    await sleep(times.turns.retryMs)
  }
}
