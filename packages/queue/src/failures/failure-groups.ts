import { type LedgerEntry, type LedgerGroup, OTHER_FAILURES } from '@webloom/core'
import { quarantinedSignature, summaryOf } from './failed-entry.ts'

/** A group of the ledger, without those in quarantine. */
export type SignatureFields = LedgerGroup

/**
 * Returns the groups, those with the most in the ledger first.
 *
 * @param some of the requests in quarantine; when there are more, the others are one group more
 */
export function groupsOf(
  signatures: readonly SignatureFields[],
  some: readonly LedgerEntry[],
  quarantined: number,
): LedgerGroup[] {
  const groups = [...signatures]
  const bySignature = Map.groupBy(some, ({ signature }) => signature)
  for (const [signature, entries] of bySignature) groups.push(groupOf(signature, entries, entries.length))
  const more = quarantined - some.length
  if (more > 0 && some.length > 0) {
    groups.push(groupOf(quarantinedSignature(OTHER_FAILURES), some, more))
  }
  return groups.sort((a, b) => b.kept - a.kept || b.last.at - a.last.at)
}

function groupOf(signature: string, entries: readonly LedgerEntry[], count: number): LedgerGroup {
  const [first, ...others] = entries.toSorted((a, b) => a.at - b.at)
  return {
    signature,
    total: count,
    kept: count,
    trimmed: 0,
    first: summaryOf(first!),
    last: summaryOf(others.at(-1) ?? first!),
  }
}
