/** Storages of a user's own, by FEED_STORAGES. */

import {
  type Awaitable,
  type ComponentClass,
  type Crawler,
  fromCrawler,
  pythonHint,
  requireMethods,
  SettingsError,
  valueShown,
} from '@webloom/core'
import type { Destination } from './destination.ts'
import { type OwnTarget, shownText, shownUri } from './feed-uri.ts'
import { withoutUriSecrets } from './output-errors.ts'

/** A class in FEED_STORAGES: it puts whole outputs where their URIs say. A crawl makes one for each scheme. */
export interface FeedStorage {
  /**
   * Puts an output there, in place of what was: complete, or not at all. What it throws fails the crawl (WL_OUTPUT_FAILED), and
   * the items stay on this machine. So does a call that ends before it has read all of `output`.
   *
   * @param uri as FEEDS has it, with its placeholders filled in
   */
  store(uri: string, output: AsyncIterable<Uint8Array>): Promise<void>
  /**
   * Returns whether the place holds an output, which is replaced only where `overwrite` or the earlier run allows that.
   * Called before any page is fetched; an error ends the crawl at once. Without this method every place counts as empty.
   */
  holds?(uri: string): Awaitable<boolean>
  /**
   * Keeps the old output under a name that is free, and returns that name. Called for the output of an earlier run that
   * must not be lost; without this method the crawl fails instead.
   */
  setAside?(uri: string): Awaitable<string>
}

/** The storages of a crawl by scheme; null for a scheme that was removed. */
export type FeedStorages = Readonly<Record<string, FeedStorage | null>>

// As in URIs, but not one letter alone, which is a drive of Windows.
const SCHEME = /^[a-z][a-z0-9+.-]+$/

/**
 * Makes the storages of FEED_STORAGES. Throws a SettingsError that names everything that is wrong, and WL_COMPONENT_LOAD
 * for a class without `store`.
 */
export function feedStorages(crawler: Crawler): FeedStorages {
  const storages: Record<string, FeedStorage | null> = {}
  const problems: string[] = []
  for (const [scheme, wanted] of Object.entries(crawler.settings.getDict('FEED_STORAGES'))) {
    if (!SCHEME.test(scheme))
      problems.push(
        `FEED_STORAGES has a storage for ${JSON.stringify(scheme)}; expected a scheme in lower case, as in sftp://host/path`,
      )
    else if (wanted === null) storages[scheme] = null
    else if (typeof wanted === 'function')
      storages[scheme] = madeOf(wanted as ComponentClass<FeedStorage>, crawler)
    else problems.push(notAStorage(scheme, wanted))
  }
  if (problems.length > 0) throw new SettingsError(problems)
  return storages
}

function madeOf(Class: ComponentClass<FeedStorage>, crawler: Crawler): FeedStorage {
  const storage = fromCrawler(Class, crawler, 'FEED_STORAGES')
  requireMethods(storage, ['store'], 'feed storage', 'FEED_STORAGES')
  return storage
}

function notAStorage(scheme: string, wanted: unknown): string {
  const isScrapys = typeof wanted === 'string' && wanted.startsWith('scrapy.')
  const hint = !isScrapys
    ? pythonHint(wanted)
    : ['file', 's3', 'stdout'].includes(scheme)
      ? `; Scrapy's storages are Python: leave ${scheme} out, and the built-in one is used`
      : "; Scrapy's storages are Python: write one with a method store(uri, output)"
  return `FEED_STORAGES has ${typeof wanted === 'object' ? valueShown(wanted) : JSON.stringify(wanted)} for ${scheme}; expected a class, ./file.ts#Export, or null for none${hint}`
}

/** One output of such a storage. */
export class OwnDestination implements Destination {
  readonly #storage: FeedStorage
  readonly #uri: string

  constructor(storage: FeedStorage, { uri }: OwnTarget) {
    this.#storage = storage
    this.#uri = uri
  }

  get storage(): string {
    return this.#storage.constructor.name
  }

  async open(mayReplace: boolean): Promise<'nothing' | 'something'> {
    const holds = this.#storage.holds ? await this.#asked(() => this.#storage.holds!(this.#uri)) : false
    // Taken for "no", what a forgotten await or return gives would be the loss of an earlier output.
    if (typeof holds !== 'boolean')
      throw new Error(
        `${this.storage}.holds() gave ${valueShown(holds)}; expected true where the place holds an output, else false`,
      )
    if (holds && !mayReplace)
      throw new Error('it holds something; use -O (or "overwrite": true) to replace it, or another name')
    return holds ? 'something' : 'nothing'
  }

  async put(pieces: AsyncIterable<Uint8Array>): Promise<void> {
    let isRead = false
    async function* read(): AsyncGenerator<Uint8Array> {
      // Without empty ones: fetch of Node 22 takes one for the end of a body that it sends in chunks.
      for await (const piece of pieces) if (piece.length > 0) yield piece
      isRead = true
    }
    await this.#asked(() => this.#storage.store(this.#uri, read()))
    if (!isRead)
      throw new Error(
        `${this.storage}.store() ended before it had read the whole output; await what reads it`,
      )
  }

  async setAside(): Promise<string> {
    const { setAside } = this.#storage
    if (setAside)
      return shownText(await this.#asked(() => setAside.call(this.#storage, this.#uri)), this.#uri)
    throw new Error(
      `${shownUri(this.#uri)} has the output of an earlier run, and ${this.storage} has no setAside(uri) to keep it; use -O (or "overwrite": true) to replace it`,
    )
  }

  /** What the storage throws may hold the URI with its password: it is thrown on without. */
  async #asked<T>(ask: () => Awaitable<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      throw withoutUriSecrets(error, this.#uri)
    }
  }
}
