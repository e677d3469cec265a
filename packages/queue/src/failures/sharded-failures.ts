/** The ledgers of failures of all shards as one. Commands that only read are given ledgers that cannot retry. */

import type {
  FailureLedger,
  FailureSnapshot,
  LedgerCounts,
  LedgerEntry,
  LedgerGroup,
  LedgerPage,
} from '@webloom/core'
import type { GivingUp } from '../leasing/giving-up.ts'

export class ShardedFailures implements FailureLedger {
  readonly #parts: readonly FailureLedger[]
  /** Where entries were read. */
  readonly #readFrom = new WeakMap<LedgerEntry, FailureLedger>()

  constructor(parts: readonly FailureLedger[]) {
    this.#parts = parts
  }

  async counts(): Promise<LedgerCounts> {
    const all = await Promise.all(this.#parts.map((part) => part.counts()))
    const sum = (of: keyof LedgerCounts) => all.reduce((total, one) => total + one[of], 0)
    return {
      kept: sum('kept'),
      total: sum('total'),
      trimmed: sum('trimmed'),
      quarantined: sum('quarantined'),
    }
  }

  async groups(): Promise<LedgerGroup[]> {
    const all = (await Promise.all(this.#parts.map((part) => part.groups()))).flat()
    const bySignature = Map.groupBy(all, ({ signature }) => signature)
    return [...bySignature.values()]
      .map((groups) => groups.reduce(joined))
      .sort((a, b) => b.kept - a.kept || b.last.at - a.last.at)
  }

  async page(
    max: number,
    { cursor, signature }: { cursor?: string; signature?: string } = {},
  ): Promise<LedgerPage> {
    const entries: LedgerEntry[] = []
    let next = cursor
    do {
      const page = await this.#page(max - entries.length, signature, next)
      entries.push(...page.entries)
      next = page.cursor
    } while (entries.length < max && next !== undefined)
    return { entries, ...(next !== undefined && { cursor: next }) }
  }

  /** Each part has numbers of its own. */
  async laterThanNow(): Promise<(entry: LedgerEntry) => boolean> {
    const parts = this.#parts.map(async (part) => [part, await part.laterThanNow()] as const)
    const isLaterIn = new Map(await Promise.all(parts))
    return (entry) => isLaterIn.get(this.#readFrom.get(entry)!)?.(entry) ?? false
  }

  async find(ids: readonly string[]): Promise<LedgerEntry[]> {
    const found = await Promise.all(this.#parts.map(async (part) => this.#noted(part, await part.find(ids))))
    return found.flat()
  }

  async snapshot(signature: string): Promise<FailureSnapshot | undefined> {
    const all = await Promise.all(this.#parts.map((part) => part.snapshot(signature)))
    return all.find((one) => one !== undefined)
  }

  /** Where some parts have ended and others have not, those are passed over. */
  async retry(entries: readonly LedgerEntry[]): Promise<string[] | 'ended'> {
    const queued: string[] = []
    let hasEnded = false
    for (const [part, some] of this.#byPart(entries)) {
      const ids = await part.retry(some)
      if (ids === 'ended') hasEnded = true
      else queued.push(...ids)
    }
    return hasEnded && queued.length === 0 ? 'ended' : queued
  }

  async drop(entries: readonly LedgerEntry[]): Promise<string[]> {
    const gone: string[] = []
    for (const [part, some] of this.#byPart(entries)) gone.push(...(await part.drop(some)))
    return gone
  }

  async forgetGone(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.forgetGone()))
  }

  async clear(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.clear()))
  }

  /** Of one shard; the cursor is `<its number>|<its own cursor>`. */
  async #page(max: number, signature: string | undefined, cursor = '0|'): Promise<LedgerPage> {
    const [, n = '0', of = ''] = /^(\d+)\|(.*)$/s.exec(cursor) ?? []
    const part = this.#parts[Number(n)]!
    const page = await part.page(max, {
      ...(of !== '' && { cursor: of }),
      ...(signature !== undefined && { signature }),
    })
    const isLast = Number(n) + 1 === this.#parts.length
    const next = page.cursor !== undefined ? `${n}|${page.cursor}` : isLast ? undefined : `${Number(n) + 1}|`
    return { entries: this.#noted(part, page.entries), ...(next !== undefined && { cursor: next }) }
  }

  #noted(part: FailureLedger, entries: readonly LedgerEntry[]): LedgerEntry[] {
    for (const entry of entries) this.#readFrom.set(entry, part)
    return [...entries]
  }

  #byPart(entries: readonly LedgerEntry[]): Map<FailureLedger, LedgerEntry[]> {
    return Map.groupBy(entries, (entry) => {
      const part = this.#readFrom.get(entry)
      if (!part) throw new Error(`the failure of ${entry.id} was not read from this ledger`)
      return part
    })
  }
}

function joined(a: LedgerGroup, b: LedgerGroup): LedgerGroup {
  return {
    signature: a.signature,
    total: a.total + b.total,
    kept: a.kept + b.kept,
    trimmed: a.trimmed + b.trimmed,
    first: a.first.at <= b.first.at ? a.first : b.first,
    last: a.last.at >= b.last.at ? a.last : b.last,
  }
}

/** Failures are kept in each shard: FAILED_MAX is that of all. Returns what is one shard’s. */
export function partOf({ failedMax, ...givingUp }: GivingUp, shards: number): GivingUp {
  return { ...givingUp, ...(failedMax !== undefined && { failedMax: Math.ceil(failedMax / shards) }) }
}
