import { type Lease, type Logger, PassingSet } from '@webloom/core'
import type { FrontierMachine } from '../frontier/frontier-machine.ts'
import { BucketLease } from '../frontier/held-turn.ts'
import {
  type ItemDispatcher,
  LeaseDispatcher,
  type LeaseDispatcherOptions,
} from '../leasing/lease-dispatcher.ts'
import { leaseLost } from '../leasing/lease-lost.ts'
import type { RejectedRequests } from './rejected-requests.ts'
import type { BucketScripts } from './scripts/bucket-scripts.ts'

/** A queue's part of what several hand out together. */
export interface DispatcherPart extends ItemDispatcher<BucketLease> {
  /** How many more callers wait for, of whatever queue they come. */
  readonly wanted: number
  /** How many of these no other queue is just taking from Redis. */
  readonly unreserved: number
  /** This queue takes so many from Redis now, until it says 0. */
  reserve(count: number): void
}

/**
 * Makes what requests are handed out by.
 *
 * @param hasSources whether more could be taken from Redis
 */
export type Dispatching = (
  options: LeaseDispatcherOptions<BucketLease>,
  hasSources: () => boolean,
) => DispatcherPart

export interface RequestHandoutOptions {
  readonly machine: FrontierMachine
  readonly scripts: BucketScripts
  readonly rejected: RejectedRequests
  readonly workerId: string
  readonly logger: Logger
  /** How long a caller waits for requests. */
  readonly waitMsMax: number
  /** How long others wait for a suspect, and it for others. */
  readonly patienceMs: number
  /** Called when callers wait for more. */
  readonly onDemand: () => void
  /** Default: a dispatcher for this queue alone. */
  readonly dispatching?: Dispatching
  /** Sends what Redis must be told. */
  readonly tellRedis: () => void
}

/**
 * A request that was handed out is noted as started, as it is about to leave. One that waits for its host's name or robots.txt is not:
 * its note is taken away when it had not left at so many looks, and comes back as it leaves.
 */
const LOOKS_MAX = 2
const LOOKS_APART_MS = 50

/** Hands requests to the engine that may go, and knows which it has. */
export class RequestHandout {
  readonly #options: RequestHandoutOptions
  readonly #dispatcher: DispatcherPart
  readonly #out = new PassingSet<BucketLease>()
  #endedAtMs = Number.NEGATIVE_INFINITY
  #nextLook: NodeJS.Timeout | undefined

  constructor(options: RequestHandoutOptions) {
    const { scripts, workerId, logger, waitMsMax, patienceMs, machine, dispatching = alone } = options
    this.#options = options
    const dispatched: LeaseDispatcherOptions<BucketLease> = {
      waitMsMax,
      patienceMs,
      beginAlone: ({ id }) => scripts.beginAlone(workerId, id),
      endAlone: () => scripts.endAlone(workerId),
      onAlone: (lease, words) => {
        logger.info({ url: lease.request.url }, words)
        void scripts.started(workerId, [lease.startedName]).catch(() => {})
      },
    }
    this.#dispatcher = dispatching(dispatched, () => machine.hasSources)
    this.#dispatcher.onDemand(options.onDemand)
  }

  /** How many more the engine would take at once. */
  get demand(): number {
    return this.#dispatcher.demand
  }

  /** How many requests of this worker wait to run alone, or do. */
  get suspects(): number {
    return this.#dispatcher.suspects
  }

  /** The same without what other queues of the worker are just taking. */
  get unreserved(): number {
    return this.#dispatcher.unreserved
  }

  reserve(count: number): void {
    this.#dispatcher.reserve(count)
  }

  get out(): PassingSet<BucketLease> {
    return this.#out
  }

  /** When a request, or a turn, last ended, by `performance.now()`. */
  get endedAtMs(): number {
    return this.#endedAtMs
  }

  take(max: number, signal: AbortSignal | undefined, isEmpty: () => Promise<boolean>): Promise<Lease[]> {
    return this.#dispatcher.take(max, signal, isEmpty)
  }

  /** Returns the lease as ours. Throws where it has ended before, or is lost. */
  ownOf(lease: Lease): BucketLease {
    if (lease instanceof BucketLease && lease.state === 'out') return lease
    throw lease.signal.aborted ? lease.signal.reason : leaseLost(lease.request, 'it has ended before')
  }

  /** Hands out what may go now. */
  handOut(): void {
    const { machine, scripts, workerId } = this.#options
    const nowMs = performance.now()
    const { wanted } = this.#dispatcher
    const leases = machine.requests.handOut(wanted, nowMs)
    const going = leases.filter((lease) => !this.#goesToOthers(lease))
    for (const lease of going) this.#out.add(lease)
    const [names, inVain]: [string[], string[]] = [[], []]
    // Suspects lie ready for a while, and are noted as they begin.
    for (const lease of going)
      if (lease.isNoted === lease.suspect) (lease.suspect ? inVain : names).push(lease.startedName)
    // On its way to Redis before the first of them leaves; nobody waits for the answer.
    if (names.length > 0) {
      names.push(...machine.requests.noteAhead(wanted - leases.length, nowMs))
      void scripts.started(workerId, names).catch(() => {})
    }
    inVain.push(...machine.requests.notesInVain(nowMs))
    if (inVain.length > 0) void scripts.notStarted(workerId, inVain).catch(() => {})
    for (const lease of going) this.#dispatcher.put(lease)
    if (going.length > 0) this.#lookSoon()
  }

  /** The request leaves. */
  started(lease: BucketLease): void {
    if (lease.unsentLooks < LOOKS_MAX) return
    const { scripts, workerId } = this.#options
    void scripts.started(workerId, [lease.startedName]).catch(() => {})
  }

  ended(lease: BucketLease): void {
    this.#out.delete(lease)
    this.#endedAtMs = performance.now()
    this.#dispatcher.ended(lease)
  }

  /** Takes out a lost lease that may still wait to be handed out, as suspects do until all others have ended. */
  lost(lease: BucketLease): void {
    this.#dispatcher.remove(lease)
    this.ended(lease)
  }

  /** Called when a turn has ended, or the last page that this worker had: waiting callers look again whether the crawl is over. */
  mayBeOver(): void {
    this.#endedAtMs = performance.now()
    this.#dispatcher.recheck()
  }

  close(): void {
    clearTimeout(this.#nextLook)
    this.#dispatcher.close()
  }

  #lookAtUnsent(): void {
    const { scripts, workerId } = this.#options
    const names: string[] = []
    // Suspects stay what they are, sent or not.
    for (const lease of this.#out) {
      if (lease.hasStarted || lease.suspect) continue
      if (++lease.unsentLooks === LOOKS_MAX) names.push(lease.startedName)
    }
    if (names.length > 0) void scripts.notStarted(workerId, names).catch(() => {})
    this.#nextLook = undefined
    if (this.#out.size > 0) this.#lookSoon()
  }

  #lookSoon(): void {
    this.#nextLook ??= setTimeout(() => this.#lookAtUnsent(), LOOKS_APART_MS).unref()
  }

  #goesToOthers(lease: BucketLease): boolean {
    const { machine, rejected, tellRedis } = this.#options
    if (!rejected.isForOthers(lease.turn, lease.id)) return false
    const placed = [machine.requests.asItWas(lease.heldSlot, lease)]
    machine.requests.end(lease, { placed, keepsHistory: true }, performance.now())
    tellRedis()
    return true
  }
}

function alone(options: LeaseDispatcherOptions<BucketLease>): DispatcherPart {
  return new OnlyPart(options)
}

class OnlyPart extends LeaseDispatcher<BucketLease> implements DispatcherPart {
  get wanted(): number {
    return this.demand
  }

  get unreserved(): number {
    return this.demand
  }

  reserve(): void {}
}
