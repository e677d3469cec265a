/** What a line of robots.txt says. `name` and `path` are byte strings. */
export type RobotsRecord =
  | { readonly kind: 'user-agent' | 'allow' | 'disallow' | 'crawl-delay' | 'sitemap'; readonly value: string }
  /** Not ours to read, such as Host, or no record at all. */
  | undefined

type Kind = NonNullable<RobotsRecord>['kind']

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
const NAME_LENGTH_MAX = Math.max(...NAMES.map((name) => name.length))

/** 500 KiB: what RFC 9309 (2.5) has every crawler read at least. What comes after is not read. */
export const ROBOTS_BYTES_MAX = 512_000

/** The lines of a file. Of a file that is too long the last one is left out, unless it ends where the limit is. */
export function robotsLines(bytes: string): string[] {
  // A byte order mark, or what an editor left of one.
  const start = /^\xef(?:\xbb\xbf?)?/.exec(bytes)?.[0].length ?? 0
  const isCut = bytes.length - start > ROBOTS_BYTES_MAX
  // The RFC ends lines with CR, LF or both. The other four are in no line it knows; Python, and so protego, ends lines there.
  const lines = bytes.slice(start, start + ROBOTS_BYTES_MAX + (isCut ? 1 : 0)).split(/[\r\n\v\f\x1c-\x1e]/)
  if (isCut) lines.pop()
  return lines
}

export function robotsRecord(line: string): RobotsRecord {
  const hash = line.indexOf('#')
  const text = trimmed(hash < 0 ? line : line.slice(0, hash))
  const colon = text.indexOf(':')
  if (colon < 0) return withoutColon(text)
  if (colon > NAME_LENGTH_MAX * 4) return undefined
  return recordOf(trimmed(text.slice(0, colon)).toLowerCase(), text.slice(colon + 1))
}

/** `disallow /a` is understood as Google and protego do; with capitals, protego takes it for no record, and so does the RFC. */
function withoutColon(text: string): RobotsRecord {
  const name = NAMES.find((one) => text.startsWith(one) && /[ \t]/.test(text.charAt(one.length)))
  return name === undefined ? undefined : recordOf(name, text.slice(name.length))
}

function recordOf(name: string, value: string): RobotsRecord {
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined
  return kind && { kind, value: trimmed(value) }
}

/** Without blanks at its ends. Not `trim()`, to which the byte A0 is a blank, and no regular expression, as those look for the end again from each blank. */
function trimmed(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}
