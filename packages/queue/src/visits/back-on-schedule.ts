import type { RequestJson } from '@webloom/core'
import {
  carriedVisit,
  HOUR_MS,
  type Request,
  requestFromJson,
  type VisitedPage,
  type VisitStore,
  withoutVisit,
} from '@webloom/core'

/** As a page that could not be fetched, the first time. */
const AGAIN_MS = 2 * HOUR_MS

/** A request that is about to be dropped for good. */
export interface DroppedRequest {
  readonly id: string
  readonly request?: RequestJson
}

/**
 * Puts pages that waited in a line, and whose requests nobody will make, back on their schedule: as visited in vain. It is done before the
 * requests are dropped: a page for which only this was done may be visited once more, and none is forgotten.
 */
export async function backOnSchedule(
  visits: Pick<VisitStore, 'find' | 'record'>,
  dropped: readonly DroppedRequest[],
): Promise<void> {
  const pages = dropped.flatMap(({ id, request }) => {
    const asked = request && readable(request)
    // What is due is queued under its fingerprint.
    return asked && carriedVisit(asked, id) ? [{ fingerprint: id, request: withoutVisit(asked) }] : []
  })
  if (pages.length === 0) return
  const found = await visits.find(pages.map(({ fingerprint }) => fingerprint))
  const now = Date.now()
  const inVain = pages.flatMap((page, n): VisitedPage[] => {
    const known = found[n]
    if (!known?.isInALine) return []
    const { isInALine, ...visit } = known
    return [
      { ...page, visit: { ...visit, visitedAt: now, dueAt: now + AGAIN_MS, failures: visit.failures + 1 } },
    ]
  })
  if (inVain.length > 0) await visits.record(inVain)
}

/** Returns undefined for a request that another release has written in a form that this one cannot read. */
function readable(request: RequestJson): Request | undefined {
  try {
    return requestFromJson(request)
  } catch {
    return undefined
  }
}
