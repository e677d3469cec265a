/**
 * An asker's question about links: what this process knows, what Redis says, and what other askers of this process were told.
 *
 * Most doubts end here: pages of one process that met a link together are committed in a moment, and waiting for that costs
 * less than setting the link aside. No wait is long, as two pages that ask in parts may wait for each other.
 */

import {
  type Fingerprinter,
  type ProtocolTimes,
  type Request,
  type Seen,
  type StatsCollector,
  waitAtMost,
} from '@webloom/core'
import type { Asked } from './asked.ts'
import { type Claim, type Claims, IN_DOUBT_ASKER } from './claims.ts'
import type { QuestionLine } from './question-line.ts'
import type { RedisRun } from './redis-run.ts'
import type { SeenCache, Told } from './seen-cache.ts'

export interface QuestionsOptions {
  readonly fingerprinter: Fingerprinter
  readonly claims: Claims
  readonly cache: SeenCache
  readonly run: RedisRun
  readonly pendingStaleMs: number
  readonly times: ProtocolTimes
  /** How many requests one call may ask about. */
  readonly maxRequestsPerCall: () => number
  readonly line: QuestionLine
  readonly stats: Pick<StatsCollector, 'inc'> | undefined
}

/** The answer about a request that is not seen: new, or in doubt. */
type Unseen = Exclude<Seen, true>

/** What the cache says of a page's requests. */
interface Split {
  readonly unknown: Asked[]
  readonly held: Map<Asked, Claim>
  /** Where each of these stands among the requests, by fingerprint. One that is given twice is new, or in doubt, the first time only. */
  readonly places: Map<string, number>
  /** How many the cache has answered. */
  hits: number
}

export class Questions {
  readonly #options: QuestionsOptions

  constructor(options: QuestionsOptions) {
    this.#options = options
  }

  /** Resolves to the answers, in the order of the requests. */
  async ask(requests: readonly Request[], asker: string): Promise<Seen[]> {
    const { claims, run, stats } = this.#options
    const taggedAsker = claims.taggedAskerOf(asker)
    const { unknown, held, places, hits } = this.#cached(requests, taggedAsker)
    if (hits > 0) stats?.inc('dupefilter/cache_hits', hits)
    const unseen = new Map<string, Unseen>()
    // An asker that has nothing to ask about begins a new attempt all the same.
    if (unknown.length === 0) claims.ask(asker, taggedAsker, [], run.current)
    else await this.#askAllTwice(unknown, asker, taggedAsker, { unseen, held })
    if (held.size > 0) await this.#endOrDoubt(held, asker, taggedAsker, unseen)
    const answers: Seen[] = requests.map(() => true)
    for (const [fingerprint, answer] of unseen) answers[places.get(fingerprint)!] = answer
    return answers
  }

  /**
   * Splits the requests: `unknown` must be asked about, of `held` another asker of this process was told that they are new. Most
   * links of a page are in neither, as they are seen, and nothing is made for them.
   */
  #cached(requests: readonly Request[], taggedAsker: string): Split {
    const { cache, fingerprinter } = this.#options
    const split: Split = { unknown: [], held: new Map(), places: new Map(), hits: 0 }
    const nowMs = performance.now()
    for (let n = 0; n < requests.length; n++) {
      const request = requests[n]!
      const url = fingerprinter.known?.(request)
      if (url && cache.isMarked(url, taggedAsker, nowMs)) {
        split.hits++
        continue
      }
      const fingerprint = fingerprinter.fingerprint(request)
      const cached = cache.answer(fingerprint, taggedAsker, nowMs, url)
      if (cached === 'seen') split.hits++
      else if (!split.places.has(fingerprint)) {
        split.places.set(fingerprint, n)
        if (cached === undefined) split.unknown.push({ fingerprint, request, url })
        else {
          split.held.set({ fingerprint, request, url }, cached)
          split.hits++
        }
      }
    }
    return split
  }

  /** Asks, and asks again about links in doubt if an asker of this process was settled meanwhile: it may have been told of them. */
  async #askAllTwice(
    asked: readonly Asked[],
    asker: string,
    taggedAsker: string,
    { unseen, held }: { unseen: Map<string, Unseen>; held: Map<Asked, Claim> },
  ): Promise<void> {
    const { claims } = this.#options
    const { settledCount } = claims
    await this.#askAll(asked, asker, taggedAsker, unseen)
    const left: Asked[] = []
    for (const one of asked) {
      if (unseen.get(one.fingerprint) !== 'in doubt') continue
      const claim = claims.claimOn(one.fingerprint)
      if (claim) held.set(one, claim)
      else left.push(one)
    }
    if (left.length === 0 || settledCount === claims.settledCount) return
    for (const { fingerprint } of left) unseen.delete(fingerprint)
    await this.#askAll(left, asker, taggedAsker, unseen)
  }

  /** Waits a moment for the askers of this process that were told of links: most are settled soon, so that no link must be set aside. */
  async #endOrDoubt(
    held: ReadonlyMap<Asked, Claim>,
    asker: string,
    taggedAsker: string,
    unseen: Map<string, Unseen>,
  ): Promise<void> {
    const { times } = this.#options
    const ends = [...new Set(held.values())].map(({ ended }) => ended)
    if (!OF_NO_PAGE.test(asker)) await waitAtMost(times.doubts.ownMs, Promise.all(ends))
    const free: Asked[] = []
    for (const [asked, { state }] of held) {
      if (state === 'open') unseen.set(asked.fingerprint, 'in doubt')
      else unseen.delete(asked.fingerprint)
      if (state === 'over') free.push(asked)
    }
    if (free.length > 0) await this.#askAll(free, asker, taggedAsker, unseen)
  }

  /** Adds to `unseen` the requests that are new or in doubt. */
  async #askAll(
    asked: readonly Asked[],
    asker: string,
    taggedAsker: string,
    unseen: Map<string, Unseen>,
  ): Promise<void> {
    const { claims, run } = this.#options
    const fingerprints = asked.map(({ fingerprint }) => fingerprint)
    const claim = claims.ask(asker, taggedAsker, fingerprints, run.current)
    try {
      await this.#askInParts(asked, taggedAsker, claim, unseen)
    } catch (error) {
      // Some links may be recorded for this attempt, and the page may yield others when it runs again.
      claims.giveUp(asker, claim)
      throw error
    }
  }

  #askInParts(
    asked: readonly Asked[],
    taggedAsker: string,
    claim: Claim,
    unseen: Map<string, Unseen>,
  ): Promise<unknown> {
    const { line, maxRequestsPerCall } = this.#options
    const most = maxRequestsPerCall()
    if (asked.length <= most) return this.#ask(asked, taggedAsker, claim, unseen)
    const parts: Promise<void>[] = []
    for (let from = 0; from < asked.length; from += most)
      parts.push(this.#ask(asked.slice(from, from + most), taggedAsker, claim, unseen))
    // The parts before have filled calls of their own: its end does not wait for their replies.
    line.sendAll()
    return Promise.all(parts)
  }

  async #ask(
    asked: readonly Asked[],
    taggedAsker: string,
    claim: Claim,
    unseen: Map<string, Unseen>,
  ): Promise<void> {
    const { claims, cache, run, line, stats, pendingStaleMs } = this.#options
    const askedAt = performance.now()
    const question = { asked, taggedAsker, attempt: claim.attempt, again: false }
    let reply = await line.ask(question)
    // An asker that was settled asks again. Only a queue that went back since has its page run for good reason.
    if (reply.settledIn !== '' && (await run.now()) !== reply.settledIn) {
      reply = await line.ask({ ...question, again: true })
    }
    if (cache.heardOf(reply.generation, askedAt)) stats?.inc('dupefilter/cache_emptied')
    const own = cache.told(taggedAsker, askedAt + pendingStaleMs, claim)
    let told = 0
    for (let n = 0; n < asked.length; n++) {
      const { fingerprint, url } = asked[n]!
      const answer = reply.answers[n]!
      if (answer === SEEN_FOR_GOOD) cache.add(fingerprint, cache.forGood, url)
      else if (answer === SEEN)
        cache.add(fingerprint, this.#toldIn(reply.told[told++]!, reply.now, askedAt), url)
      else if (answer === IN_DOUBT) unseen.set(fingerprint, 'in doubt')
      else if (answer !== OWN_AND_QUEUED) {
        if (!taggedAsker.startsWith(IN_DOUBT_ASKER)) cache.add(fingerprint, own, url)
        unseen.set(fingerprint, false)
        claims.told(claim, fingerprint)
        const repeat = REPEATS[answer]
        if (repeat) stats?.inc(repeat)
      }
    }
  }

  /** @param text `<ms>:<asker>`, when the asker was told so by the clock of Redis, which was at `now` not before `askedAt` */
  #toldIn(text: string, now: number, askedAt: number): Told {
    const [ms = '', taggedAsker = ''] = text.split(':', 2)
    const { cache, pendingStaleMs } = this.#options
    return cache.told(taggedAsker, askedAt + pendingStaleMs - (now - Number(ms)))
  }
}

const IN_DOUBT = '1'
const SEEN_FOR_GOOD = '2'
const OWN_AND_QUEUED = '5'
const SEEN = '6'
/** Asks along with others that are queued in the same step, and would wait for each other. */
const OF_NO_PAGE = /^(?:start|seed|doubt)\//
/** The link is new for this asker, though another one may have queued it. A stat counts links that are crawled twice for that reason. */
const REPEATS: Readonly<Record<string, string>> = {
  '3': 'dupefilter/taken_over',
  '4': 'dupefilter/told_again',
}
