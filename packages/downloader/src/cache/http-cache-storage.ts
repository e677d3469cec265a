import type { Awaitable, Crawler } from '@webloom/core'

/** A request and its answer as a cache keeps them. */
export interface CachedExchange {
  readonly method: string
  readonly url: string
  readonly requestHeaders: readonly (readonly [string, string])[]
  readonly requestBody: Uint8Array
  readonly status: number
  readonly responseHeaders: readonly (readonly [string, string])[]
  /** As the server sent it, still compressed. */
  readonly body: Uint8Array
  /** When the answer came, in milliseconds since 1970. */
  readonly storedAtMs: number
}

/** Thrown by `retrieve`: there is something, but it is torn or is none of ours. The cache counts it and fetches the page. */
export class BrokenCacheEntry extends Error {}

/** Keeps exchanges by the fingerprint of their request, at most one each. Several workers may share one. */
export interface HttpCacheStorage {
  /** Undefined: never stored, or longer ago than it may be. Throws `BrokenCacheEntry`. */
  retrieve(fingerprint: string): Awaitable<CachedExchange | undefined>
  /** Takes the place of what was there, in one step: nobody ever sees half of it. */
  store(fingerprint: string, exchange: CachedExchange): Awaitable<void>
  remove(fingerprint: string): Awaitable<void>
  close(): Awaitable<void>
}

/** Where a storage of the HTTP cache keeps its files, and for how long. */
export interface HttpCacheStorageOptions {
  /** HTTPCACHE_DIR. */
  readonly folder: string
  readonly spiderName: string
  /** What was stored longer ago is as good as not there. 0: never. */
  readonly expirationMs: number
  /** Keeps bodies compressed. */
  readonly gzip: boolean
}

/** What the settings say of where a cache lies. */
export function cacheStorageOptionsOf({ settings, spider }: Crawler): HttpCacheStorageOptions {
  return {
    folder: settings.getString('HTTPCACHE_DIR'),
    spiderName: spider.name,
    expirationMs: settings.getInt('HTTPCACHE_EXPIRATION_SECS') * 1000,
    gzip: settings.getBool('HTTPCACHE_GZIP'),
  }
}

/** What the spider's part of the cache is called: its name, made safe for a file system. */
export function cacheName(spiderName: string): string {
  return encodeURIComponent(spiderName).replace(/^\.+$/, (dots) => '%2E'.repeat(dots.length))
}
