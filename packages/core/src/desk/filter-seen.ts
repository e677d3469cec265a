/** The dupefilter of a crawl, and settings, seen from outside. */

/** What the filter says of itself. What a kind of filter does not have is null. */
export interface FilterSeen {
  /** Its name in DUPEFILTER_CLASS. */
  readonly name: string
  readonly fingerprinter: string
  readonly urlRules: string | null
  /** False: nothing was recorded yet. */
  readonly exists: boolean
  readonly count: number
  readonly capacity: number | null
  /** Share of the bits that are set, 0 to 1. */
  readonly fill: number | null
  /** The share of new requests that it mistakes for seen ones: now, and when it is full. */
  readonly errorNow: number | null
  readonly errorAtCapacity: number | null
  /** How many pages it has kept from being fetched by now, by that error. */
  readonly pagesLost: number | null
  readonly memoryBytes: number | null
  readonly warnings: readonly string[]
}

/** The answer for one URL. */
export interface KnownSeen {
  readonly url: string
  /** Null: this filter cannot tell without recording. */
  readonly known: boolean | null
  /** Hexadecimal. */
  readonly fingerprint: string
}

/** A setting as it stands. */
export interface SettingSeen {
  readonly name: string
  /** As messages show it, without secrets. */
  readonly value: string
  /** Where it was set: `default`, `config`, `spider`, `environment`, `command`. */
  readonly source: string
  readonly summary: string
}
