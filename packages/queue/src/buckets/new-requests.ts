import { inDoubtAsker, type QueuedRequest, type StartRequest } from '@webloom/core'
import type { StartSpan } from '../crawl/start-span.ts'
import type { Retried } from '../failures/redis-failures.ts'
import type { FrontierMachine } from '../frontier/frontier-machine.ts'
import { MAX_REQUESTS_PER_SCRIPT } from '../frontier/frontier-message.ts'
import type { Stirred } from '../frontier/turn-protocol.ts'
import type { HostSlots } from '../politeness/host-slots.ts'
import type { BucketPlacing } from './bucket-placing.ts'
import type { BucketScripts } from './scripts/bucket-scripts.ts'
import type { PushPart } from './scripts/placed-lines.ts'
import type { QueuedAskers } from './scripts/queued-askers.ts'
import { type SaidNumbers, WentBack } from './scripts/said-numbers.ts'
import { explained } from './turn-errors.ts'
import type { TurnJobs } from './turn-jobs.ts'

export interface NewRequestsOptions {
  readonly scripts: BucketScripts
  readonly said: SaidNumbers
  readonly queued: QueuedAskers
  readonly machine: FrontierMachine
  readonly jobs: TurnJobs
  readonly slots: HostSlots
  readonly placing: BucketPlacing
  readonly onPoint: (name: 'pushed') => void
  /** Called when Redis has done nothing of what was sent, as it has gone back. */
  readonly onWentBack: (error: WentBack) => void
}

/** Requests that come to lines in Redis: pushed, no longer in doubt, or tried once more after a failure. */
export class NewRequests {
  readonly #options: NewRequestsOptions

  constructor(options: NewRequestsOptions) {
    this.#options = options
  }

  /** Resolves to how many were added. */
  async push(batch: readonly QueuedRequest[], asker: string): Promise<number> {
    const { slots, placing } = this.#options
    const element = /^start\/(\d+)$/.exec(asker)?.[1]
    if (element !== undefined) {
      const start = batch.map((queued) => ({ ...queued, element: Number(element) }))
      return this.pushStart(start, { from: Number(element), to: Number(element) + 1 })
    }
    await slots.prepare(batch)
    let added = 0
    for (let from = 0; from === 0 || from < batch.length; from += MAX_REQUESTS_PER_SCRIPT) {
      const part = batch.slice(from, from + MAX_REQUESTS_PER_SCRIPT)
      added += await this.#pushPart({ asker, isNoting: true, groups: placing.pushed(part) })
    }
    if (batch.length > 0) this.#options.queued.note(asker, this.#options.said.answered)
    return added
  }

  /** Sends one script, which needs no note beside the cursor. */
  async pushStart(batch: readonly StartRequest[], start: StartSpan): Promise<number> {
    const { slots, placing } = this.#options
    await slots.prepare(batch)
    const groups = placing.pushed(batch, ({ element }) => `${element}`)
    const added = await this.#pushPart({ asker: 'start', isNoting: false, start, groups })
    for (const { element } of batch)
      this.#options.queued.note(`start/${element}`, this.#options.said.answered)
    return added
  }

  /** Resolves to the ids that were queued. */
  async endDoubts(args: readonly (string | number)[], requests: readonly QueuedRequest[]): Promise<string[]> {
    const { slots, placing, scripts, machine } = this.#options
    await slots.prepare(requests)
    const fresh = placing.pushed(requests)
    const { queued, ...stirred } = await scripts.endDoubts({ args, fresh })
    // It has no number: what Redis has lost since the latest one may be this.
    for (const id of queued) this.#options.queued.note(inDoubtAsker({ id }), this.#options.said.answered + 1)
    this.#options.jobs.stir(stirred)
    machine.states.arrived(fresh, performance.now())
    return queued
  }

  /** Resolves to the ids that were queued; to `ended` when the crawl has ended, and nothing was done. */
  async retryFailed(retried: readonly Retried[]): Promise<readonly string[] | 'ended'> {
    const { slots, placing, scripts, machine } = this.#options
    await slots.prepare(retried)
    const groups = placing.retried(retried)
    const done = await scripts.retryFailed(groups)
    if (done === 'ended') return done
    const { queued, ...stirred } = done
    this.#options.jobs.stir(stirred)
    machine.states.arrived(
      groups.map((group) => ({ ...group, place: 'end' as const })),
      performance.now(),
    )
    return queued
  }

  async #pushPart(part: Omit<PushPart, 'said'>): Promise<number> {
    const { jobs, machine, onPoint } = this.#options
    const done = await this.#sayPart(part)
    onPoint('pushed')
    jobs.stir(done)
    machine.states.arrived(part.groups, performance.now())
    return done.added
  }

  /**
   * Sends one part of a push. Earlier parts may be lost with an older state of Redis. Then the lease of their page is lost
   * as well, and start() finds a gap.
   */
  async #sayPart(part: Omit<PushPart, 'said'>): Promise<Stirred & { added: number }> {
    const { scripts, said, onWentBack } = this.#options
    const numbers = said.next()
    try {
      const done = await explained(scripts.push({ ...part, said: numbers }))
      said.wasAnswered(numbers)
      return done
    } catch (error) {
      if (!(error instanceof WentBack)) throw error
      onWentBack(error)
      return this.#sayPart(part)
    }
  }
}
