/**
 * Remembers texts in 43 characters, so that the sketch can travel with a request: a Bloom filter of 256 bits with one hash. It
 * takes a share of new texts for known ones, a fifth after 50 texts.
 */
export class LinkSketch {
  readonly #bits: Buffer

  constructor(bits = Buffer.alloc(BYTES)) {
    this.#bits = bits
  }

  /** Returns undefined for a text that is not a sketch. */
  static parse(text: unknown): LinkSketch | undefined {
    if (typeof text !== 'string') return undefined
    const bits = Buffer.from(text, 'base64url')
    return bits.length === BYTES ? new LinkSketch(bits) : undefined
  }

  add(text: string): void {
    const bit = bitOf(text)
    this.#bits[bit >> 3]! |= 1 << (bit & 7)
  }

  has(text: string): boolean {
    const bit = bitOf(text)
    return (this.#bits[bit >> 3]! & (1 << (bit & 7))) !== 0
  }

  toString(): string {
    return this.#bits.toString('base64url')
  }
}

const BYTES = 32

function bitOf(text: string): number {
  return hash32(text) % (BYTES * 8)
}

/** FNV-1a, mixed once more, as its low bits are poor. */
export function hash32(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}
