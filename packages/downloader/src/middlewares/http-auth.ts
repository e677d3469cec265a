import { domainToASCII } from 'node:url'
import {
  type Crawler,
  type DownloaderMiddleware,
  hostNameOf,
  type JsonValue,
  type Request,
  type Settings,
  SettingsError,
} from '@webloom/core'

/** User, password, and the one domain that gets them. Null: every host. */
export interface HttpAuth {
  readonly user: string
  readonly password: string
  readonly domain: string | null
}

interface OwnAuth {
  readonly name?: string
  readonly httpUser?: unknown
  readonly httpPass?: unknown
  readonly httpAuthDomain?: unknown
}

/**
 * Sends user and password (HTTP basic authentication) to one domain and its subdomains: those of `meta.http_user`,
 * `http_pass` and `http_auth_domain`, else the spider's own `httpUser`, `httpPass` and `httpAuthDomain`, else HTTPAUTH_*. A
 * request's own Authorization header stays.
 *
 * A user and password in `meta` without a domain are for the request's host alone, also when it is redirected: the target
 * takes the meta along, and may belong to anybody (CVE-2021-41125).
 */
export class HttpAuthMiddleware implements DownloaderMiddleware {
  readonly #auth: HttpAuth

  constructor(auth: HttpAuth) {
    this.#auth = auth
  }

  /** Throws `SettingsError` for user and password without a domain, so that no other host gets them by mistake. */
  static fromCrawler({ settings, spider }: Crawler): HttpAuthMiddleware {
    const own: OwnAuth = spider
    const user = textOr(own.httpUser, settings.getString('HTTPAUTH_USER'))
    const password = textOr(own.httpPass, settings.getString('HTTPAUTH_PASS'))
    const domain = domainOf(own, settings)
    if (domain === undefined && (user !== '' || password !== ''))
      throw new SettingsError([
        `a user or password for HTTP authentication is set (HTTPAUTH_USER, HTTPAUTH_PASS, or httpUser, httpPass of spider ${spider.name}) and no domain: every host that the crawl meets would be told them. Set HTTPAUTH_DOMAIN=example.com, or httpAuthDomain of the spider; null, written out, means every host`,
      ])
    return new this({ user, password, domain: domain ?? null })
  }

  processRequest(request: Request): void {
    const { user, password, domain } = this.#authOf(request)
    if ((user === '' && password === '') || request.headers.has('authorization')) return
    if (domain !== null && !isWithin(request.url, domain)) return
    const userAndPassword = Buffer.from(`${user}:${password}`, 'utf8').toString('base64')
    request.headers.set('authorization', `Basic ${userAndPassword}`)
  }

  #authOf(request: Request): HttpAuth {
    const meta: Readonly<Record<string, JsonValue>> = request.hasMeta ? request.meta : {}
    const { http_user, http_pass, http_auth_domain } = meta
    const isOwn = typeof http_user === 'string' || typeof http_pass === 'string'
    if (isOwn && http_auth_domain === undefined && this.#auth.domain === null)
      request.meta.http_auth_domain = hostNameOf(request.url)
    return {
      user: textOr(http_user, this.#auth.user),
      password: textOr(http_pass, this.#auth.password),
      domain: meta.http_auth_domain === null ? null : textOr(meta.http_auth_domain, this.#auth.domain),
    }
  }
}

/** Returns null where the author wrote null; undefined where nothing was written. */
function domainOf({ name, httpAuthDomain: own }: OwnAuth, settings: Settings): string | null | undefined {
  const isOwn = own !== undefined
  if (!isOwn && !settings.isSet('HTTPAUTH_DOMAIN')) return undefined
  // A variable that came out empty (HTTPAUTH_DOMAIN=$DOMAIN) reads as null, but does not mean every host.
  const isEmpty = settings.written('HTTPAUTH_DOMAIN') === ''
  const domain = isOwn ? own : isEmpty ? '' : settings.get('HTTPAUTH_DOMAIN')
  if (domain === null || (typeof domain === 'string' && asciiDomain(domain) !== '')) return domain
  throw new SettingsError([
    `${isOwn ? `httpAuthDomain of spider ${name}` : 'HTTPAUTH_DOMAIN'} is ${JSON.stringify(domain)}; expected a host name such as example.com, without scheme and port, or null for every host`,
  ])
}

/** Returns the domain in ASCII; empty for a text that is not a host name. */
function asciiDomain(domain: string): string {
  const name = domain.replace(/^\./, '')
  // `domainToASCII` would ignore a port or scheme, and take the rest for the whole name.
  return /^(?:[^\s:/?#@\\]+|\[[\da-f:.]+\])$/i.test(name) ? domainToASCII(name) : ''
}

function textOr<T>(value: unknown, otherwise: T): string | T {
  return typeof value === 'string' ? value : otherwise
}

function isWithin(url: string, domain: string): boolean {
  const [host, wanted] = [hostNameOf(url), asciiDomain(domain)]
  return wanted !== '' && (host === wanted || host.endsWith(`.${wanted}`))
}
