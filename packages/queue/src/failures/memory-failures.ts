import {
  type FailureSnapshot,
  type LedgerEntry,
  type LedgerGroup,
  type LedgerPage,
  OTHER_FAILURES,
} from '@webloom/core'
import { failedRequest, type KnownFailure, type NewFailure, stored, summaryOf } from './failed-entry.ts'
import { FAILURES_BYTES_MAX, type FailureStore, SIGNATURES_MAX } from './failure-store.ts'

interface Entry {
  readonly id: string
  readonly number: number
  readonly signature: string
  readonly known: string
  readonly request: string
}

interface Signature {
  readonly name: string
  total: number
  trimmed: number
  first: string
  last: string
  snapshot?: FailureSnapshot
  /** By request id, the oldest first. */
  readonly entries: Map<string, Entry>
}

/** The ledger of a crawl in memory. It ends with the process. */
export class MemoryFailures implements FailureStore {
  readonly #signatures = new Map<string, Signature>()
  readonly #entries = new Map<string, Entry>()
  #number = 0
  #bytes = 0

  keep(failure: NewFailure, most: number): number {
    this.#remove(failure.id)
    const signature = this.#signatureFor(failure.signature)
    const known = stored(failure.known, ++this.#number, Date.now())
    const entry = { ...failure, known, number: this.#number, signature: signature.name }
    this.#entries.set(entry.id, entry)
    signature.entries.set(entry.id, entry)
    this.#bytes += bytesOf(entry)
    signature.total++
    signature.first ||= known
    signature.last = known
    return this.#trim(most)
  }

  keepSnapshot(signature: string, snapshot: FailureSnapshot): void {
    const known = this.#signatures.get(signature)
    if (known) known.snapshot ??= snapshot
  }

  take(id: string, key: string): boolean {
    const entry = this.#entries.get(id)
    return entry !== undefined && `f${entry.number}` === key && this.#remove(id)
  }

  counts(): { kept: number; total: number; trimmed: number } {
    let trimmed = 0
    for (const signature of this.#signatures.values()) trimmed += signature.trimmed
    return { kept: this.#entries.size, total: this.#number, trimmed }
  }

  groups(): LedgerGroup[] {
    return [...this.#signatures.values()].map(({ name, total, trimmed, first, last, entries }) => ({
      signature: name,
      total,
      kept: entries.size,
      trimmed,
      first: summaryOf(JSON.parse(first) as KnownFailure),
      last: summaryOf(JSON.parse(last) as KnownFailure),
    }))
  }

  page(max: number, { cursor, signature }: { cursor?: string; signature?: string }): LedgerPage {
    const below = Number(cursor ?? Number.MAX_SAFE_INTEGER)
    const found: Entry[] = []
    const all = signature === undefined ? this.#entries : this.#signatures.get(signature)?.entries
    for (const entry of [...(all?.values() ?? [])].reverse()) {
      if (entry.number >= below) continue
      found.push(entry)
      if (found.length === max) break
    }
    const entries = found.map(requestOf)
    return { entries, ...(found.length === max && { cursor: String(found.at(-1)!.number) }) }
  }

  find(ids: readonly string[]): LedgerEntry[] {
    return ids.flatMap((id) => {
      const entry = this.#entries.get(id)
      return entry ? [requestOf(entry)] : []
    })
  }

  snapshot(signature: string): FailureSnapshot | undefined {
    return this.#signatures.get(signature)?.snapshot
  }

  clear(): void {
    this.#signatures.clear()
    this.#entries.clear()
    this.#number = 0
    this.#bytes = 0
  }

  #signatureFor(name: string): Signature {
    const isFull = this.#signatures.size >= SIGNATURES_MAX
    const counted = this.#signatures.has(name) || !isFull ? name : OTHER_FAILURES
    const known = this.#signatures.get(counted)
    if (known) return known
    const made = { name: counted, total: 0, trimmed: 0, first: '', last: '', entries: new Map() }
    this.#signatures.set(counted, made)
    return made
  }

  #trim(most: number): number {
    let trimmed = 0
    for (; this.#entries.size > most || this.#bytes > FAILURES_BYTES_MAX; trimmed++) {
      const largest = largestOf(this.#signatures.values())
      const [oldest] = largest.entries.keys()
      this.#remove(oldest!)
      largest.trimmed++
    }
    return trimmed
  }

  #remove(id: string): boolean {
    const entry = this.#entries.get(id)
    if (!entry) return false
    this.#entries.delete(id)
    this.#signatures.get(entry.signature)!.entries.delete(id)
    this.#bytes -= bytesOf(entry)
    return true
  }
}

function requestOf({ id, signature, known, request }: Entry): LedgerEntry {
  return failedRequest(id, signature, JSON.parse(known) as KnownFailure, request)
}

function bytesOf({ known, request }: Entry): number {
  return known.length + request.length
}

function largestOf(signatures: Iterable<Signature>): Signature {
  let largest: Signature | undefined
  for (const one of signatures) if (!largest || one.entries.size > largest.entries.size) largest = one
  return largest!
}
