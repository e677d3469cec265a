/** What is wrong, and what names it: of one id a run is told once. */
export interface Finding {
  readonly id: string
  readonly words: string
  /** The field whose lack it is about. */
  readonly field?: string
}
