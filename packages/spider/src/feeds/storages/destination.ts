/** Where a whole output is put at once: it is there complete, or what was there before. */
export interface Destination {
  /** Scrapy's name for it, or that of a user's class, in the counters `feedexport/success_count/…`. */
  readonly storage: string
  /**
   * Returns what is there. Throws with the reason when nothing can be put there, and changes nothing.
   *
   * @param mayReplace false: what holds something is refused
   */
  open(mayReplace: boolean): Promise<'nothing' | 'empty' | 'something'>
  /** Puts the output there in place of what was. */
  put(pieces: AsyncIterable<Uint8Array>): Promise<void>
  /** Keeps what is there under a name that nobody uses, and returns that name. */
  setAside(): Promise<string>
}
