import {
  type FailureLedger,
  type FailureSnapshot,
  type GivenUp,
  type Lease,
  type LedgerCounts,
  type LedgerEntry,
  type LedgerGroup,
  type LedgerPage,
  type QueuedRequest,
  requestToJson,
} from '@webloom/core'
import { laterThan, newFailure, retriedOf } from './failed-entry.ts'
import { groupsOf } from './failure-groups.ts'
import type { FailureStore } from './failure-store.ts'

export interface LocalFailuresOptions {
  readonly store: FailureStore
  /** FAILED_MAX; 0: no failure is kept. */
  readonly failedMax: number
  /** Called with how many failures were removed for it. */
  readonly onTrimmed: (count: number) => void
  /** Requests that were rejected or cannot be read; they are counted, and come again in the next run of a JOBDIR. */
  readonly quarantined: () => number
  /** Queues those of the requests for which `isTaken` returns true, in one step with it. Returns the others not. */
  readonly requeue: (
    requests: readonly QueuedRequest[],
    isTaken: (id: string) => boolean,
  ) => Promise<readonly string[]>
  readonly atomically: <T>(step: () => T) => T
}

/** The ledger of a crawl in one process. */
export class LocalFailures implements FailureLedger {
  readonly #options: LocalFailuresOptions
  readonly #store: FailureStore

  constructor(options: LocalFailuresOptions) {
    this.#options = options
    this.#store = options.store
  }

  /** Notes why a request was given up. */
  keep(lease: Lease, failure: GivenUp): void {
    const { failedMax, onTrimmed } = this.#options
    if (failedMax === 0) return
    const json = JSON.stringify(requestToJson(lease.request))
    const trimmed = this.#store.keep(newFailure(lease, failure, { worker: '', json }), failedMax)
    if (failure.snapshot) this.#store.keepSnapshot(failure.signature, failure.snapshot)
    if (trimmed > 0) onTrimmed(trimmed)
  }

  async counts(): Promise<LedgerCounts> {
    return { ...this.#store.counts(), quarantined: this.#options.quarantined() }
  }

  async groups(): Promise<readonly LedgerGroup[]> {
    return groupsOf(this.#store.groups(), [], 0)
  }

  async page(max: number, where: { cursor?: string; signature?: string } = {}): Promise<LedgerPage> {
    return this.#store.page(max, where)
  }

  async laterThanNow(): Promise<(entry: LedgerEntry) => boolean> {
    return laterThan(this.#store.counts().total)
  }

  async find(ids: readonly string[]): Promise<readonly LedgerEntry[]> {
    return this.#store.find(ids)
  }

  async snapshot(signature: string): Promise<FailureSnapshot | undefined> {
    return this.#store.snapshot(signature)
  }

  async retry(entries: readonly LedgerEntry[]): Promise<readonly string[]> {
    const keys = new Map(entries.map(({ id, key }) => [id, key]))
    const requests = entries.flatMap((entry) => retriedOf(entry) ?? [])
    return this.#options.requeue(requests, (id) => this.#store.take(id, keys.get(id)!))
  }

  async drop(entries: readonly LedgerEntry[]): Promise<readonly string[]> {
    return this.#options.atomically(() =>
      entries.filter(({ id, key }) => this.#store.take(id, key)).map(({ id }) => id),
    )
  }

  async forgetGone(): Promise<void> {
    this.#options.atomically(() => {
      if (this.#store.counts().kept === 0) this.#store.clear()
    })
  }

  async clear(): Promise<void> {
    this.#options.atomically(() => this.#store.clear())
  }
}
