/**
 * What becomes of links in doubt: another page was told that they are new, and it may run again and no longer show them.
 *
 *     set aside (by the queue)      in the step that takes out the page they were found on.
 *     ask the filter, as            that page is settled: "seen", and they go. It has given them back, or its worker is lost:
 *     `doubt/<id>`                  "new". Else they stay. Crash after it: whoever asks next asks as the same asker.
 *     end the doubt (the queue)     one step: the new ones are queued, the others go. It was done before by another worker, or
 *                                   the queue has gone back to where nothing was set aside: nothing is queued.
 *     settle the asker              crash before it: it is queued; the next page that meets it is in doubt, or told "new" when
 *                                   the asker has been silent for long, and it is fetched twice.
 *
 * What was set aside goes only after the page's commit that settles the doubt, in the same log: a queue that comes back
 * older has it again, or both pages run again.
 */

import { randomUUID } from 'node:crypto'
import {
  type DupeFilter,
  type FailedDoubt,
  inDoubtAsker,
  isLockedOut,
  type Logger,
  PROTOCOL_TIMES,
  type ProtocolTimes,
  type QueuedRequest,
  type RequestQueue,
  type Seen,
  WebloomError,
  waitAtMost,
} from '@webloom/core'
import type { LinkSieve } from './link-sieve.ts'
import { isPassing, patiently, TELL_EVERY_MS } from './patience.ts'

/** How many links one look asks about. */
const MAX_LINKS_PER_LOOK = 100
/** The longest that `close` waits for a look that is under way: a Redis that is away may not answer for minutes. */
const CLOSE_WAIT_MS = 2000

/**
 * Queues requests that come from no page alone, under an asker of their own. Resolves to how many were added: to 0 when the crawl has
 * ended meanwhile, as this worker stood still, and nothing of it is waited for any more.
 *
 * @param patiently runs a step until the queue can do it
 */
export async function pushOnce(
  queue: RequestQueue,
  requests: readonly QueuedRequest[],
  patiently: <T>(step: () => Promise<T>) => Promise<T>,
): Promise<number> {
  const asker = `again/${randomUUID()}`
  try {
    const added = await patiently(() => queue.push(requests, asker))
    await patiently(() => queue.settled(asker))
    return added
  } catch (error) {
    if (error instanceof WebloomError && error.code === 'WL_LEASE_LOST') return 0
    throw error
  }
}

export interface LinksInDoubtOptions {
  readonly filter: DupeFilter
  readonly queue: RequestQueue
  readonly sieve: Pick<LinkSieve, 'drop' | 'scheduled'>
  readonly onQueued: (count: number) => void
  /** See SchedulerParts. */
  readonly endsDoubtsAtOnce?: boolean
  readonly logger: Logger
  readonly times?: ProtocolTimes
}

export class LinksInDoubt {
  readonly #options: LinksInDoubtOptions
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  /** True when this process has set links aside since it last found none. */
  #hasSome = false
  #isSoon = false
  #isClosed = false
  /** When a failing look is logged; undefined while looks succeed. */
  #tellFromMs: number | undefined

  constructor(options: LinksInDoubtOptions) {
    this.#options = options
  }

  /** From now on looks for links in doubt of all workers. */
  open(): void {
    const { lookEveryMs } = (this.#options.times ?? PROTOCOL_TIMES).doubts
    this.#timer = setInterval(() => this.#look(), lookEveryMs).unref()
  }

  /** A look that has not ended loses nothing: another worker gets its links some seconds later. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    if (this.#looking) await waitAtMost(CLOSE_WAIT_MS, this.#looking)
  }

  /** These requests were queued, or set aside. */
  noted(found: readonly QueuedRequest[]): void {
    if (!this.#hasSome) this.#hasSome = found.some(({ inDoubt }) => inDoubt)
  }

  /** A page of this process has been settled, or has gone back: where all are in this process, a doubt may be over. */
  soon(): void {
    if (!this.#hasSome || this.#isSoon || !this.#options.endsDoubtsAtOnce) return
    this.#isSoon = true
    setImmediate(() => {
      this.#isSoon = false
      this.#look()
    })
  }

  #look(): void {
    if (this.#isClosed) return
    if (this.#looking) return
    this.#looking = this.#endThose()
      .then(() => {
        this.#tellFromMs = undefined
      })
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#looking = undefined
      })
  }

  /** The look is tried again. A trouble that may pass, such as a Redis that restarts, is logged only when it lasts. */
  #failed(error: unknown): void {
    const { logger } = this.#options
    const text = 'links in doubt cannot be looked at now; it is tried again'
    const now = performance.now()
    this.#tellFromMs ??= isPassing(error) ? now + TELL_EVERY_MS : now
    if (this.#isClosed || now < this.#tellFromMs) {
      logger.debug({ err: error }, text)
      return
    }
    this.#tellFromMs = now + TELL_EVERY_MS
    if (isPassing(error) || isLockedOut(error)) logger.warn({ reason: (error as Error).message }, text)
    else logger.error({ err: error }, text)
  }

  async #endThose(): Promise<void> {
    const { queue } = this.#options
    for (;;) {
      const taken = await queue.doubts.take(MAX_LINKS_PER_LOOK)
      if (taken.length === 0) this.#hasSome = false
      const ended = taken.length > 0 ? await this.#ask(taken) : 0
      // Links that stay in doubt are looked at some time later.
      if (taken.length < MAX_LINKS_PER_LOOK || ended === 0 || this.#isClosed) return
    }
  }

  /** Resolves to the number of links whose doubt is over. */
  async #ask(taken: readonly QueuedRequest[]): Promise<number> {
    const { filter, queue, sieve, onQueued } = this.#options
    const answers = await Promise.allSettled(
      taken.map(async (one) => (await filter.requestsSeen([one.request], inDoubtAsker(one)))[0]!),
    )
    const those = (answer: Seen): QueuedRequest[] =>
      taken.flatMap(({ id, request }, n) => {
        const given = answers[n]!
        return given.status === 'fulfilled' && given.value === answer ? [{ id, request }] : []
      })
    const [fresh, seen] = [those(false), those(true)]
    const { away, error } = this.#unanswered(taken, answers)
    const idsOf = (those: readonly QueuedRequest[]) => those.map(({ id }) => id)
    const queued = new Set(await queue.doubts.end(fresh, idsOf(seen), idsOf(those('in doubt')), away))
    const ids = new Set(idsOf(seen))
    await this.#setAsideAgain(taken.filter(({ id }) => ids.has(id)))
    await this.#settle(
      taken.filter((_one, n) => answers[n]!.status === 'fulfilled'),
      queued,
    )
    if (seen.length > 0) sieve.drop(seen.map(({ request }) => request))
    const now = fresh.filter(({ id }) => queued.has(id))
    await sieve.scheduled(now)
    if (now.length > 0) onQueued(now.length)
    // Those it was about are asked about again.
    if (error !== undefined) throw error
    return fresh.length + seen.length
  }

  /**
   * What was seen is in doubt once more when the queue was away meanwhile: it may have come back older, and have lost what had queued
   * it.
   */
  async #setAsideAgain(seen: readonly QueuedRequest[]): Promise<void> {
    const { filter, queue, logger, times = PROTOCOL_TIMES } = this.#options
    const isOutdated = await Promise.all(seen.map((one) => filter.mayBeOutdated?.(inDoubtAsker(one))))
    const outdated = seen.filter((_one, n) => isOutdated[n])
    if (outdated.length === 0) return
    this.#hasSome = true
    await pushOnce(queue, outdated, (step) =>
      patiently(step, { logger, times: times.scheduler, what: 'setting links in doubt aside' }),
    )
  }

  /** Those that the filter will never answer for, and what keeps it from answering for others now. */
  #unanswered(
    taken: readonly QueuedRequest[],
    answers: readonly PromiseSettledResult<Seen>[],
  ): { away: FailedDoubt[]; error: unknown } {
    const away: FailedDoubt[] = []
    let passing: unknown
    for (const [n, given] of answers.entries()) {
      if (given.status === 'fulfilled') continue
      const { id, request } = taken[n]!
      const error: unknown = given.reason
      if (isPassing(error)) {
        passing = error
        continue
      }
      this.#options.logger.error(
        { url: request.url, err: error },
        'the dupefilter cannot say whether a link is new; it is quarantined: webloom quarantine list',
      )
      away.push({ id, request, reason: `the dupefilter failed: ${String(error)}` })
    }
    return { away, error: passing }
  }

  /** What is not queued is nobody's: it is still in doubt, it was seen, or it was set aside no longer. */
  async #settle(taken: readonly QueuedRequest[], queued: ReadonlySet<string>): Promise<void> {
    const { filter } = this.#options
    await Promise.all(
      taken.map((one) => {
        const asker = inDoubtAsker(one)
        return queued.has(one.id) ? filter.settled(asker) : filter.givenBack?.(asker)
      }),
    )
  }
}
