/** What may stand at a place of a command line. */
export interface Candidates {
  /** Whole words, each with what it means. */
  readonly values: readonly (readonly [value: string, help?: string | undefined])[]
  /** Whether it may be a file, too. */
  readonly files: boolean
}

export const NONE: Candidates = { values: [], files: false }
