import type { Fingerprinter, Request } from '@webloom/core'

/** A request that a filter is asked about, and what it would be remembered by. */
export interface Asked {
  /** In hex, by the filter's fingerprinter. */
  readonly fingerprint: string
  /** What is asked about. */
  readonly request: Request
}

export function askedAbout(request: Request, fingerprinter: Fingerprinter): Asked {
  return { fingerprint: fingerprinter.fingerprint(request), request }
}
