import { domainToASCII } from 'node:url'
import type { Crawler, DownloaderMiddleware, JsonValue, Request } from '@webloom/core'

/** User, password, and the only domain that gets them; null: every host. */
export interface HttpAuth {
  readonly user: string
  readonly password: string
  readonly domain: string | null
}

/**
 * Sends user and password (HTTP basic authentication) to one domain and its subdomains: those of `meta.http_user`,
 * `http_pass` and `http_auth_domain`, else the spider's own `httpUser`, `httpPass` and `httpAuthDomain`, else HTTPAUTH_*.
 * An Authorization header of the request's own stays.
 */
export class HttpAuthMiddleware implements DownloaderMiddleware {
  readonly #auth: HttpAuth

  constructor(auth: HttpAuth) {
    this.#auth = auth
  }

  static fromCrawler({ settings, spider }: Crawler): HttpAuthMiddleware {
    const own = spider as { httpUser?: unknown; httpPass?: unknown; httpAuthDomain?: unknown }
    return new HttpAuthMiddleware({
      user: textOr(own.httpUser, settings.getString('HTTPAUTH_USER')),
      password: textOr(own.httpPass, settings.getString('HTTPAUTH_PASS')),
      domain: textOr(own.httpAuthDomain, settings.get('HTTPAUTH_DOMAIN')),
    })
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
    return {
      user: textOr(http_user, this.#auth.user),
      password: textOr(http_pass, this.#auth.password),
      domain: http_auth_domain === null ? null : textOr(http_auth_domain, this.#auth.domain),
    }
  }
}

function textOr<T>(value: unknown, otherwise: T): string | T {
  return typeof value === 'string' ? value : otherwise
}

function isWithin(url: string, domain: string): boolean {
  const host = URL.parse(url)?.hostname ?? ''
  const wanted = domainToASCII(domain.replace(/^\./, '')) || domain.toLowerCase()
  return host === wanted || host.endsWith(`.${wanted}`)
}
