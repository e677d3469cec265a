/**
 * Returns the same text in memory of its own. V8 makes a slice by pointing into the text it was cut from, so that each
 * queued request would keep alive the whole page it was found on (measured: 214 MB in place of 14 for 4 000 requests).
 *
 * Put together from two parts, as that leaves characters in a row: a copy that is a slice in its turn is found in a Map
 * in twice the time (576 against 326 ns with URLs of 36 characters).
 */
export function ownCopy(text: string): string {
  return text.length < SLICE_LENGTH_MIN ? text : [text.slice(0, 1), text.slice(1)].join('')
}

// Shorter parts of a text V8 copies.
const SLICE_LENGTH_MIN = 13
