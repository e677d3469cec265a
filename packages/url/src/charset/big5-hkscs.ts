/** Big5 with the signs of Hong Kong, as Python's codec `big5hkscs` writes it. */

/**
 * Yields every pair of bytes, in the order in which the codec prefers them where two stand for one character: Big5 itself,
 * then what HKSCS has put into its gaps and before it.
 */
export function* big5HkscsPairs(): Generator<Uint8Array> {
  for (const isBig5 of [true, false]) {
    for (let lead = 0x87; lead <= 0xfe; lead++) {
      for (let trail = 0x40; trail <= 0xfe; trail++) {
        const pair = lead * 256 + trail
        const isOfBig5 = (pair >= 0xa140 && pair <= 0xc67e) || (pair >= 0xc940 && pair <= 0xf9d5)
        if (isOfBig5 === isBig5) yield Uint8Array.of(lead, trail)
      }
    }
  }
}

/**
 * Returns false for pairs that the web reads and the codec does not write: additions of 2008, and pictures of control
 * characters.
 */
export function isOfBig5Hkscs(pair: number): boolean {
  return pair > 0xff && !(pair >= 0x877a && pair <= 0x87fe) && !(pair >= 0xa3c0 && pair <= 0xa3e1)
}
