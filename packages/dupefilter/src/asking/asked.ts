import type { Fingerprinter, KnownUrl, Request } from '@webloom/core'

/** A request that a filter is asked about, and what the filter remembers it by. */
export interface Asked {
  /** In hex, made by the filter's fingerprinter. */
  readonly fingerprint: string
  /** The request. */
  readonly request: Request
  /** Set when all requests to it have this fingerprint. */
  readonly url?: KnownUrl | undefined
}

export function askedAbout(request: Request, fingerprinter: Fingerprinter): Asked {
  return { fingerprint: fingerprinter.fingerprint(request), request }
}
