import { InvalidUrl } from './errors.ts'
import { checkNetloc } from './host/netloc.ts'
import { checkText } from './options/text-given.ts'
import { SPECIAL_SCHEMES, type UrlRules } from './url-rules.ts'

/** A URL in the five parts of Python's `urlsplit`; a part that is absent is an empty string. */
export interface UrlParts {
  /** In lower case, without its colon: `https`. */
  readonly scheme: string
  /** User, host and port, without the slashes before them: `me@example.com:8080`. */
  readonly netloc: string
  /** With its leading slash, if there is one. */
  readonly path: string
  /** Without its `?`. */
  readonly query: string
  /** Without its `#`. */
  readonly fragment: string
}

// Python 3.13's urllib.parse lists. They decide how a reference is joined, so they are kept word for word.
const USES_RELATIVE = schemes(
  ' ftp http gopher nntp imap wais file https shttp mms prospero rtsp rtsps rtspu sftp svn svn+ssh ws wss',
)
const USES_NETLOC = schemes(
  ' ftp http gopher nntp telnet imap wais file mms https shttp snews prospero rtsp rtsps rtspu rsync svn svn+ssh sftp nfs git git+ssh ws wss itms-services',
)
const USES_PARAMS = schemes(' ftp hdl prospero http imap https shttp rtsp rtsps rtspu sip sips mms sftp tel')

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*$/

/** Returns true when a reference in this scheme may be relative; otherwise joining gives the reference itself. */
export function usesRelative(scheme: string): boolean {
  return USES_RELATIVE.has(scheme)
}

/** Returns true when URLs of this scheme have a `//host` part. */
export function usesNetloc(scheme: string): boolean {
  return USES_NETLOC.has(scheme)
}

/**
 * Python's `urlsplit`: leading controls and spaces are dropped, and tabs and newlines anywhere.
 * Throws `InvalidUrl` for broken brackets, and for a host that would grow a delimiter under NFKC.
 *
 * By the rules of w3lib 2.5, `\` is `/` before query and fragment, in the schemes of the web: a browser ends the host at it.
 */
export function urlSplit(url: string, defaultScheme = '', rules: UrlRules = 'w3lib-2.4'): UrlParts {
  checkText(url, 'urlSplit')
  let rest = url.replace(/^[\0-\x20]+/, '').replace(/[\t\n\r]+/g, '')
  let scheme = defaultScheme
  const colon = rest.indexOf(':')
  if (colon > 0 && SCHEME.test(rest.slice(0, colon))) {
    scheme = rest.slice(0, colon).toLowerCase()
    rest = rest.slice(colon + 1)
  }
  if (rules === 'w3lib-2.5' && SPECIAL_SCHEMES.has(scheme)) rest = withoutBackslashes(rest)
  let netloc = ''
  if (rest.startsWith('//')) {
    const end = rest.slice(2).search(/[/?#]/)
    netloc = end < 0 ? rest.slice(2) : rest.slice(2, end + 2)
    rest = end < 0 ? '' : rest.slice(end + 2)
    const problem = checkNetloc(netloc, rules)
    if (problem !== undefined) throw new InvalidUrl(url, problem)
  }
  const [beforeFragment, fragment] = cut(rest, rest.indexOf('#'))
  const [path, query] = cut(beforeFragment, beforeFragment.indexOf('?'))
  return { scheme, netloc, path, query, fragment }
}

function withoutBackslashes(rest: string): string {
  if (!rest.includes('\\')) return rest
  const end = rest.search(/[?#]/)
  return end < 0 ? rest.replaceAll('\\', '/') : rest.slice(0, end).replaceAll('\\', '/') + rest.slice(end)
}

/** Puts the parts together by the rules of Python 3.13's `urlunsplit`. Empty queries and fragments leave no mark. */
export function urlUnsplit({ scheme, netloc, path, query, fragment }: UrlParts): string {
  let url = path
  if (netloc) url = url && !url.startsWith('/') ? `//${netloc}/${url}` : `//${netloc}${url}`
  else if (url.startsWith('//')) url = `//${url}`
  else if (scheme && USES_NETLOC.has(scheme) && (!url || url.startsWith('/'))) url = `//${url}`
  if (scheme) url = `${scheme}:${url}`
  if (query) url += `?${query}`
  if (fragment) url += `#${fragment}`
  return url
}

/** Returns the path, and what follows the first `;` of its last segment, in schemes that know such parameters. */
export function splitParams(scheme: string, path: string): [path: string, params: string] {
  if (!path.includes(';') || !USES_PARAMS.has(scheme)) return [path, '']
  return cut(path, path.indexOf(';', path.lastIndexOf('/')))
}

export function joinParams(path: string, params: string): string {
  return params ? `${path};${params}` : path
}

function cut(text: string, at: number): [string, string] {
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

function schemes(names: string): ReadonlySet<string> {
  return new Set(names.split(' '))
}
