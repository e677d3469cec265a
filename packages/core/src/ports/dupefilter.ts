import type { UrlRules } from '@webloom/url'
import type { Request } from '../requests/request.ts'
import type { Awaitable } from '../waiting/awaitable.ts'

/**
 * What a filter knows of a link. `false`: the link is new, and the asker queues it. `true`: it was seen before, and is queued
 * for good. `'in doubt'`: another asker was told that it is new, and has neither settled it nor given it back. If that asker never
 * queues the link, and this one drops it, the link is lost. So the queue sets it aside until that is known (`QueuedRequest.inDoubt`).
 */
export type Seen = boolean | 'in doubt'

/**
 * Remembers which requests this crawl has already seen.
 *
 * One call both asks and records: two workers that ask about the same request at the same moment must not both be told that
 * it is new. Asking is **idempotent per asker**: the asker (the id of the page a link was found on, `start/<n>`, or a seed
 * message) is told "new" again for what it was told "new" before, until it is settled. So a worker that dies between asking
 * and queueing costs nothing: the worker that takes over asks the same and is told the same.
 */
export interface DupeFilter {
  /** Connects, and compares what is stored with the settings. Throws `SettingsError` when they contradict each other. */
  open(): Promise<void>
  /** Lets go of what `open` took. Deletes nothing: other workers may still ask. */
  close(): Promise<void>
  /** Forgets every request. */
  clear(): Promise<void>
  /**
   * Returns true when the request was seen before: the scheduler then drops it and counts `dupefilter/filtered`. Without an
   * asker the answer is settled at once, as in Scrapy. A request in doubt counts as seen.
   */
  requestSeen(request: Request, asker?: string): Promise<boolean>
  /**
   * Returns the same for a page's links, in order, in one round trip. A request that is given twice is new only once. A
   * link that was set aside in doubt is asked about by the asker `doubt/<id>`, always the same.
   *
   * A page whose requests all go past the filter asks about an empty list. It does so because an earlier attempt of the page may have
   * been told that links are new, which this attempt does not queue; they must not count as queued when the page is settled.
   * Such a question costs no round trip. A filter without `settled`, which knows no askers, is not called without links.
   */
  requestsSeen(requests: readonly Request[], asker: string): Promise<Seen[]>
  /** Called when all links that `asker` was told are new are queued for good: from now on they are "seen" for all others. */
  settled(asker: string): Promise<void>
  /**
   * Called when the page of `asker` goes back to the queue and none of its links is queued. The links that it was told are new are
   * free again: the next asker is told "new", and so is the page itself when it runs again. Without this method a page that yields
   * other links the next time loses its first ones.
   */
  givenBack?(asker: string): Promise<void>
  /**
   * Called before this process queues the links that `asker` was told are new, which may take long. Until the returned function is
   * called, these links do not become free for other askers by the passing of time. Absent where they never do.
   */
  keepUnsettled?(asker: string): () => void
  /**
   * Returns whether the queue was away after `asker` had asked, and may have come back older. Then the page that had queued a link
   * which `asker` was told is seen may run again, and may not show that link any more. So the asker asks once more after its links
   * are queued, and queues what is new or in doubt now. Absent where no queue comes back older.
   */
  mayBeOutdated?(asker: string): Awaitable<boolean>
  /**
   * Called when the queue has come back older and has lost what these askers had queued: from now on they are unsettled. Their pages
   * run again and are told "new" for the same links. Links that they do not ask about for long are new for the next asker. Absent
   * where no queue comes back older.
   */
  unsettled?(askers: readonly string[]): Promise<void>
  /**
   * This process takes part in a crawl from now on. `goesOn` is true when a worker of the same run has joined this filter before,
   * and no worker has emptied it since. A filter that has no note of that worker has lost its data, and should warn.
   */
  joined?(goesOn: boolean): Promise<void>
  /**
   * Resolves to what tells the place where this filter keeps requests from any other: the same for all processes that fill it, and
   * another text once it was emptied or has lost its data. A worker with another place than those at work is refused, as it would fetch
   * again what they have fetched. Called before `joined`, and with each heartbeat: then it looks again, as others join by what it tells.
   * Absent where no place is shared.
   */
  place?(): Promise<string>
  /**
   * Called when the queue has lost this crawl, and so what it had queued: a crawl that begins with this filter would leave those
   * pages out. The filter notes that for `knowsLostCrawl`.
   */
  crawlLost?(): Promise<void>
  /**
   * Resolves to whether the filter has met requests for a crawl of the same name that was not finished and of which the queue knows
   * nothing any more. Called when no worker of the run has joined, before `joined`. It may have to wait until that crawl is known to be over;
   * when `signal` fires, it rejects with its reason. Absent where crawls leave no note.
   */
  knowsLostCrawl?(signal?: AbortSignal): Promise<boolean>
  /**
   * Resolves to the queues of other crawls that use this filter too, or did some minutes ago. Whoever empties it for a crawl asks before: those would
   * fetch their pages again. May be called before `open`, and writes nothing. Absent where crawls leave no note.
   *
   * @param queue that of the crawl itself
   * @param run the name of its run; absent where it is gone. Without it a crawl of the same queue's name counts as another while it speaks
   */
  crawlsBesides?(queue: string, run?: string): Promise<readonly string[]>
  /** The crawl is over, and the filter stays: what it keeps for this crawl alone, beside the requests that were seen, may be deleted. */
  crawlEnded?(): Promise<void>
  /** Returns what is stored and how well it fits, for the start banner and `webloom status`. */
  describe(): Promise<DupeFilterDescription>
  /**
   * Removes one request so that it counts as new: the next asker is told "new". Only for a request that was told "new"
   * before: a filter that counts cannot tell it from one that looks seen by chance. Absent when the filter cannot forget (a
   * plain Bloom filter).
   */
  forget?(request: Request): Promise<void>
  /**
   * Resolves to true when the request was seen before. Records nothing. Absent where a filter cannot tell without recording;
   * `webloom dupefilter has` then says so.
   */
  has?(request: Request): Promise<boolean>
  /**
   * Resolves to whether anything of this filter is stored. Writes nothing. Commands that only look call it before `open`, and do
   * not open a filter of which nothing is stored. Absent: they open the filter.
   */
  exists?(): Promise<boolean>
  /** Resolves to the bytes that the store takes, for `webloom dupefilter stats`; to undefined where it cannot tell. */
  memoryBytes?(): Promise<number | undefined>
  /**
   * True for a filter that answers "new" to everything. Two requests to one page are then two requests for the queue, too,
   * which otherwise knows a request by its fingerprint.
   */
  readonly letsAllPass?: boolean
}

/**
 * Returns the asker of a link that was set aside in doubt: the same whichever page has it. The queue keeps for two
 * minutes which links it has queued so, and sets none of them aside again. So when one is asked about again, with the
 * queue's Redis in another run, that queue has come back older and has lost the link: it is told "new" again.
 */
export function inDoubtAsker({ id }: { readonly id: string; readonly inDoubt?: string }): string {
  return `doubt/${id}`
}

/** A filter's description. */
export interface DupeFilterDescription {
  /** The filter's name in DUPEFILTER_CLASS. */
  readonly name: string
  /** How fingerprints are made: `scrapy`, `scrapy-redis`, `scrapy-2.6` or a custom name. */
  readonly fingerprinter: string
  /** The rules of the URLs in its fingerprints (URL_RULES). Absent where a filter does not know them. */
  readonly urlRules?: UrlRules
  /** How many requests were recorded. */
  readonly count: number
  /** True when the filter knows its askers. When false, guarantee 1 does not hold, and the start banner says so. */
  readonly owners: boolean
}
