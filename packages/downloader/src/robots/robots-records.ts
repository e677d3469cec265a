/** What a line of robots.txt says. */
export interface RobotsRecord {
  readonly kind: Kind
  /** A byte string without blanks at its ends; it may be empty. */
  readonly value: string
}

type Kind = 'user-agent' | 'allow' | 'disallow' | 'crawl-delay' | 'sitemap'

// The misspellings are those that Google's parser and protego take for what is meant.
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

/** 500 KiB: what RFC 9309 (2.5) has every crawler read at least. What comes after is not read. */
export const ROBOTS_BYTES_MAX = 512_000

/** The lines of a file. Of a file that is too long the last one is left out, unless it ends where the limit is. */
export function robotsLines(bytes: string): string[] {
  // A byte order mark, or what an editor left of one.
  const start = /^\xef(?:\xbb\xbf?)?/.exec(bytes)?.[0].length ?? 0
  const isCut = bytes.length - start > ROBOTS_BYTES_MAX
  // The RFC ends lines with CR, LF or both. The others are in no line that it knows; protego ends lines there, too.
  const lines = bytes.slice(start, start + ROBOTS_BYTES_MAX + (isCut ? 1 : 0)).split(/[\r\n\v\f\x1c-\x1e]/)
  if (isCut) lines.pop()
  return lines
}

/** Undefined for what is no record, and for records that nobody here reads, such as Host. */
export function robotsRecord(line: string): RobotsRecord | undefined {
  const hash = line.indexOf('#')
  const text = trimmed(hash < 0 ? line : line.slice(0, hash))
  const colon = text.indexOf(':')
  if (colon < 0) return withoutColon(text)
  return recordOf(trimmed(text.slice(0, colon)).toLowerCase(), text.slice(colon + 1))
}

/** `disallow /a`: Google and protego understand it. With capitals protego does not, and the RFC asks for the colon. */
function withoutColon(text: string): RobotsRecord | undefined {
  const name = NAMES.find((one) => text.startsWith(one) && /[ \t]/.test(text.charAt(one.length)))
  return name === undefined ? undefined : recordOf(name, text.slice(name.length))
}

function recordOf(name: string, value: string): RobotsRecord | undefined {
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined
  return kind && { kind, value: trimmed(value) }
}

/**
 * Without blanks at its ends. Not by `trim()`, to which the byte A0 is a blank, and not by a regular expression, which
 * would look for the end again from each blank.
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
