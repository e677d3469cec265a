/**
 * Paths of robots.txt and of URLs in one spelling, and whether one matches the other (RFC 9309, 2.2.2 and 2.2.3).
 *
 * Everything here is a byte string: a string whose units are bytes, as the RFC compares octets. A Latin-1 path in a
 * file that should be UTF-8 is then still a path.
 *
 * In the common spelling `%41` is `A` and `%7e` is `~`, what is not printable ASCII is `%XX`, and so is a `*` or `$`
 * that stands for itself. A `/ ? & = + # %` is left as it is written, `%2F` or `/`: there the escape makes a difference.
 * Only within a query `/` and `?` divide nothing; there `%2F` means `/`.
 *
 * A pattern is cut at its `*`, and its pieces are looked for one behind the other. The first place found is as good as
 * any later one, so nothing is ever tried again: no pattern, however hostile, costs more than its own length and the
 * path's. A regular expression would.
 */

/** What `text` is in bytes, one character each. */
export function bytesOf(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1')
}

/** A path of an Allow or Disallow line. */
export class RobotsPattern {
  /** Octets of the pattern: of several that match, the longest counts. */
  readonly length: number
  readonly #pieces: readonly string[]
  readonly #isWhole: boolean

  constructor(written: string) {
    this.#isWhole = written.endsWith('$')
    const path = commonSpelling(this.#isWhole ? written.slice(0, -1) : written, { isPattern: true })
    this.length = path.length + (this.#isWhole ? 1 : 0)
    const pieces = path.split('*')
    // `**` asks for nothing that `*` does not.
    this.#pieces = pieces.filter((piece, at) => piece !== '' || at === 0 || at === pieces.length - 1)
  }

  /** True when the rule is about this path, as `pathSpellings` gives it. */
  matches(path: string): boolean {
    const pieces = this.#pieces
    if (!path.startsWith(pieces[0]!)) return false
    let at = pieces[0]!.length
    if (pieces.length === 1) return !this.#isWhole || at === path.length
    for (let next = 1; next < pieces.length - 1; next++) {
      const found = path.indexOf(pieces[next]!, at)
      if (found < 0) return false
      at = found + pieces[next]!.length
    }
    const last = pieces.at(-1)!
    if (!this.#isWhole) return path.indexOf(last, at) >= 0
    return path.length - last.length >= at && path.endsWith(last)
  }
}

/**
 * Path and query of a URL (or of a part of one) as patterns are compared with. There are two when the query holds an
 * escaped `/` or `?`: as written, which a pattern may have copied, and as it is meant.
 */
export function pathSpellings(url: string): readonly string[] {
  const path = commonSpelling(bytesOf(pathOf(url)), { isPattern: false })
  const query = path.indexOf('?') + 1
  if (query === 0 || !/%(?:2F|3F)/.test(path.slice(query))) return [path]
  return [path, path.slice(0, query) + withPlainDividers(path.slice(query))]
}

/** By hand and not by `URL`, which would resolve dot segments and turn `\` into `/`. */
function pathOf(url: string): string {
  const path = url.replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\/[^/?#]*/i, '')
  const hash = path.indexOf('#')
  const whole = hash < 0 ? path : path.slice(0, hash)
  return whole.startsWith('/') ? whole : `/${whole}`
}

const ESCAPES = /%[0-9a-f]{2}|[%$*]|[^\x21-\x7e]/gi
const LEFT_ESCAPED = '/?&=+#%*$'

function commonSpelling(path: string, { isPattern }: { isPattern: boolean }): string {
  const spelling = path.replace(ESCAPES, (found) => {
    if (found === '*' && isPattern) return '*'
    if (found.length === 1) return escaped(found)
    const char = String.fromCharCode(Number.parseInt(found.slice(1), 16))
    return LEFT_ESCAPED.includes(char) || char < '!' || char > '~' ? found.toUpperCase() : char
  })
  const query = isPattern ? spelling.indexOf('?') + 1 : 0
  return query === 0 ? spelling : spelling.slice(0, query) + withPlainDividers(spelling.slice(query))
}

function withPlainDividers(query: string): string {
  return query.replaceAll('%2F', '/').replaceAll('%3F', '?')
}

function escaped(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}
