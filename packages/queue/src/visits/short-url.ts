/**
 * What is behind the origin of a URL, in five bits a letter rather than eight: letters that URLs have often take four, others up to ten. The code
 * is made of the list below as Huffman codes are written by their lengths alone. What is left of the last byte is filled with ones: no letter is made of
 * these.
 *
 * Entries of the wheel are kept by it. So the list stays as it is; another one needs a flag of its own there.
 */

const LETTERS_BY_BITS: Readonly<Record<number, string>> = {
  4: '/ea',
  5: 'tscrpnoidl-012',
  6: 'mugh=.3456789?',
  7: 'bfvw&_',
  8: 'kxyjqz%+',
  9: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
  10: ',:;@~!()*\'"#$<>[]\\^`{|}',
}

interface Code {
  readonly bits: number
  readonly value: number
}

const CODES: ReadonlyMap<string, Code> = codesOf(LETTERS_BY_BITS)
const LETTERS: ReadonlyMap<number, string> = new Map(
  [...CODES].map(([letter, code]) => [keyOf(code.bits, code.value), letter]),
)
const BITS_MAX = 10

/** Returns undefined for a text with other letters. */
export function packShort(text: string): Buffer | undefined {
  const packed = Buffer.alloc(Math.ceil((text.length * BITS_MAX) / 8))
  let [length, held, bits] = [0, 0, 0]
  for (const letter of text) {
    const code = CODES.get(letter)
    if (!code) return undefined
    held = (held << code.bits) | code.value
    bits += code.bits
    for (; bits >= 8; bits -= 8) packed[length++] = held >> (bits - 8)
    held &= (1 << bits) - 1
  }
  if (bits > 0) packed[length++] = ((held + 1) << (8 - bits)) - 1
  return packed.subarray(0, length)
}

export function unpackShort(packed: Buffer): string {
  let [text, value, bits] = ['', 0, 0]
  for (const byte of packed)
    for (let at = 7; at >= 0; at--) {
      value = (value << 1) | ((byte >> at) & 1)
      bits++
      const letter = LETTERS.get(keyOf(bits, value))
      if (letter === undefined) continue
      text += letter
      value = bits = 0
    }
  return text
}

function codesOf(lettersByBits: Readonly<Record<number, string>>): Map<string, Code> {
  const codes = new Map<string, Code>()
  let [value, before] = [0, 0]
  for (const [length, letters] of Object.entries(lettersByBits)) {
    const bits = Number(length)
    value <<= bits - before
    before = bits
    for (const letter of letters) codes.set(letter, { bits, value: value++ })
  }
  return codes
}

/** A 1 in front keeps leading zeros. */
function keyOf(bits: number, value: number): number {
  return (1 << bits) | value
}
