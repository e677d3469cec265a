/** Elements of start(). */
export interface StartSpan {
  /** Where the start cursor must have come to. */
  readonly from: number
  /** Where it goes. */
  readonly to: number
}
