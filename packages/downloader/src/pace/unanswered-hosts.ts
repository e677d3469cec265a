import { UNANSWERED_FROM_MS, type UnansweredHost } from '@webloom/core'
import { shownHostOf } from './shown-host.ts'

/** A download that is under way. */
export interface SentDownload {
  readonly request: { readonly url: string }
  /** When something was sent for it last, by the clock of `nowMs`; undefined: nothing was. */
  readonly sentAtMs: number | undefined
  /** False: it waits for something else, such as a browser or its host's name, and nothing of it is under way. */
  readonly isHeld: boolean
}

/** Returns the hosts of those that have waited for UNANSWERED_FROM_MS or longer. */
export function unansweredHosts(downloads: Iterable<SentDownload>, nowMs: number): UnansweredHost[] {
  const byHost = new Map<string, { requests: number; waitedMs: number }>()
  for (const { request, sentAtMs = nowMs, isHeld } of downloads) {
    const waitedMs = nowMs - sentAtMs
    if (!isHeld || waitedMs < UNANSWERED_FROM_MS) continue
    const host = shownHostOf(request.url)
    const known = byHost.get(host) ?? { requests: 0, waitedMs }
    byHost.set(host, { requests: known.requests + 1, waitedMs: Math.max(known.waitedMs, waitedMs) })
  }
  // To a second, so that a report that has not changed is not sent again.
  const momentOf = (waitedMs: number) => Math.round((Date.now() - waitedMs) / 1000) * 1000
  return [...byHost].map(([host, { requests, waitedMs }]) => ({
    host,
    requests,
    sinceMs: momentOf(waitedMs),
  }))
}
