/** What components may know of a spider. The class itself lives in the spider package. */
export interface SpiderLike {
  /** As it is called on the command line, in keys and in logs. */
  readonly name: string
  /** Hosts whose pages, with their subdomains, may be fetched; absent or empty allows all. */
  readonly allowedDomains?: readonly string[]
  /** Statuses beyond 2xx that callbacks want to see. */
  readonly handleHttpstatusList?: readonly number[]
}
