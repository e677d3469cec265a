/** A place where a whole output is put at once: it holds the complete output, or what it held before. */
export interface Destination {
  /** Scrapy's name of the storage, or that of a user's class, in the counters `feedexport/success_count/…`. */
  readonly storage: string
  /**
   * Returns what the place holds. Throws with the reason when nothing can be put there. Changes nothing.
   *
   * @param mayReplace false: a place that holds something is refused
   */
  open(mayReplace: boolean): Promise<'nothing' | 'empty' | 'something'>
  /** Puts the output there, in place of the old one. */
  put(pieces: AsyncIterable<Uint8Array>): Promise<void>
  /** Keeps the old output under a name that is free, and returns that name. */
  setAside(): Promise<string>
}

// Two outputs in the same second are rare; this many are a mistake.
const SAME_NAMES_MAX = 1000

/** Returns the name, or the first name with a number after it that is free. */
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
