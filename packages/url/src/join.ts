import { checkText } from './options/text-given.ts'
import { joinParams, splitParams, urlSplit, urlUnsplit, usesNetloc, usesRelative } from './urlsplit.ts'

/**
 * `url` made absolute against `base`, exactly as Python 3.13's `urllib.parse.urljoin` does it.
 *
 * An empty `url` gives `base`, an empty `base` gives `url`, and a reference in another scheme comes back untouched.
 * Nothing is encoded: pass the answer to `safeUrlString`. Throws `InvalidUrl` when either has broken brackets.
 */
export function urlJoin(base: string, url: string): string {
  if (!base) return url
  if (!url) return base
  checkText(url, 'urlJoin')
  // One page's links share one base, so the last one is remembered.
  if (base !== lastBase?.text) lastBase = splitBase(base)
  return joinPlain(lastBase, url) ?? joinAny(lastBase, url)
}

let lastBase: Base | undefined

interface Base {
  readonly text: string
  readonly scheme: string
  readonly netloc: string
  readonly path: string
  readonly params: string
  readonly query: string
  /** `https://host` and `https://host/dir/` for the cheap way; undefined when this base cannot go it. */
  readonly root: string | undefined
  readonly directory: string | undefined
}

function splitBase(text: string): Base {
  const { scheme, netloc, path: pathAndParams, query } = urlSplit(text)
  const [path, params] = splitParams(scheme, pathAndParams)
  const root = netloc && /^https?$/.test(scheme) ? `${scheme}://${netloc}` : undefined
  const directory = path.slice(0, path.lastIndexOf('/') + 1) || '/'
  // Joining would tidy up empty and dot segments of the base.
  const tidy = !/\/\/|\/\.\.?\//.test(directory)
  return {
    text,
    scheme,
    netloc,
    path,
    params,
    query,
    root,
    directory: root && tidy ? root + directory : undefined,
  }
}

// References that joining only puts behind the root or directory: no dot segments, `;params`, controls or spaces, and
// no query or fragment that is empty, since that would be dropped.
const TAIL = String.raw`(?:\?[^\0-\x20#]+)?(?:#[^\0-\x20]+)?$`
const PLAIN_ABSOLUTE = new RegExp(String.raw`^https?://[\w.~:@-]+(?:/[^\0-\x20?#;]*)?${TAIL}`)
const PLAIN_ROOTED = new RegExp(String.raw`^/(?![/.])(?:[^\0-\x20?#;/]|/(?!\.))*${TAIL}`)
const PLAIN_NAME = new RegExp(String.raw`^[^\0-\x20?#;:/.](?:[^\0-\x20?#;:/]|/(?![/.]))*${TAIL}`)

/** The cheap way, which most links can go; undefined when this one cannot. */
function joinPlain({ root, directory }: Base, url: string): string | undefined {
  const first = url.charCodeAt(0)
  if (first === SLASH) return root !== undefined && isPlainRooted(url) ? root + url : undefined
  if (first === LOWER_H && PLAIN_ABSOLUTE.test(url)) return url
  return directory !== undefined && PLAIN_NAME.test(url) ? directory + url : undefined
}

const SLASH = 0x2f
const LOWER_H = 0x68

/**
 * Returns what stands before `url` when it is joined to `base`, both being so plain that joining is nothing else:
 * `https://host` for links such as `/path`. Undefined otherwise.
 */
export function plainRoot(base: string): string | undefined {
  if (base !== lastBase?.text) lastBase = splitBase(base)
  return lastBase.root
}

/** Returns whether a link may be put behind a `plainRoot`. */
export function isPlainRooted(url: string): boolean {
  return url.charCodeAt(0) === SLASH && PLAIN_ROOTED.test(url)
}

function joinAny(base: Base, url: string): string {
  const { scheme, netloc: ownNetloc, path: pathAndParams, query, fragment } = urlSplit(url, base.scheme)
  const [path, params] = splitParams(scheme, pathAndParams)
  if (scheme !== base.scheme || !usesRelative(scheme)) return url
  if (ownNetloc && usesNetloc(scheme)) {
    return urlUnsplit({ scheme, netloc: ownNetloc, path: joinParams(path, params), query, fragment })
  }
  const netloc = usesNetloc(scheme) ? base.netloc : ownNetloc
  if (!path && !params) {
    return urlUnsplit({
      scheme,
      netloc,
      path: joinParams(base.path, base.params),
      query: query || base.query,
      fragment,
    })
  }
  return urlUnsplit({ scheme, netloc, path: joinParams(joinPath(base.path, path), params), query, fragment })
}

function joinPath(basePath: string, path: string): string {
  const segments = path.startsWith('/')
    ? path.split('/')
    : relativeSegments(basePath.split('/'), path.split('/'))
  const resolved: string[] = []
  for (const segment of segments) {
    if (segment === '..') resolved.pop()
    else if (segment !== '.') resolved.push(segment)
  }
  // A reference to a directory ends with a slash.
  const last = segments.at(-1)
  if (last === '.' || last === '..') resolved.push('')
  return resolved.join('/') || '/'
}

function relativeSegments(base: readonly string[], own: readonly string[]): string[] {
  const directory = base.at(-1) === '' ? base : base.slice(0, -1)
  const segments = [...directory, ...own]
  // Python drops empty segments here, but for the first and the last: they are the slashes at both ends.
  return segments.filter((segment, index) => segment !== '' || index === 0 || index === segments.length - 1)
}
