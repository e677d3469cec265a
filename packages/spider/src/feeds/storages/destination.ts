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

// Two outputs of the same second are rare; this many are a mistake.
const SAME_NAMES_MAX = 1000

/** The name, or with a number behind it the first that nobody uses. */
export async function freeName(
  name: string,
  isTaken: (candidate: string) => Promise<boolean>,
): Promise<string> {
  for (let count = 1; count <= SAME_NAMES_MAX; count++) {
    const candidate = count === 1 ? name : `${name}-${count}`
    if (!(await isTaken(candidate))) return candidate
  }
  throw new Error(`there are ${SAME_NAMES_MAX} files of one name, such as ${name}; move them away`)
}
