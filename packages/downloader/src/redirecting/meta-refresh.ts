/**
 * Finds `<meta http-equiv="refresh" content="5;url=/x">` where w3lib finds it: in the first 4 096 characters, in tags and
 * in text alike (so a page that writes the tag by script is followed, too), but not in comments nor inside ignored
 * elements.
 *
 * w3lib's patterns are not used: on a hostile page they take time to the fourth power of its length. Here the text is cut
 * at each `>`, as none may stand between `<meta` and `content`, and each piece is read once.
 */

/** Where a page refreshes to, and after how many seconds. The URL is as it stands in the page. */
export interface MetaRefresh {
  readonly seconds: number
  readonly url: string
}

/** How many characters of a page are searched; at most HEAD_BYTES. */
export const REFRESH_SEARCH_CHARS = 4096

export function metaRefresh(text: string, ignoredTags: readonly string[]): MetaRefresh | undefined {
  const head = text.slice(0, REFRESH_SEARCH_CHARS)
  if (!/<meta\s/i.test(head)) return undefined
  const markup = withoutComments(withCharacters(withoutElements(head, ignoredTags)))
  return refreshIn(markup, namedBefore) ?? refreshIn(markup, namedAfter)
}

/** A piece between two `>`: where it ends in the markup, and where its first `<meta` begins. */
interface Piece {
  readonly start: number
  readonly end: number
}

/** The value of a `content` attribute, and where it stands. */
interface Content extends MetaRefresh {
  readonly start: number
  readonly end: number
}

type IsNamed = (markup: string, piece: Piece, content: Content) => boolean

/** `http-equiv` and `refresh` stand in this order before the content … */
const namedBefore: IsNamed = (markup, piece, content) => {
  const before = markup.slice(piece.start, content.start)
  const name = /http-equiv/i.exec(before)
  return name !== null && /refresh/i.test(before.slice(name.index + name[0].length))
}

/** … or after it. */
const namedAfter: IsNamed = (markup, _, content) => {
  const end = markup.indexOf('>', content.end)
  const after = markup.slice(content.end, end < 0 ? markup.length : end)
  const name = /\shttp-equiv\s*=/i.exec(after)
  return name !== null && /refresh/i.test(after.slice(name.index + name[0].length))
}

function refreshIn(markup: string, isNamed: IsNamed): MetaRefresh | undefined {
  for (const piece of piecesWithMeta(markup)) {
    // The last one, as greedy patterns would take it.
    const content = contentsIn(markup, piece).findLast((one) => isNamed(markup, piece, one))
    if (content) return { seconds: content.seconds, url: content.url }
  }
  return undefined
}

function* piecesWithMeta(markup: string): Generator<Piece> {
  for (let start = 0; start < markup.length; ) {
    const bracket = markup.indexOf('>', start)
    const end = bracket < 0 ? markup.length : bracket
    const meta = markup.slice(start, end).search(/<meta\s/i)
    if (meta >= 0) yield { start: start + meta, end }
    start = end + 1
  }
}

const CONTENT = /content\s*=\s*(["'])((?:\d*\.)?\d+)\s*;\s*url=\s*/iy
// A bound: a hostile page may hold any number of `content`; honest ones hold one in a tag.
const CONTENTS_MAX = 20

function contentsIn(markup: string, { start, end }: Piece): Content[] {
  const contents: Content[] = []
  for (const { index } of markup.slice(start, end).matchAll(/content/gi)) {
    if (contents.length === CONTENTS_MAX) break
    CONTENT.lastIndex = start + index
    const match = CONTENT.exec(markup)
    if (!match) continue
    const [whole, quote = '', seconds = ''] = match
    const urlStart = start + index + whole.length
    const urlEnd = markup.indexOf(quote, urlStart)
    if (urlEnd < 0) continue
    contents.push({
      seconds: Number(seconds),
      url: markup
        .slice(urlStart, urlEnd)
        .replace(/^[ "']+/, '')
        .trimEnd(),
      start: start + index,
      end: urlEnd + 1,
    })
  }
  return contents
}

/** Returns the markup without these elements and their contents. An element that is never closed stays. */
function withoutElements(markup: string, tags: readonly string[]): string {
  let rest = markup
  for (const tag of tags) rest = withoutElement(rest, tag.toLowerCase())
  return rest
}

function withoutElement(markup: string, tag: string): string {
  const lower = markup.toLowerCase()
  let kept = ''
  let from = 0
  for (;;) {
    const open = lower.indexOf(`<${tag}`, from)
    const opened = open < 0 ? -1 : lower.indexOf('>', open)
    const close = opened < 0 ? -1 : lower.indexOf(`</${tag}>`, opened)
    if (close < 0) return kept + markup.slice(from)
    const isLonger = /[\w-]/.test(lower[open + tag.length + 1] ?? '')
    kept += markup.slice(from, isLonger ? opened : open)
    from = isLonger ? opened : close + tag.length + 3
  }
}

const CHARACTERS: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\xa0',
}

/** Returns the markup with its references such as `&amp;` replaced. Of named ones only those that occur in URLs are. */
function withCharacters(markup: string): string {
  return markup.replace(
    /&(?:(amp|lt|gt|quot|apos|nbsp)|#(\d{1,7})|#x([\da-f]{1,6}));?/gi,
    (reference, name: string | undefined, decimal: string | undefined, hex: string | undefined) => {
      if (name !== undefined) return CHARACTERS[name.toLowerCase()] ?? reference
      const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal)
      return code <= 0x10ffff ? String.fromCodePoint(code) : ''
    },
  )
}

function withoutComments(markup: string): string {
  return markup.replace(/<!--[\s\S]*?(?:-->|$)/g, '')
}
