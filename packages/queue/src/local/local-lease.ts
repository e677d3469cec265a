import type { DocumentPace, HostState, Lease, Request } from '@webloom/core'
import type { DocumentLine } from '../politeness/document-line.ts'
import type { StoredRequest } from './request-store.ts'

export interface LocalLeaseOptions extends Pick<Lease, 'slot' | 'host' | 'isPaced' | 'signal'> {
  readonly documents: DocumentLine
  readonly onStart: () => void
}

/** A request that an in-process queue has handed out. */
export class LocalLease<Held extends StoredRequest> implements Lease {
  readonly held: Held
  readonly slot: string
  readonly host: HostState
  readonly isPaced: boolean
  readonly signal: AbortSignal
  readonly #documents: DocumentLine
  readonly #onStart: () => void
  hasStarted = false
  isStandingBy = false

  constructor(held: Held, { slot, host, isPaced, signal, documents, onStart }: LocalLeaseOptions) {
    this.held = held
    this.slot = slot
    this.host = host
    this.isPaced = isPaced
    this.signal = signal
    this.#documents = documents
    this.#onStart = onStart
  }

  get id(): string {
    return this.held.id
  }

  get request(): Request {
    return this.held.request
  }

  get attempt(): number {
    return this.held.attempt ?? 1
  }

  get redelivered(): boolean {
    return this.held.redelivered ?? false
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
}
