import type { DocumentPace, HostState, Lease, QueueOrder, Request } from '@webloom/core'
import type { DispatchItem } from '../leasing/lease-dispatcher.ts'
import { leaseLost } from '../leasing/lease-lost.ts'
import type { PackedTries } from '../leasing/packed-request.ts'
import type { DocumentLine } from '../politeness/document-line.ts'
import { bullPriority } from './bull-job.ts'

/** What a script must know to end the lease of a job. */
export interface JobHold {
  readonly jobId: string
  /** The value of the job's lock. */
  readonly token: string
  readonly bullPriority: number
  /** True when the request runs alone: the note of that is deleted in the same step. */
  readonly isAlone?: boolean
}

/** A request as it came out of its job. */
export interface TakenRequest extends JobHold {
  readonly id: string
  readonly tries: PackedTries
  readonly request: Request
  /** The packed request, as it stands in the queue. */
  readonly text: string
}

/** How a lease stands with its worker. */
export interface JobLeaseOptions {
  readonly slot: string
  readonly host: HostState
  readonly isPaced: boolean
  readonly order: QueueOrder
  readonly lockedUntilMs: number
  readonly documents: DocumentLine
  readonly onStart: () => void
}

/** A request that this worker holds: it waits for its host, lies ready at the dispatcher, or is with the engine. */
export class JobLease implements Lease, DispatchItem {
  readonly id: string
  readonly jobId: string
  readonly token: string
  readonly tries: PackedTries
  readonly request: Request
  readonly text: string
  readonly slot: string
  readonly priority: number
  readonly bullPriority: number
  host: HostState
  isPaced: boolean
  /** Until this moment of the monotonic clock no other worker can have taken it. */
  lockedUntilMs: number
  hasStarted = false
  isStandingBy = false
  /** When its host allowed it to go. From then on the host's clock counts it. */
  readySinceMs: number | undefined
  /** True when the engine has it. */
  isOut = false
  /** True while its outcome is being written. */
  isEnding = false
  readonly #documents: DocumentLine
  readonly #onStart: () => void
  readonly #lost = new AbortController()

  constructor(taken: TakenRequest, options: JobLeaseOptions) {
    const { slot, host, isPaced, order, lockedUntilMs, documents, onStart } = options
    this.id = taken.id
    this.jobId = taken.jobId
    this.token = taken.token
    this.tries = taken.tries
    this.request = taken.request
    this.text = taken.text
    this.slot = slot
    this.host = host
    this.isPaced = isPaced
    this.priority = order === 'priority' ? taken.request.priority : 0
    this.bullPriority = bullPriority(taken.request, order)
    this.lockedUntilMs = lockedUntilMs
    this.#documents = documents
    this.#onStart = onStart
  }

  get attempt(): number {
    return this.tries.attempt
  }

  get redelivered(): boolean {
    return this.tries.attempt > 1
  }

  get suspect(): boolean {
    return this.tries.suspect
  }

  get hold(): JobHold {
    const { jobId, token, bullPriority, suspect, isOut } = this
    return { jobId, token, bullPriority, isAlone: suspect && isOut }
  }

  get signal(): AbortSignal {
    return this.#lost.signal
  }

  started(): void {
    if (this.hasStarted) return
    this.hasStarted = true
    this.#documents.leaves(this)
    this.#onStart()
  }

  documents(): DocumentPace {
    return this.#documents.of(this)
  }

  lose(why: string): void {
    this.#lost.abort(leaseLost(this.request, why))
  }
}
