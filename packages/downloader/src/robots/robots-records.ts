/** A line of robots.txt. */
export interface RobotsRecord {
  readonly kind: Kind
  /** A byte string without blanks at its ends; may be empty. */
  readonly value: string
}

type Kind = 'user-agent' | 'allow' | 'disallow' | 'crawl-delay' | 'sitemap'

// The misspellings are those that Google's parser and protego accept.
const KINDS: Readonly<Record<string, Kind>> = {
  'user-agent': 'user-agent',
  'user agent': 'user-agent',
  useragent: 'user-agent',
  allow: 'allow',
  disallow: 'disallow',
  dissallow: 'disallow',
  dissalow: 'disallow',
  disalow: 'disallow',
  diasllow: 'disallow',
  disallaw: 'disallow',
  'crawl-delay': 'crawl-delay',
  'crawl delay': 'crawl-delay',
  sitemap: 'sitemap',
  sitemaps: 'sitemap',
  'site-map': 'sitemap',
}
const NAMES = Object.keys(KINDS)

/** 500 KiB, which every crawler must read at least (RFC 9309, 2.5). The rest of a file is not read. */
export const ROBOTS_BYTES_MAX = 512_000

/** Returns the lines of a file. When the file is too long its last line is left out, unless the line ends at the limit. */
export function robotsLines(bytes: string): string[] {
  // The file may begin with a byte order mark, or with what an editor left of one.
  const start = /^\xef(?:\xbb\xbf?)?/.exec(bytes)?.[0].length ?? 0
  const isCut = bytes.length - start > ROBOTS_BYTES_MAX
  // The RFC ends lines with CR, LF or both. The other characters are in no valid line; protego ends lines there, too.
  const lines = bytes.slice(start, start + ROBOTS_BYTES_MAX + (isCut ? 1 : 0)).split(/[\r\n\v\f\x1c-\x1e]/)
  if (isCut) lines.pop()
  return lines
}

/**
 * Returns a file without what changes nothing for a crawler that looks rules up: comments, Sitemap lines, blanks. So the files
 * of many sites become equal. Empty when the file forbids nothing and asks for no delay.
 */
export function rulesAlone(bytes: string): string {
  const records = robotsLines(bytes).flatMap((line) => robotsRecord(line) ?? [])
  const counts = ({ kind, value }: RobotsRecord) =>
    (kind === 'disallow' && value !== '') || kind === 'crawl-delay'
  if (!records.some(counts)) return ''
  const kept = records.filter(({ kind }) => kind !== 'sitemap').map(({ kind, value }) => `${kind}:${value}`)
  const text = kept.join('\n')
  // Misspelt words become longer, and the end of a very long file would be cut off.
  return text.length > bytes.length ? bytes : text
}

/** Returns undefined for a line that is no record, and for records that have no use here, such as Host. */
export function robotsRecord(line: string): RobotsRecord | undefined {
  const hash = line.indexOf('#')
  const text = trimmed(hash < 0 ? line : line.slice(0, hash))
  const colon = text.indexOf(':')
  if (colon < 0) return withoutColon(text)
  return recordOf(trimmed(text.slice(0, colon)).toLowerCase(), text.slice(colon + 1))
}

/** Reads `disallow /a`, as Google and protego do. protego does not with capitals, and the RFC demands the colon. */
function withoutColon(text: string): RobotsRecord | undefined {
  const name = NAMES.find((one) => text.startsWith(one) && /[ \t]/.test(text.charAt(one.length)))
  return name === undefined ? undefined : recordOf(name, text.slice(name.length))
}

function recordOf(name: string, value: string): RobotsRecord | undefined {
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined
  return kind && { kind, value: trimmed(value) }
}

/**
 * Returns the text without blanks at its ends. `trim()` would take the byte A0 for a blank, and a regular expression would
 * search for the end again from each blank.
 */
function trimmed(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}
