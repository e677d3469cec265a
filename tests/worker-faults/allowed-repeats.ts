import type { FakeWebTruth, Hit } from '@webloom/testkit'

/** A page that was handed on is settled with the next question of its worker; with nothing else to ask a second later. */
const SETTLED_WITHIN_MS = 1000

export interface Kill {
  /** By the clock of the log. */
  readonly killedAtMs: number
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
  web: Pick<FakeWebTruth, 'page'>,
  hits: readonly Hit[],
  { killedAtMs, heldMax, isOfLost = () => true }: Kill,
): number {
  const firstMetMs = firstMet(web, hits)
  const lately = hits
    .filter((hit) => web.page(hit.url) && hit.atMs <= killedAtMs && isOfLost(hit))
    .filter(({ endedAtMs = killedAtMs }) => endedAtMs > killedAtMs - SETTLED_WITHIN_MS)
    .toSorted((a, b) => (b.endedAtMs ?? killedAtMs) - (a.endedAtMs ?? killedAtMs))
    .slice(0, 2 * heldMax)
  const newLinks = lately.flatMap(({ url, endedAtMs = killedAtMs }) =>
    web
      .page(url)!
      .links.filter((link) => (firstMetMs.get(link) ?? endedAtMs) > endedAtMs - SETTLED_WITHIN_MS),
  )
  return Math.min(heldMax, lately.length) + new Set(newLinks).size
}

/** When the first page that has a link was answered. */
function firstMet(web: Pick<FakeWebTruth, 'page'>, hits: readonly Hit[]): ReadonlyMap<string, number> {
  const metMs = new Map<string, number>()
  for (const { url, endedAtMs } of hits) {
    if (endedAtMs === undefined) continue
    for (const link of web.page(url)?.links ?? [])
      metMs.set(link, Math.min(endedAtMs, metMs.get(link) ?? endedAtMs))
  }
  return metMs
}
