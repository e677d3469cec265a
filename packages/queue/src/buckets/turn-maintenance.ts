/**
 * What must be done about turns from time to time: renew their locks, look after those that others should have, find lost ones.
 *
 * One worker finds lost turns for all, the one that did so last: it looks for jobs without a lock every two seconds, and
 * sweeps over the turns every four, which it publishes to all workers. When the others hear of no sweep any more, another
 * one sweeps. If the worker in charge is lost, that is found no later than with any other: its locks outlast the change.
 */

import {
  hasSpares,
  isSlotMoving,
  type Logger,
  type ProtocolTimes,
  redisRefusal,
  WebloomError,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import type { FrontierMachine } from '../frontier/frontier-machine.ts'
import type { HeldTurn } from '../frontier/held-turn.ts'
import type { HoldingTurn } from '../frontier/turn-protocol.ts'
import type { CrawlChannel, Swept } from '../members/crawl-channel.ts'
import type { ShardRest } from '../shards/shard-rest.ts'
import type { OrderedSlots } from './ordered-slots.ts'
import type { BucketScripts } from './scripts/bucket-scripts.ts'
import type { CommandNumbers } from './scripts/command-numbers.ts'
import { OwedReset } from './scripts/owed-reset.ts'
import type { TurnJobs } from './turn-jobs.ts'

/** A shard that has nothing is swept so much less often: only what is kept for a day needs it. */
const SWEEPS_OF_QUIET = 75

export interface TurnMaintenanceOptions {
  readonly redis: Redis
  readonly machine: FrontierMachine
  readonly scripts: BucketScripts
  readonly commands: CommandNumbers
  readonly jobs: TurnJobs
  readonly channel: CrawlChannel
  readonly workerId: string
  readonly ordered: OrderedSlots
  readonly times: ProtocolTimes
  readonly logger: Logger
  readonly demand: () => number
  /** How many workers the crawl has. Default: as many as listen at the server. */
  readonly workers?: (() => number) | undefined
  /** Of a shard: whether there is anything to maintain. Default: there may be. */
  readonly rest?: Pick<ShardRest, 'isQuiet' | 'onStirred'> | undefined
  readonly onSwept: (swept: Swept) => void
  /** Called when the machine may have something to do. */
  readonly onTended: () => void
}

export class TurnMaintenance {
  readonly #options: TurnMaintenanceOptions
  readonly #times: ProtocolTimes['turns']
  readonly #timers: NodeJS.Timeout[] = []
  readonly #reset = new OwedReset()
  #renewing: Promise<void> | undefined
  #renewingAgain: NodeJS.Timeout | undefined
  #isClosed = false
  #sweptAtMs = Number.NEGATIVE_INFINITY
  #isSweeping = false
  #isInCharge = false
  #stalledCheck: NodeJS.Timeout | undefined
  #isChecking = false

  constructor(options: TurnMaintenanceOptions) {
    this.#options = options
    this.#times = options.times.turns
    options.rest?.onStirred(() => this.#stirred())
    options.channel.listen({ onSwept: (swept) => this.#heard(swept, swept.worker === options.workerId) })
  }

  async open(): Promise<void> {
    await this.#sweep(0)
    const { tendEveryMs, renewEveryMs, sweepLookEveryMs } = this.#times
    this.#timers.push(
      setInterval(() => this.#tend(), tendEveryMs),
      setInterval(() => void this.renew(), renewEveryMs),
      setInterval(() => this.#sweepIfDue(), sweepLookEveryMs),
    )
  }

  close(): void {
    this.#isClosed = true
    this.#reset.close()
    for (const timer of this.#timers) clearInterval(timer)
    clearTimeout(this.#renewingAgain)
    clearTimeout(this.#stalledCheck)
  }

  /** Redis has come back older: the next renewal says that no slot is this worker's. */
  reset(): void {
    this.#reset.owe()
    void this.renew()
  }

  /** While other commands wait for that: resolves when they may go. */
  get resetting(): Promise<void> | undefined {
    return this.#reset.told
  }

  #tend(): void {
    const { machine, demand, onTended } = this.#options
    machine.tend(performance.now(), demand())
    onTended()
  }

  /** Resolves when this worker has the turn's lock again, or has lost it. Rejects with WL_REDIS_AWAY when Redis does not say. */
  async confirm(turn: HeldTurn): Promise<void> {
    // One that is under way may have been sent before the process stood still.
    await this.#renewing
    await this.renew()
    if (!turn.isLost && !turn.isLocked(performance.now()))
      throw new WebloomError('WL_REDIS_AWAY', `the lock of ${turn.job.unit} could not be renewed`)
  }

  /** Renews the locks, and tells Redis which requests this worker holds. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renewAll().then((isDone) => {
      this.#renewing = undefined
      if (isDone && this.#reset.owed > 0 && !this.#isClosed) void this.renew()
    })
    return this.#renewing
  }

  /** Resolves to whether that was done. */
  async #renewAll(): Promise<boolean> {
    const { machine, scripts, commands, jobs, logger, onTended } = this.#options
    const { owed } = this.#reset
    if (machine.turns.size === 0) {
      this.#reset.done(owed)
      return true
    }
    const turns = new Map([...machine.turns].map((turn) => [this.#holdingOf(turn), turn]))
    const { coming } = commands
    const reset = owed > 0 ? commands.next() : undefined
    const sentAtMs = performance.now()
    try {
      const renewed = await scripts.renew([...turns.keys()], this.#times.lockMs, { coming, reset })
      if (reset && renewed.isHeard) commands.wasAnswered(reset)
      this.#reset.done(owed)
      const lost = new Set(renewed.lost.map((one) => turns.get(one)!))
      for (const turn of lost)
        if (machine.turns.has(turn)) machine.states.lose(turn, `its lock on ${turn.job.unit} ran out`)
      const kept = [...turns.values()].filter((turn) => !lost.has(turn))
      machine.states.renewed(kept, sentAtMs + this.#times.lockMs, performance.now())
      this.#tellUnheld(new Map([...renewed.unheld].map(([one, count]) => [turns.get(one)!, count])))
      jobs.changeJobs(renewed)
      onTended()
      return true
    } catch (error) {
      if (redisRefusal(error) !== undefined && !isSlotMoving(error)) this.#reset.letGo()
      logger.debug({ err: error }, 'locks could not be renewed; trying again')
      this.#renewAgain()
      return false
    }
  }

  /** One waits to be sent whenever Redis is away, so that it goes as soon as Redis is back. */
  #renewAgain(): void {
    clearTimeout(this.#renewingAgain)
    if (!this.#isClosed) this.#renewingAgain = setTimeout(() => void this.renew(), this.#times.stalledSoonMs)
  }

  #holdingOf({ job, holder, batch, tokens }: HeldTurn): HoldingTurn {
    return {
      job: job.job,
      holder,
      lockToken: job.lockToken,
      delayMs: Math.ceil(this.#options.ordered.delayOf(job.unit)),
      batch,
      tokens: [...tokens],
    }
  }

  #tellUnheld(unheld: ReadonlyMap<HeldTurn, number>): void {
    if (unheld.size === 0) return
    const { machine, logger } = this.#options
    let requests = 0
    for (const [turn, count] of unheld) {
      requests += count
      machine.states.nudged({ unit: turn.job.unit, priority: 0 }, performance.now())
    }
    logger.warn(
      { requests, buckets: unheld.size },
      'Redis counted requests as in flight here that this worker does not have; they were queued again and may be fetched twice',
    )
  }

  #sweepIfDue(): void {
    const { sweepEveryMs, sweepMissedMs, sweptMsMin } = this.#times
    const sinceMs = performance.now() - this.#sweptAtMs
    if (this.#isQuiet && sinceMs < SWEEPS_OF_QUIET * sweepEveryMs) return
    if (sinceMs >= (this.#isInCharge ? sweepEveryMs : sweepMissedMs)) void this.#sweep(sweptMsMin)
  }

  get #isQuiet(): boolean {
    return this.#options.rest?.isQuiet ?? false
  }

  /** The worker in charge goes on at once, and another one a little later, if that one is gone. */
  #stirred(): void {
    if (this.#isClosed) return
    this.#sweptAtMs = performance.now() - this.#times.sweepEveryMs
    if (this.#isInCharge) void this.#checkStalled()
  }

  async #sweep(sweptMsMin: number): Promise<void> {
    // Of two that wait for Redis to be back the second would be told that somebody has just swept, as if that were another worker.
    if (this.#isSweeping) return
    this.#isSweeping = true
    const { scripts, workerId, jobs, logger } = this.#options
    const sweptAtMs = this.#sweptAtMs
    this.#sweptAtMs = performance.now()
    try {
      const { isSwept, woken, ...swept } = await scripts.sweep(workerId, sweptMsMin, this.#times.owedMs)
      this.#heard(swept, isSwept || this.#isInCharge)
      // Jobs that BullMQ does not have.
      jobs.changeJobs({ woken, raised: [] })
    } catch (error) {
      logger.debug({ err: error }, 'turns could not be maintained; trying again')
      const { sweepMissedMs, stalledCheckEveryMs } = this.#times
      this.#sweptAtMs = Math.max(sweptAtMs, performance.now() - sweepMissedMs + stalledCheckEveryMs)
    }
    this.#isSweeping = false
  }

  #heard(swept: Swept, isMine: boolean): void {
    const { machine, onSwept, workers } = this.#options
    this.#sweptAtMs = performance.now()
    machine.others.swept(workers ? { ...swept, workers: workers() } : swept)
    this.#takeCharge(isMine)
    onSwept(swept)
  }

  #takeCharge(isInCharge: boolean): void {
    if (isInCharge === this.#isInCharge || this.#isClosed) return
    this.#isInCharge = isInCharge
    if (isInCharge) void this.#checkStalled()
    else clearTimeout(this.#stalledCheck)
  }

  async #checkStalled(): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    clearTimeout(this.#stalledCheck)
    const { stalledCheckEveryMs, stalledGapMs, stalledSoonMs, lockMs } = this.#times
    const backMs = hasSpares(this.#options.redis) ? this.#times.sparedBackMs : this.#times.backMs
    let nextMs = stalledCheckEveryMs
    try {
      if (!this.#isQuiet) {
        const { backForMs, given } = await this.#options.scripts.takeStalled(stalledGapMs, backMs)
        if (given > 0) {
          this.#options.machine.others.woke()
          this.#options.jobs.tellWaiting()
        }
        if (backForMs >= 0 && backForMs < backMs + lockMs) nextMs = stalledSoonMs
      }
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'lost turns could not be looked for; trying again')
      nextMs = stalledSoonMs
    }
    this.#isChecking = false
    if (this.#isInCharge && !this.#isClosed)
      this.#stalledCheck = setTimeout(() => void this.#checkStalled(), nextMs)
  }
}
