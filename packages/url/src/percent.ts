/**
 * Percent-encoding over byte strings.
 *
 * A byte string is a JS string whose every unit is one byte (U+0000–U+00FF). It compares, sorts, splits and replaces
 * at the speed of a Latin-1 string, and `<` orders it bytewise, as Python orders `bytes`.
 */

const UNRESERVED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~'
const ASCII = /^[\0-\x7f]*$/
const BYTES = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte))

export function isAscii(text: string): boolean {
  return ASCII.test(text)
}

/** Returns the UTF-8 bytes of `text`, or undefined when it holds a lone surrogate (Python: UnicodeEncodeError). */
export function utf8Bytes(text: string): string | undefined {
  if (isAscii(text)) return text
  return text.isWellFormed() ? Buffer.from(text, 'utf8').toString('latin1') : undefined
}

/** Returns the text whose UTF-8 bytes these are, or undefined when they are none (Python: UnicodeDecodeError). */
export function utf8Text(bytes: string): string | undefined {
  const buffer = Buffer.from(bytes, 'latin1')
  const text = buffer.toString('utf8')
  return Buffer.from(text, 'utf8').equals(buffer) ? text : undefined
}

/**
 * Returns a function that turns every byte into `%XX`, but for letters, digits, `_.-~` and those in `safe`. With
 * `spaceAsPlus` a space becomes `+`.
 */
export function quoter(safe: string, spaceAsPlus = false): (bytes: string) => string {
  const kept = new Set(UNRESERVED + safe)
  const written = BYTES.map((char) => (kept.has(char) ? char : percentEscape(char)))
  if (spaceAsPlus) written[SPACE] = '+'
  const unsafe = new RegExp(`[^${Array.from(kept, (char) => `\\x${hexOf(char)}`).join('')}]`)
  return (bytes) => {
    const first = bytes.search(unsafe)
    if (first < 0) return bytes
    let quoted = bytes.slice(0, first)
    for (let at = first; at < bytes.length; at++) quoted += written[bytes.charCodeAt(at)]!
    return quoted
  }
}

/** Returns the text with every valid `%XX` as its byte; a `%` that starts none stays. */
export function unquote(bytes: string): string {
  let percent = bytes.indexOf('%')
  let done = 0
  let unquoted = ''
  for (; percent >= 0; percent = bytes.indexOf('%', percent + 1)) {
    const byte = hexDigit(bytes.charCodeAt(percent + 1)) * 16 + hexDigit(bytes.charCodeAt(percent + 2))
    if (!(byte >= 0)) continue
    unquoted += bytes.slice(done, percent) + BYTES[byte]!
    done = percent + 3
  }
  return done === 0 ? bytes : unquoted + bytes.slice(done)
}

/** `unquote`, then read as UTF-8; what is not UTF-8 becomes U+FFFD. Non-ASCII text between escapes stays as it is. */
export function unquoteText(text: string): string {
  if (!text.includes('%')) return text
  return text.replace(/[\0-\x7f]+/g, (run) => Buffer.from(unquote(run), 'latin1').toString('utf8'))
}

const SPACE = 0x20

function percentEscape(char: string): string {
  return `%${hexOf(char).toUpperCase()}`
}

function hexOf(char: string): string {
  return char.charCodeAt(0).toString(16).padStart(2, '0')
}

/** NaN for what is not a digit, which makes every number that it becomes part of NaN too. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : Number.NaN
}
