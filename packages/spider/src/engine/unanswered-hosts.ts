import { shownHostOf, UNANSWERED_FROM_MS, type UnansweredHost } from '@webloom/core'

/** A download that is under way. */
export interface SentDownload {
  readonly request: { readonly url: string }
  /** By the clock of `nowMs`; undefined: nothing was sent for it. */
  readonly sentAtMs: number | undefined
}

/** Returns the hosts of those that have waited for UNANSWERED_FROM_MS or longer. */
export function unansweredHosts(downloads: Iterable<SentDownload>, nowMs: number): UnansweredHost[] {
  const byHost = new Map<string, { requests: number; sentAtMs: number }>()
  for (const { request, sentAtMs = nowMs } of downloads) {
    if (nowMs - sentAtMs < UNANSWERED_FROM_MS) continue
    const host = shownHostOf(request.url)
    const known = byHost.get(host) ?? { requests: 0, sentAtMs }
    byHost.set(host, { requests: known.requests + 1, sentAtMs: Math.min(known.sentAtMs, sentAtMs) })
  }
  return [...byHost].map(([host, { requests, sentAtMs }]) => ({
    host,
    requests,
    sinceMs: Math.round(performance.timeOrigin + sentAtMs),
  }))
}
