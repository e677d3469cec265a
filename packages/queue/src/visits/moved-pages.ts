/**
 * Pages of which other fingerprints are made now than those under which they are kept (FINGERPRINTER). Two may have changed fingerprints with
 * each other, or one may have that which another had until now:
 *
 *     /a   A → B   due            takes B with what is known of it
 *     /b   B → C   tomorrow       makes place: it is due tomorrow under C
 *     /c   C → C                  keeps C, so /b goes: it is the same page now
 */

import type { AskedPage } from '@webloom/core'

export interface PagesKept {
  /** Returns the fingerprint that a request has now; undefined where none can be made, and the page stays where it is. */
  readonly fingerprint: (request: AskedPage['request']) => string | undefined
  /** Returns the page that is kept under a fingerprint. */
  readonly pageAt: (fingerprint: string) => AskedPage | undefined
}

/**
 * Returns where these pages go, and those that make place for them: old fingerprints and new ones; undefined for a page that goes, as another one
 * has its fingerprint. Of several pages that are one now the first stays. A chain is followed to its end, as one step has to move all of it.
 */
export function movesOf(
  fingerprints: readonly string[],
  { fingerprint, pageAt }: PagesKept,
): Map<string, string | undefined> {
  const moves = new Map<string, string | undefined>()
  const taken = new Set<string>()
  const nameNow = (name: string): string | undefined => {
    const page = pageAt(name)
    return page && (fingerprint(page.request) ?? name)
  }
  const left = [...fingerprints]
  for (const before of left) {
    const now = nameNow(before)
    if (now === undefined || now === before || moves.has(before)) continue
    const isTaken = taken.has(now) || nameNow(now) === now
    moves.set(before, isTaken ? undefined : now)
    if (isTaken) continue
    taken.add(now)
    // Whoever is there makes place.
    left.push(now)
  }
  return moves
}
