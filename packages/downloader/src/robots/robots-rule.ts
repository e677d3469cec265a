/**
 * Rules of robots.txt, and which paths they match (RFC 9309, 2.2.2 and 2.2.3).
 *
 * Everything here is a byte string, a string with one character for each byte, as the RFC compares octets. So a Latin-1
 * path in a file that should be UTF-8 still works.
 *
 * Patterns and paths are compared in one spelling: letters, digits and `- . _ ~ = &` as they are, everything else as `%XX`.
 * So `%41` becomes `A`, and `;` becomes `%3B`. Only `/` and `?` may be either, as the escape changes their meaning: `%2F`
 * separates nothing. Within a query `/` and `?` separate nothing, and `%2F` means `/`.
 *
 * A pattern is cut at its `*`, and its pieces are searched one after the other. The first place found is as good as any
 * later one, so nothing is ever tried again: no pattern, however hostile, costs more than its own length and the path's. A
 * regular expression would.
 */

/** Returns the bytes of `text`, one character for each. */
export function bytesOf(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1')
}

/**
 * An Allow or Disallow line. Files with forty thousand of them are kept in memory, so a rule has as few objects as
 * possible.
 */
export class RobotsRule {
  readonly isAllowed: boolean
  /** Octets of the pattern. Of several rules that match, the longest counts. */
  readonly length: number
  readonly #pattern: string
  readonly #isWhole: boolean
  readonly #pieces: readonly string[] | undefined

  constructor(isAllowed: boolean, written: string) {
    this.isAllowed = isAllowed
    this.#isWhole = written.endsWith('$')
    this.#pattern = patternSpelling(this.#isWhole ? written.slice(0, -1) : written)
    this.#pieces = this.#pattern.includes('*') ? piecesOf(this.#pattern) : undefined
    this.length = this.#pattern.length + (this.#isWhole ? 1 : 0)
  }

  /** Returns true when the rule matches this path, which is one of `pathSpellings`. */
  matches(path: string): boolean {
    if (this.#pieces) return matchesInOrder(path, this.#pieces, this.#isWhole)
    return this.#isWhole ? path === this.#pattern : path.startsWith(this.#pattern)
  }
}

/** Returns the pieces between the `*`. `**` means the same as `*`, so empty pieces count only at the ends. */
function piecesOf(pattern: string): string[] {
  const pieces = pattern.split('*')
  return pieces.filter((piece, at) => piece !== '' || at === 0 || at === pieces.length - 1)
}

function matchesInOrder(path: string, pieces: readonly string[], isWhole: boolean): boolean {
  if (!path.startsWith(pieces[0]!)) return false
  let at = pieces[0]!.length
  for (let next = 1; next < pieces.length - 1; next++) {
    const found = path.indexOf(pieces[next]!, at)
    if (found < 0) return false
    at = found + pieces[next]!.length
  }
  const last = pieces.at(-1)!
  if (!isWhole) return path.indexOf(last, at) >= 0
  return path.length - last.length >= at && path.endsWith(last)
}

/**
 * Returns path and query of a URL (or of a part of one) in the spellings that rules are compared with. There are two when
 * the query holds an escaped `/` or `?`: as written, which a rule may have copied, and as it is meant.
 */
export function pathSpellings(url: string): readonly string[] {
  const path = spelling(bytesOf(pathOf(url)))
  const meant = withPlainQuery(path)
  return meant === path ? [path] : [path, meant]
}

/** Does not use `URL`, which would resolve dot segments and turn `\` into `/`. */
function pathOf(url: string): string {
  const path = url.replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\/[^/?#]*/i, '')
  const hash = path.indexOf('#')
  const whole = hash < 0 ? path : path.slice(0, hash)
  return whole.startsWith('/') ? whole : `/${whole}`
}

/** Unlike in a path, an unescaped `*` stays: it is the pattern's wildcard. */
function patternSpelling(pattern: string): string {
  return withPlainQuery(
    pattern.includes('*') ? pattern.split('*').map(spelling).join('*') : spelling(pattern),
  )
}

const TO_SPELL = /%[0-9a-f]{2}|[^\w.~/?=&-]/gi
const PLAIN = /[\w.~=&-]/

function spelling(path: string): string {
  return path.replace(TO_SPELL, (found) => {
    if (found.length === 1) return escaped(found)
    const char = String.fromCharCode(Number.parseInt(found.slice(1), 16))
    return PLAIN.test(char) ? char : found.toUpperCase()
  })
}

function withPlainQuery(path: string): string {
  const query = path.indexOf('?') + 1
  if (query === 0) return path
  return path.slice(0, query) + path.slice(query).replaceAll('%2F', '/').replaceAll('%3F', '?')
}

function escaped(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}
