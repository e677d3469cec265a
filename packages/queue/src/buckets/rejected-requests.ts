import { type Logger, type ProtocolTimes, WebloomError } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { FrontierMachine } from '../frontier/frontier-machine.ts'
import type { HeldSlot, HeldTurn } from '../frontier/held-turn.ts'
import type { Ended, Placed, Taken } from '../frontier/turn-protocol.ts'
import { LeftToOthers } from '../leasing/left-to-others.ts'
import { unpackRequest, withTries } from '../leasing/packed-request.ts'
import { nobodyCanDo } from '../leasing/rejections.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'

export interface RejectedRequestsOptions {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  /** Where the crawl has its workers. */
  readonly workersKey?: string
  readonly workerId: string
  readonly machine: FrontierMachine
  readonly times: ProtocolTimes
  readonly logger: Logger
  /** How long a rejected request is held back. */
  readonly rejectedMs: number
  /** Sends what Redis must be told. */
  readonly tellRedis: () => void
  /** Called with a unit whose turns are left to others for so long. */
  readonly onLeft: (unit: string, ms: number) => void
}

/** Requests that this worker cannot do: they go back for others to try, and to quarantine when nobody can. */
export class RejectedRequests {
  readonly #options: RejectedRequestsOptions
  readonly #leftToOthers: LeftToOthers
  #isClosed = false

  constructor(options: RejectedRequestsOptions) {
    this.#options = options
    this.#leftToOthers = new LeftToOthers(options.times.turns.othersFirstMs)
  }

  /** From now on, what Redis does not take is not tried again. */
  close(): void {
    this.#isClosed = true
  }

  /** Resolves to where the request goes. */
  async placed(
    slot: HeldSlot,
    one: { readonly id: string; readonly priority: number; readonly text: string },
    rejections: number,
  ): Promise<Placed> {
    const { machine, rejectedMs } = this.#options
    this.#leftToOthers.rejected(one.id)
    const isForNobody = await nobodyCanDo({ ...this.#options, id: one.id, rejections })
    // While this worker has the turn, no other worker can try.
    if (machine.others.workers > 1) machine.states.leave(slot.turn, performance.now())
    const place = isForNobody ? 'quarantine' : rejectedMs
    return { ...machine.requests.asItWas(slot, one), place, texts: [withTries(one.text, { rejections })] }
  }

  /** Returns true for a request that this worker has rejected before: it goes back, and its turn with it, for others to try. */
  isForOthers(turn: HeldTurn, id: string): boolean {
    const { machine, onLeft } = this.#options
    if (machine.others.workers <= 1) return false
    const ms = this.#leftToOthers.waitMs(id)
    if (ms === 0) return false
    machine.states.leave(turn, performance.now())
    onLeft(turn.job.unit, ms)
    return true
  }

  /** Rejects a request of another release. After enough rejections it is quarantined. */
  refuseUnreadable(slot: HeldSlot, { token, priority, text }: Taken, refusal: string): void {
    const { logger, machine } = this.#options
    const { id, tries } = unpackRequest(text)
    const one = { id, priority, text }
    if (this.isForOthers(slot.turn, id)) {
      this.endUnstarted(slot, { token, placed: [machine.requests.asItWas(slot, one)] })
      return
    }
    logger.warn({ id, reason: refusal }, 'this release cannot read a request; it is rejected')
    this.placed(slot, one, tries.rejections + 1).then(
      (placed) => this.endUnstarted(slot, { token, id, refusal, placed: [placed] }),
      (error: unknown) => {
        // The next renewal finds the request in flight but not held, and puts it back into its line, where it is tried
        // again.
        slot.turn.tokens.delete(token)
        logger.warn({ id, err: error }, 'a request could not be requeued')
      },
    )
  }

  /** Ends a request that has not started. No caller waits: until Redis has it, this is tried again. */
  endUnstarted(slot: HeldSlot, ended: Ended): void {
    const { machine, times, tellRedis } = this.#options
    const done = (error?: unknown) => {
      const isLost = error instanceof WebloomError && error.code === 'WL_LEASE_LOST'
      if (error === undefined || isLost || this.#isClosed) return
      setTimeout(() => this.endUnstarted(slot, ended), times.turns.unstartedRetryMs).unref()
    }
    machine.requests.endUnstarted(slot, ended, done)
    tellRedis()
  }
}
