/** What one check of `webloom doctor` has found. */
export interface CheckResult {
  /** What was looked at, in a word or two. */
  readonly check: string
  /** `fail`: crawls will not run, or may lose something; `warn`: some will; `info`: nobody need do anything. */
  readonly state: 'ok' | 'info' | 'warn' | 'fail'
  /** What was found, in a sentence without its stop. */
  readonly found: string
  /** The line to type, or to write where `found` says. */
  readonly type?: string
}

/** All that one look at a thing has found. */
export type CheckResults = readonly CheckResult[]
