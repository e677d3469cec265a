import type { Fingerprinter, FoundVisit, KeptVisits, Request } from '@webloom/core'
import { fingerprintNow } from './same-fingerprints.ts'

/** A page that was visited before. */
export interface KnownPage {
  readonly fingerprint: string
  readonly visit: FoundVisit
}

/** Resolves to those of which the pages were visited, with their last visits. */
export async function knownAmong(
  requests: readonly Request[],
  {
    fingerprinter,
    visits,
  }: { readonly fingerprinter: Fingerprinter; readonly visits: Pick<KeptVisits, 'find'> },
): Promise<ReadonlyMap<Request, KnownPage>> {
  const pages = requests.flatMap((request) => {
    const fingerprint = fingerprintNow(request, fingerprinter)
    return fingerprint === undefined ? [] : [{ request, fingerprint }]
  })
  const found = pages.length > 0 ? await visits.find(pages.map(({ fingerprint }) => fingerprint)) : []
  return new Map(
    pages.flatMap(({ request, fingerprint }, n) => {
      const visit = found[n]
      return visit ? [[request, { fingerprint, visit }] as const] : []
    }),
  )
}

/** Returns the URLs that have led to the request by redirects. */
export function cameFrom(request: Request): readonly unknown[] {
  const urls = request.hasMeta ? request.meta.redirect_urls : undefined
  return Array.isArray(urls) ? urls : []
}
