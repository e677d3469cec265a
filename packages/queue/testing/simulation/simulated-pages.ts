/** The pages that a worker in virtual time fetches, from their lease to the end of it: done, retried or requeued, or never started. */

import { type HostNews, PROTOCOL_TIMES } from '@webloom/core'
import type { BucketLease, HeldSlot } from '../../src/frontier/held-turn.ts'
import type { Placed } from '../../src/frontier/turn-protocol.ts'
import { withTries } from '../../src/leasing/packed-request.ts'
import type { SimulatedHub, SimulatedProcess } from './simulated-process.ts'

const TIMES = PROTOCOL_TIMES.turns
const CONCURRENCY = 8
export const LONG_MS = 60_000

export interface SimulatedPagesOptions {
  readonly linksOf: (id: string) => Placed[]
  /** The part of pages that take a minute. Default: none. */
  readonly longPart?: number
  readonly onHandOut?: (lease: BucketLease) => void
  /** Called when a page is fetched from now on. */
  readonly onStart: (lease: BucketLease) => void
  /** Called when a fetch has ended, or is given up. */
  readonly onStop: (lease: BucketLease) => void
}

export class SimulatedPages {
  readonly #process: SimulatedProcess
  readonly #hub: SimulatedHub
  readonly #options: SimulatedPagesOptions
  readonly #out = new Set<BucketLease>()

  constructor(process: SimulatedProcess, hub: SimulatedHub, options: SimulatedPagesOptions) {
    this.#process = process
    this.#hub = hub
    this.#options = options
  }

  get size(): number {
    return this.#out.size
  }

  get demand(): number {
    return Math.max(0, CONCURRENCY - this.#out.size)
  }

  handOut(): void {
    const { world, redis, name, nowMs } = this.#process
    const leases = this.#hub.machine.requests.handOut(this.demand, nowMs)
    const inVain = this.#hub.machine.requests.notesInVain(nowMs)
    if (inVain.length > 0) this.#process.send(() => redis.model.notStarted(name, inVain))
    if (leases.length === 0) return
    for (const lease of leases) {
      this.#out.add(lease)
      this.#options.onHandOut?.(lease)
    }
    const names = leases.filter(({ isNoted }) => !isNoted).map(({ startedName }) => startedName)
    if (names.length > 0) {
      const all = [...names, ...this.#hub.machine.requests.noteAhead(this.demand, nowMs)]
      this.#process.send(() => redis.model.started(name, all))
    }
    const { chance } = world
    for (const lease of leases)
      this.#process.in(chance.next() * (chance.is(0.02) ? 100 : 2), () => {
        if (lease.state === 'out') lease.started()
      })
  }

  /** The lease has started: its page is fetched, unless its lock has run out. */
  started(lease: BucketLease): void {
    if (!this.#hub.machine.requests.started(lease, this.#process.nowMs)) {
      lease.lose('the lock was not renewed in time')
      this.ended(lease)
      this.#endUnstarted(lease.heldSlot, lease)
      return
    }
    this.#options.onStart(lease)
    this.#hub.serve()
    const { chance } = this.#process.world
    const ms = chance.is(0.02) ? chance.next() * 8000 : 5 + chance.next() * 300
    const { longPart = 0 } = this.#options
    this.#process.in(longPart > 0 && chance.is(longPart) ? LONG_MS : ms, () => this.#fetched(lease))
  }

  /** This worker has it no longer. */
  ended(lease: BucketLease): void {
    if (this.#out.delete(lease)) this.#options.onStop(lease)
    this.#hub.serve()
  }

  /** The process is killed. */
  stop(): void {
    for (const lease of this.#out) this.#options.onStop(lease)
    this.#out.clear()
  }

  #endUnstarted(slot: HeldSlot, lease: BucketLease): void {
    const ended = { token: lease.token, placed: [this.#asItWas(lease)] }
    this.#hub.machine.requests.endUnstarted(slot, ended, (error) => {
      if (error === undefined || isLeaseLost(error)) return
      this.#process.in(TIMES.unstartedRetryMs, () => this.#endUnstarted(slot, lease))
    })
    this.#hub.kick()
  }

  #fetched(lease: BucketLease): void {
    if (lease.state !== 'out') return
    this.#options.onStop(lease)
    const { world, nowMs } = this.#process
    const { chance } = world
    const at = chance.next()
    const news = chance.is(0.05) ? { news: this.#news() } : {}
    const text = withTries(lease.text, { attempt: lease.attempt })
    const back = { ...this.#asItWas(lease), texts: [text] }
    if (at < 0.05) {
      this.#end(lease, [back], news)
      this.#hub.machine.requests.callBack(lease.heldSlot, nowMs)
    } else if (at < 0.1) this.#end(lease, [{ ...back, place: 1 + chance.below(5000) }], news)
    else if (at < 0.12) this.#end(lease, [{ ...back, place: 'again' }], news)
    else this.#end(lease, this.#options.linksOf(lease.id), news)
  }

  #news(): HostNews {
    const { chance } = this.#process.world
    if (chance.is(0.3)) return { pauseMs: chance.next() * 3000, pauseReason: 'busy' }
    return { delayMs: chance.is(0.7) ? 0 : 100, failures: chance.below(2) }
  }

  #end(lease: BucketLease, placed: readonly Placed[], news: { news?: HostNews }): void {
    if (lease.state !== 'out') return
    const done = (error?: unknown) => {
      if (error === undefined || isLeaseLost(error)) this.ended(lease)
      else this.#process.in(TIMES.retryMs, () => this.#end(lease, placed, {}))
    }
    const { nowMs } = this.#process
    this.#hub.machine.requests.end(lease, { placed, adds: placed.length, ...news, done }, nowMs)
    this.#hub.kick()
  }

  #asItWas(lease: BucketLease): Placed {
    return this.#hub.machine.requests.asItWas(lease.heldSlot, lease)
  }
}

function isLeaseLost(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'WL_LEASE_LOST'
}
