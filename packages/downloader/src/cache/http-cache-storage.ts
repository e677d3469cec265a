import type { Awaitable, Crawler } from '@webloom/core'

/** A request and its answer as a cache keeps them. */
export interface CachedExchange {
  /** Of the request, in upper case. */
  readonly method: string
  /** Of the request. */
  readonly url: string
  /** As they were sent, for Vary; those that hold secrets are left out. */
  readonly requestHeaders: readonly (readonly [string, string])[]
  /** What was sent; empty when there was nothing. */
  readonly requestBody: Uint8Array
  /** Of the answer. */
  readonly status: number
  /** As the server sent them, in its order. */
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
  /** Nothing is kept for that fingerprint any more; no error when nothing was. */
  remove(fingerprint: string): Awaitable<void>
  /** The crawl is over: what the storage has opened goes. What is kept stays for the next. */
  close(): Awaitable<void>
}

/** Where a storage of the HTTP cache keeps its files, and for how long. */
export interface HttpCacheStorageOptions {
  /** HTTPCACHE_DIR. */
  readonly folder: string
  /** Each spider has a place of its own in the folder. */
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
