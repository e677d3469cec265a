/**
 * The visits of a crawl that comes back to its pages: when each was visited and is due again.
 *
 * A page is in one place at any time: *due*, at its hour; or *in a line*, waiting or leased as a request of the queue; or unknown. The step
 * that ends a visit puts it at its next hour, and the step that takes what is due marks it as in a line. So a worker that is killed
 * between two steps leaves the page where it was.
 */

import type { Request } from '../requests/request.ts'

/**
 * What the visits of one page have shown of how often it changes, in four numbers, however many visits there were. All zero for a page
 * that was visited once.
 */
export interface ChangeEvidence {
  /** Hours in which the page is known not to have changed. */
  readonly stillHours: number
  /** Visits that found a change of which the page did not say when it was. */
  readonly seen: number
  /** The sum of the natural logarithms of the hours since the visit before, over the visits of `seen`. */
  readonly gapLogs: number
  /** Visits that found a change, and were told when it was. */
  readonly dated: number
}

/** The last visit of a page, and what is known from those before. Times are milliseconds since 1970, kept to the second. */
export interface Visit {
  readonly visitedAt: number
  readonly dueAt: number
  /** 8 hex digits of what the page said; undefined where no visit brought a page yet. */
  readonly contentHash?: string
  /** How often it was visited, and how often it had changed; counting stops at 255. */
  readonly visits: number
  readonly changes: number
  readonly evidence: ChangeEvidence
  /** Visits in a row that failed; counting stops at 15. */
  readonly failures: number
  /** Answers in a row that the page is gone; counting stops at 15. */
  readonly goneAnswers: number
  /** Two bytes of the version of the callback that saw it: what another callback makes of the page is not known. 0: see `lacksCallback`. */
  readonly callbackVersion: number
  /** What to ask with. A tag that is too long for a record is not kept. */
  readonly etag?: string
  readonly lastModifiedAt?: number
  /** The validators are known to be outdated: the next visit asks with them to see whether the host is honest. */
  readonly isOutdated: boolean
}

/** A page's last visit, as the store has it. */
export interface FoundVisit extends Visit {
  /** The page waits in a line, is under way or in quarantine: it is due at no hour. */
  readonly isInALine: boolean
}

/** A page with its visit, and how to ask for it again. */
export interface VisitedPage {
  readonly fingerprint: string
  readonly request: Request
  readonly visit: Visit
}

/** Pages that are due, as one worker has read them. */
export interface DuePages {
  readonly pages: readonly VisitedPage[]
  /** How many entries were read, those included that turned out to be outdated. 0: nothing is due. */
  readonly read: number
  /** Why some of these entries cannot be read. They come into no line, and go with the others. */
  readonly unreadable?: readonly unknown[]
  /** What FINGERPRINTER threw on some of these entries. They come into no line, and are tried again later. Absent: nothing. */
  readonly unnamed?: readonly unknown[]
  /** How many of these pages have other fingerprints than those under which they are kept, and get these when they are queued. Absent: none. */
  readonly moved?: number
  /** How many of these entries are of pages that were forgotten. Absent: none. */
  readonly unknown?: number
  /** What the store needs to find them again. */
  readonly token: string
}

/** The pages of a crawl together. */
export interface VisitTotals {
  readonly pages: number
  /** How many visits an hour their intervals ask for. */
  readonly perHour: number
}

/** A page, and how to ask for it. */
export interface AskedPage {
  readonly fingerprint: string
  readonly request: Request
}

/** Keeps the visits of a crawl, for all of its workers. */
export interface VisitStore {
  /**
   * Notes visits, and puts each page at its next hour, in place of the hour where it was. Sent twice it changes nothing the second time.
   */
  record(pages: readonly VisitedPage[]): Promise<void>
  /** Resolves to the last visit of each; undefined for a page that is not known. */
  find(fingerprints: readonly string[]): Promise<readonly (FoundVisit | undefined)[]>
  /** Resolves to pages that are due at `now`, the most overdue first, `max` entries at the most. They stay due until they are queued. */
  due(now: number, max: number): Promise<DuePages>
  /**
   * Makes pages due at `at`, sooner or later than at their hour; they are asked for as the requests say from then on. Resolves to the fingerprints of
   * those that are known. A page that is in a line stays there.
   */
  reschedule(pages: readonly AskedPage[], at: number): Promise<readonly string[]>
  /**
   * Makes pages that wait for their hours be asked for as these requests say, at the same hours; what asked for them before is kept no longer. Resolves to
   * the fingerprints of those for which that was done: a page in a line stays as it is. For a few pages: each may be searched for.
   */
  askAnew(pages: readonly AskedPage[]): Promise<readonly string[]>
  /** Forgets pages. Resolves to those that were known. */
  forget(fingerprints: readonly string[]): Promise<readonly string[]>
  /**
   * Resolves to the last visits of some pages: any page is as likely to be among them as any other, however often it is visited. A store
   * that keeps a sample of its own returns no more than that.
   */
  sample(max: number): Promise<readonly Visit[]>
  totals(): Promise<VisitTotals>
  /**
   * Yields all pages that wait for their hours, some hundred at a time; not those in a line. A page that is put at another moment
   * meanwhile comes once.
   */
  waiting(): AsyncIterable<readonly VisitedPage[]>
  /** Resolves to what workers have noted of the crawl or of a host under these names; undefined for a name without a note. */
  notes(names: readonly string[]): Promise<readonly (string | undefined)[]>
  /** Keeps notes, by their names, in place of those before. */
  note(notes: ReadonlyMap<string, string>): Promise<void>
  /** Forgets all. */
  clear(): Promise<void>
}

/** The visits of a crawl beside its queue, which records a visit in the step that ends its page (`CommitOptions.visit`). */
export interface KeptVisits extends VisitStore {
  /**
   * Queues pages that are due, as requests that carry their visits, and marks them as in a line in the same step. Resolves to how many there
   * were: of two workers that have read the same pages, one queues them.
   */
  queueDue(due: DuePages): Promise<number>
  /**
   * Moves pages to the fingerprints that are made of their requests now, in one step, with what is known of them. A page that stands where one of them goes
   * and has another fingerprint by now makes place; where it has not, the one that comes is forgotten. Returns the moves: fingerprints before, and now;
   * undefined for one that was forgotten. Absent where `queueDue` does it.
   *
   * @param fingerprint returns undefined for a request of which none can be made: its page stays where it is
   */
  move?(
    fingerprints: readonly string[],
    fingerprint: (request: Request) => string | undefined,
  ): ReadonlyMap<string, string | undefined>
  /**
   * Moves all pages to the fingerprints that are made of their requests now, with what is known of them: two may change fingerprints with each other. Of
   * several that have one now, one stays; none is lost or taken for another one, though it is killed in the middle, and then it is called again. Where pages
   * are in a line it is their commit that moves them. Resolves to how many were moved; undefined while another worker does it, and nothing was done.
   *
   * @param fingerprint returns undefined for a request of which none can be made: its page stays where it is
   */
  moveAll(
    fingerprint: (request: Request) => string | undefined,
    signal?: AbortSignal,
  ): Promise<number | undefined>
  /** Resolves to whether `moveAll` would move pages, as far as some hundred of them show. */
  someMoved(fingerprint: (request: Request) => string | undefined): Promise<boolean>
}
