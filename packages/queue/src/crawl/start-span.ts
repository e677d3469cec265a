/** The elements of start() that one push stores. */
export interface StartSpan {
  /** The first element; the start cursor must have come as far. */
  readonly from: number
  /** Where the start cursor is moved to. */
  readonly to: number
}
