import type { FakeWebTruth, Hit } from '@webloom/testkit'

/** A page that was handed on is settled with the next question of its worker; with nothing else to ask a second later. */
const SETTLED_WITHIN_MS = 1000

export interface Kill {
  /** By the clock of the log. */
  readonly atMs: number
  /** How many pages the lost workers had in hand at the most. */
  readonly heldMax: number
  /** Whether a lost worker fetched it. Default: all were lost. */
  readonly isOfLost?: (hit: Hit) => boolean
}

/**
 * How many fetches may be repeated after a kill, as guarantee 1 says, by the server's log: the pages that the lost workers held, and the new links
 * of these and of those they had just handed on, no more than they can hold. A link is new to a page unless another one that has it was answered
 * so long before that it was handed on.
 */
export function allowedRepeats(
  web: FakeWebTruth,
  hits: readonly Hit[],
  { atMs, heldMax, isOfLost = () => true }: Kill,
): number {
  const firstMetMs = firstMet(web, hits)
  const lately = hits
    .filter((hit) => hit.atMs <= atMs && (hit.endedAtMs ?? atMs) > atMs - SETTLED_WITHIN_MS && isOfLost(hit))
    .toSorted((a, b) => b.atMs - a.atMs)
    .slice(0, 2 * heldMax)
  const isNew = (link: string, { endedAtMs = atMs }: Hit) =>
    firstMetMs.get(link)! > endedAtMs - SETTLED_WITHIN_MS
  const newLinks = lately.flatMap((hit) => web.page(hit.url)?.links.filter((link) => isNew(link, hit)) ?? [])
  return Math.min(heldMax, lately.length) + new Set(newLinks).size
}

/** When the first page that has a link was answered. */
function firstMet(web: FakeWebTruth, hits: readonly Hit[]): ReadonlyMap<string, number> {
  const metMs = new Map<string, number>()
  for (const { url, atMs, endedAtMs = atMs } of hits)
    for (const link of web.page(url)?.links ?? [])
      metMs.set(link, Math.min(endedAtMs, metMs.get(link) ?? endedAtMs))
  return metMs
}
