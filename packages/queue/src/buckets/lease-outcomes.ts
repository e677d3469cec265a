import type { CommitOptions, GivenUp, Lease, Request, RetryWhen, VisitedPage } from '@webloom/core'
import { failureText, newFailure } from '../failures/failed-entry.ts'
import type { RedisFailures } from '../failures/redis-failures.ts'
import type { Outcome } from '../frontier/frontier-effects.ts'
import type { FrontierMachine } from '../frontier/frontier-machine.ts'
import { MAX_REQUESTS_PER_SCRIPT } from '../frontier/frontier-message.ts'
import type { BucketLease } from '../frontier/held-turn.ts'
import type { Placed } from '../frontier/turn-protocol.ts'
import type { Doubts } from '../leasing/doubts.ts'
import { jsonOf } from '../leasing/packed-request.ts'
import type { HostSlots } from '../politeness/host-slots.ts'
import type { BucketVisits } from '../visits/bucket-visits.ts'
import type { BucketPlacing } from './bucket-placing.ts'
import type { FrontierSync } from './frontier-sync.ts'
import type { NewRequests } from './new-requests.ts'
import type { RejectedRequests } from './rejected-requests.ts'
import type { RequestHandout } from './request-handout.ts'
import type { BucketScripts } from './scripts/bucket-scripts.ts'
import type { CommandNumbers } from './scripts/command-numbers.ts'
import type { QueuedAskers } from './scripts/queued-askers.ts'

export interface LeaseOutcomesOptions {
  readonly machine: FrontierMachine
  readonly scripts: BucketScripts
  readonly slots: HostSlots
  readonly placing: BucketPlacing
  readonly handout: RequestHandout
  readonly rejected: RejectedRequests
  readonly fresh: NewRequests
  readonly sync: FrontierSync
  readonly commands: CommandNumbers
  readonly queued: QueuedAskers
  readonly doubts: Doubts
  readonly failures: RedisFailures
  readonly visits: BucketVisits | undefined
  readonly workerId: string
  /** FAILED_MAX; 0: no failure is kept. */
  readonly failedMax: number
  readonly onPoint: (name: 'committed') => void
}

/** How the engine ends a lease. Each resolves when Redis has the outcome. */
export class LeaseOutcomes {
  readonly #options: LeaseOutcomesOptions

  constructor(options: LeaseOutcomesOptions) {
    this.#options = options
  }

  async commit(lease: Lease, { children = [], host, failure, visit }: CommitOptions): Promise<void> {
    const { slots, handout, fresh, placing, doubts, failures, scripts } = this.#options
    await slots.prepare(children)
    const own = handout.ownOf(lease)
    const asker = `${own.id}/commit`
    // Children beyond what one script takes are pushed before, under an asker of their own: if the page runs again they add
    // nothing.
    const before = Math.max(0, children.length - MAX_REQUESTS_PER_SCRIPT)
    if (before > 0) {
      await fresh.push(children.slice(0, before), asker)
      handout.ownOf(lease)
    }
    const placed = placing.groups(children.slice(before), own.id)
    if (failure) placed.push(...this.#failed(own, failure))
    if (visit) placed.push(...this.#visited(visit))
    const hasLinks = children.length > 0
    await this.#end(own, { placed, adds: children.length - before, ...(host && { news: host }) }, hasLinks)
    doubts.noted(children)
    if (failure?.snapshot) void failures.keepSnapshot(failure).catch(() => {})
    if (before > 0) await scripts.settled(asker)
  }

  async retry(lease: Lease, request: Request, when: RetryWhen, host?: CommitOptions['host']): Promise<void> {
    const { slots, handout, placing, machine } = this.#options
    await slots.prepare([{ request }])
    const own = handout.ownOf(lease)
    const asker = `${own.turn.holder}/${own.token}`
    const placed = [placing.one({ id: own.id, request }, { tries: { attempt: own.attempt }, when, asker })]
    const ended = this.#end(own, { placed, ...(host && { news: host }) })
    // Requests that were taken ahead stood behind it.
    if (when === 'first') machine.requests.callBack(own.heldSlot, performance.now())
    await ended
  }

  async requeue(lease: Lease): Promise<void> {
    const { handout, machine } = this.#options
    const own = handout.ownOf(lease)
    await this.#end(own, { placed: [machine.requests.asItWas(own.heldSlot, own)], keepsHistory: true })
  }

  async reject(lease: Lease, reason: string, visit?: VisitedPage): Promise<boolean> {
    const own = this.#options.handout.ownOf(lease)
    const placed = await this.#options.rejected.placed(own.heldSlot, own, own.tries.rejections + 1)
    const isBack = visit !== undefined && placed.place === 'quarantine'
    await this.#end(own, isBack ? { placed: this.#visited(visit) } : { placed: [placed], refusal: reason })
    return isBack
  }

  /** A failure travels as requests do, in the message that ends the page. */
  #failed(own: BucketLease, failure: GivenUp): Placed[] {
    const { failedMax, workerId } = this.#options
    if (failedMax === 0) return []
    const json = jsonOf(own.text)
    const text = failureText(newFailure(own, failure, { worker: workerId, json }), failedMax)
    return [{ place: 'failed', bucket: '', slot: '', priority: 0, texts: [text] }]
  }

  #visited(page: VisitedPage): Placed[] {
    const { visits } = this.#options
    return visits
      ? [{ place: 'visit', bucket: '', slot: '', priority: 0, texts: [], bytes: visits.bytesOf(page) }]
      : []
  }

  #end(lease: BucketLease, outcome: Omit<Outcome, 'done'>, hasLinks = false): Promise<void> {
    const { machine, handout, sync, commands, queued, onPoint } = this.#options
    return new Promise((resolve, reject) => {
      const done = (error?: unknown) => {
        if (error !== undefined) return reject(error as Error)
        // At once, as the next answer may tell that Redis has lost it.
        if (hasLinks) queued.note(lease.id, commands.answered)
        handout.ended(lease)
        onPoint('committed')
        resolve()
      }
      machine.requests.end(lease, { ...outcome, done }, performance.now())
      sync.kick()
    })
  }
}
