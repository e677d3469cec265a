import type { FailureSnapshot, LedgerEntry, LedgerGroup, LedgerPage } from '@webloom/core'
import type { NewFailure } from './failed-entry.ts'

/** How many signatures are told apart; what is beyond counts as one. As many as `lua/failures/ledger.lua` has. */
export const SIGNATURES_MAX = 100
/** The most bytes of all entries. As many as `lua/failures/ledger.lua` has. */
export const FAILURES_BYTES_MAX = 64 * 1024 * 1024

/** Where a crawl in one process keeps its ledger of failures; all of it in the step of the caller. */
export interface FailureStore {
  /** Adds an entry in the place of the request's earlier one, and trims to `most`. Returns how many were trimmed. */
  keep(failure: NewFailure, most: number): number
  keepSnapshot(signature: string, snapshot: FailureSnapshot): void
  /** Removes that very failure of the request. Returns false when it is not there. */
  take(id: string, key: string): boolean
  counts(): { readonly kept: number; readonly total: number; readonly trimmed: number }
  groups(): LedgerGroup[]
  page(max: number, where: { readonly cursor?: string; readonly signature?: string }): LedgerPage
  find(ids: readonly string[]): LedgerEntry[]
  snapshot(signature: string): FailureSnapshot | undefined
  clear(): void
}
