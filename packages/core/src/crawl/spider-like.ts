/** What components may know of a spider. The class itself lives in the spider package. */
export interface SpiderLike {
  /** The spider's name on the command line, in keys and in logs. */
  readonly name: string
  /** Hosts whose pages, with those of their subdomains, may be fetched. Absent or empty: all hosts. */
  readonly allowedDomains?: readonly string[]
  /** Statuses other than 2xx that callbacks want to get. */
  readonly handleHttpstatusList?: readonly number[]
}
