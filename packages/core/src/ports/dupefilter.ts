import type { UrlRules } from '@webloom/url'
import type { Request } from '../requests/request.ts'

/**
 * What a filter knows of a link. `false`: the link is new, and the asker queues it. `true`: it was met before, and is queued
 * for good. `'in doubt'`: another asker was told that it is new, and has neither settled it nor given it back. If that asker never
 * queues the link, and this one drops it, the link is lost. So the queue sets it aside until that is known (`QueuedRequest.inDoubt`).
 */
export type Seen = boolean | 'in doubt'

/**
 * Remembers which requests this crawl has already met.
 *
 * One call both asks and records: two workers that ask about the same request at the same moment must not both be
 * told that it is new. Asking is **idempotent per asker**: the asker (the id of the page a link was found on,
 * `start/<n>`, or a seed message) is told "new" again for what it was told "new" before, until it is settled. So a
 * worker that died between asking and queueing costs nothing: whoever takes over asks the same and gets the same.
 */
export interface DupeFilter {
  /** Connects, and compares what is stored with the settings. Throws `SettingsError` when they contradict each other. */
  open(): Promise<void>
  /** Lets go of what `open` took. Deletes nothing: other workers may still ask. */
  close(): Promise<void>
  /** Forgets every request. */
  clear(): Promise<void>
  /**
   * True when the request was met before: the scheduler then drops it and counts `dupefilter/filtered`.
   * Without an asker the answer is recorded as settled at once, as in Scrapy. What is in doubt counts as met.
   */
  requestSeen(request: Request, asker?: string): Promise<boolean>
  /**
   * The same for a page's links, answered in order, in one round trip. A request given twice is new only once. What was set
   * aside in doubt is asked about by an asker `doubt/<id>/<who met it>`, always the same.
   *
   * A page that has only requests that go past the filter asks about none: what an earlier run of it was told is new, maybe on
   * a worker that is gone, it does not queue, and must not count as queued when the page is settled. That costs no round
   * trip. A filter that has no `settled`, and so knows no askers, is not asked about none.
   */
  requestsSeen(requests: readonly Request[], asker: string): Promise<Seen[]>
  /** What `asker` asked about is queued for good; from now on it is "seen" for everybody else. */
  settled(asker: string): Promise<void>
  /**
   * The page of `asker` goes back, and none of its links is queued. The links that it was told are new are free again: the next
   * asker is told "new", and so is the page itself when it runs again. Without this method a page that yields other links the
   * next time loses its first ones.
   */
  givenBack?(asker: string): Promise<void>
  /**
   * This process takes part in a crawl from now on. `goesOn` is true when a worker of the same run has joined this filter before,
   * and no worker has emptied it since. A filter that has no note of that worker has lost its data, and should warn.
   */
  joined?(goesOn: boolean): Promise<void>
  /** The crawl is over, and the filter stays: what it keeps for this crawl alone, beside the requests that were met, may be deleted. */
  crawlEnded?(): Promise<void>
  /** What is stored and how well it fits, for the start banner and `webloom status`. */
  describe(): Promise<DupeFilterDescription>
  /**
   * Removes one request so that it can be met again: the next asker is told "new". Only for one that was told "new" before:
   * a filter that counts cannot know it from one that looks seen by chance. Absent when the filter cannot forget (a plain
   * Bloom filter).
   */
  forget?(request: Request): Promise<void>
  /**
   * True when the request was met before. Records nothing. Absent where a filter cannot tell without recording: `webloom
   * dupefilter has` then says so.
   */
  has?(request: Request): Promise<boolean>
  /**
   * Whether anything of this filter is stored. Called before `open` by commands that only look: they do not open a filter of
   * which nothing is stored. Writes nothing. Absent: it is opened.
   */
  exists?(): Promise<boolean>
  /** Bytes that the store takes, for `webloom dupefilter stats`; undefined where the store cannot tell. */
  memoryBytes?(): Promise<number | undefined>
  /**
   * True for a filter that answers "new" to everything: two requests to one page are then two requests for the queue, too,
   * which else knows a request by its fingerprint.
   */
  readonly letsAllPass?: boolean
}

/**
 * The asker of a link that was set aside in doubt. The same link, met by the same page, always has the same asker. So when the
 * queue comes back older and the page runs again, its link is told "new" again, and the link of another page is not.
 */
export function inDoubtAsker({ id, inDoubt }: { readonly id: string; readonly inDoubt?: string }): string {
  return inDoubt ? `doubt/${id}/${inDoubt}` : `doubt/${id}`
}

/** What a filter says of itself. */
export interface DupeFilterDescription {
  /** The name by which DUPEFILTER_CLASS chooses it. */
  readonly name: string
  /** How fingerprints are made: `scrapy`, `scrapy-redis`, `scrapy-2.6` or a custom name. */
  readonly fingerprinter: string
  /** Whose rules the URLs of its fingerprints go by (URL_RULES). Absent where a filter does not know. */
  readonly urlRules?: UrlRules
  /** Requests recorded. */
  readonly count: number
  /** False for a filter without askers: guarantee 1 then does not hold, and the start banner says so. */
  readonly owners: boolean
}
