import type { Awaitable, Crawler } from '@webloom/core'

/** A request and its answer as a cache keeps them. */
export interface CachedExchange {
  /** The request's method, in upper case. */
  readonly method: string
  /** The request's URL. */
  readonly url: string
  /** The request's headers as they were sent, for Vary. Headers that hold secrets are left out. */
  readonly requestHeaders: readonly (readonly [string, string])[]
  /** The request's body; empty when there was none. */
  readonly requestBody: Uint8Array
  /** The answer's status. */
  readonly status: number
  /** The answer's headers as the server sent them, in its order. */
  readonly responseHeaders: readonly (readonly [string, string])[]
  /** The answer's body as the server sent it, still compressed. */
  readonly body: Uint8Array
  /** When the answer came, in milliseconds since 1970. */
  readonly storedAtMs: number
  /** What the browser brought beside the page, as JSON. Absent when no browser rendered it. */
  readonly rendered?: string
}

/** Thrown by `retrieve` when an entry is there but is torn, or is not ours. The cache counts it and fetches the page. */
export class BrokenCacheEntry extends Error {}

/** Keeps exchanges by the fingerprint of their request, at most one for each. Several workers may share one place. */
export interface HttpCacheStorage {
  /** Returns undefined when nothing was stored, or when it has expired. Throws `BrokenCacheEntry`. */
  retrieve(fingerprint: string): Awaitable<CachedExchange | undefined>
  /** Replaces what was there in one step, so that no reader ever sees half an entry. */
  store(fingerprint: string, exchange: CachedExchange): Awaitable<void>
  /** Deletes the entry of that fingerprint. An entry that is not there is no error. */
  remove(fingerprint: string): Awaitable<void>
  /** Closes what the storage has opened. The entries stay for the next crawl. */
  close(): Awaitable<void>
}

/** Where a storage of the HTTP cache keeps its files, and for how long. */
export interface HttpCacheStorageOptions {
  /** HTTPCACHE_DIR. */
  readonly folder: string
  /** The spider's name: each spider has a place of its own in the folder. */
  readonly spiderName: string
  /** An entry that is older is treated as absent; milliseconds. 0: entries never expire. */
  readonly expirationMs: number
  /** True when bodies are stored compressed. */
  readonly gzip: boolean
}

/** Returns what the settings say of a cache's place and expiry. */
export function cacheStorageOptionsOf({ settings, spider }: Crawler): HttpCacheStorageOptions {
  return {
    folder: settings.getString('HTTPCACHE_DIR'),
    spiderName: spider.name,
    expirationMs: settings.getMs('HTTPCACHE_EXPIRATION_SECS'),
    gzip: settings.getBool('HTTPCACHE_GZIP'),
  }
}

/** Returns the name of the spider's part of the cache: the spider's name, made safe for a file system. */
export function cacheName(spiderName: string): string {
  return encodeURIComponent(spiderName).replace(/^\.+$/, (dots) => '%2E'.repeat(dots.length))
}
