/**
 * What a request tells of the page that led to it, by the Referrer Policy standard
 * (https://www.w3.org/TR/referrer-policy/) with Scrapy's default beside its policies.
 */

/** How much of the page's URL is told, and to whom. */
export type ReferrerPolicy =
  | 'scrapy-default'
  | 'no-referrer'
  | 'no-referrer-when-downgrade'
  | 'same-origin'
  | 'origin'
  | 'strict-origin'
  | 'origin-when-cross-origin'
  | 'strict-origin-when-cross-origin'
  | 'unsafe-url'

type Rule = (from: Page, to: string) => string | null

interface Page {
  readonly url: string
  readonly origin: string
  readonly scheme: string
  readonly isTls: boolean
}

const whole: Rule = (from) => from.url
const originOnly: Rule = (from) => from.origin
const nothing: Rule = () => null

const unlessDowngraded =
  (rule: Rule): Rule =>
  (from, to) =>
    from.isTls && !isTls(to) ? null : rule(from, to)

const withinOrigin =
  (inside: Rule, outside: Rule): Rule =>
  (from, to) =>
    (from.origin === page(to)?.origin ? inside : outside)(from, to)

const RULES: Readonly<Record<ReferrerPolicy, Rule>> = {
  'scrapy-default': unlessDowngraded((from) => (isStorage(from) ? null : from.url)),
  'no-referrer': nothing,
  'no-referrer-when-downgrade': unlessDowngraded(whole),
  'same-origin': withinOrigin(whole, nothing),
  origin: originOnly,
  'strict-origin': unlessDowngraded(originOnly),
  'origin-when-cross-origin': withinOrigin(whole, originOnly),
  'strict-origin-when-cross-origin': withinOrigin(whole, unlessDowngraded(originOnly)),
  'unsafe-url': whole,
}

// Pages that no site served: their URLs are nobody's business (§8.4 of the standard).
const LOCAL_SCHEMES: readonly string[] = ['about', 'blob', 'data', 'filesystem']
// Past it only the origin is told (§8.3).
const REFERRER_MAX = 4096

/** Returns the Referer header of a request for `to` that was found at `from`; null when there is to be none. */
export function referrerOf(policy: ReferrerPolicy, from: string, to: string): string | null {
  const source = sourcePage(from)
  if (!source || LOCAL_SCHEMES.includes(source.scheme)) return null
  const referrer = RULES[policy](source, to)
  return referrer !== null && referrer.length > REFERRER_MAX ? source.origin : referrer
}

/**
 * Returns the policy that the values of a Referrer-Policy header name, or a list of our own: the last that is known.
 * Classes of Scrapy's may be named by their paths. Undefined when none is known.
 */
export function referrerPolicyNamed(values: readonly string[]): ReferrerPolicy | undefined {
  return values
    .flatMap((value) => value.split(','))
    .map(named)
    .findLast((policy) => policy !== undefined)
}

function named(text: string): ReferrerPolicy | undefined {
  const name = text.trim()
  if (name === '') return 'no-referrer-when-downgrade'
  const policy = name.endsWith('Policy') ? nameOfPythonClass(name) : name.toLowerCase()
  return Object.hasOwn(RULES, policy) ? (policy as ReferrerPolicy) : undefined
}

/** `scrapy.spidermiddlewares.referer.StrictOriginPolicy` → `strict-origin`. */
function nameOfPythonClass(path: string): string {
  const words = path.split('.').at(-1)!.slice(0, -'Policy'.length)
  if (words === 'DefaultReferrer') return 'scrapy-default'
  return words.replace(/(?<!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase()
}

let lastSource: { readonly from: string; readonly page: Page | undefined } | undefined

/** All links of a page have the same one: it is taken apart once. */
function sourcePage(from: string): Page | undefined {
  if (lastSource?.from !== from) lastSource = { from, page: page(from) }
  return lastSource.page
}

function isStorage({ scheme }: Page): boolean {
  return scheme === 'file' || scheme === 's3'
}

function isTls(url: string): boolean {
  return /^(?:https|ftps):/i.test(url)
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443', ftp: '21' }

/** Cut out and not rewritten: a server shall see its URL as it knows it. Without user, password, default port and fragment. */
function page(url: string): Page | undefined {
  const scheme = url.slice(0, url.indexOf(':')).toLowerCase()
  if (LOCAL_SCHEMES.includes(scheme)) return { url, origin: '', scheme, isTls: false }
  const parts = /^[^:/?#]+:\/\/([^/?#]*)([^#]*)/.exec(url)
  if (!parts) return undefined
  const [, authority = '', pathAndQuery = ''] = parts
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  const port = DEFAULT_PORTS[scheme]
  const shown = port !== undefined && host.endsWith(`:${port}`) ? host.slice(0, -port.length - 1) : host
  return {
    url: `${scheme}://${shown}${pathAndQuery}`,
    origin: `${scheme}://${shown}/`,
    scheme,
    isTls: isTls(url),
  }
}
