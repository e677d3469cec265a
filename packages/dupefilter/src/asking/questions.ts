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

/** A request that the cache does not know as seen. */
interface UnseenLink extends Asked {
  /** Where it stands among the page's requests. */
  readonly place: number
  /** Seen, until Redis says otherwise. */
  answer: Seen
  /** The attempt of another asker of this process that was told it is new. */
  claim: Claim | undefined
}

/** Another asker was told of it, and is not settled as far as is known. */
type HeldLink = UnseenLink & { readonly claim: Claim }

export class Questions {
  readonly #options: QuestionsOptions

  constructor(options: QuestionsOptions) {
    this.#options = options
  }

  /** Resolves to the answers, in the order of the requests. */
  async ask(requests: readonly Request[], asker: string): Promise<Seen[]> {
    const { claims, run } = this.#options
    const taggedAsker = claims.taggedAskerOf(asker)
    const unseen = this.#unseenIn(requests, taggedAsker)
    const unknown = unseen.filter(({ claim }) => !claim)
    // An asker that has nothing to ask about begins a new attempt all the same.
    if (unknown.length === 0) claims.ask(asker, taggedAsker, unknown, run.current)
    else await this.#askAllTwice(unknown, asker, taggedAsker)
    const held = unseen.filter(isHeld)
    if (held.length > 0) await this.#endOrDoubt(held, asker, taggedAsker)
    const answers: Seen[] = requests.map(() => true)
    for (const { place, answer } of unseen) answers[place] = answer
    return answers
  }

  /** Returns the requests that the cache does not know as seen, each once. Most links of a page are known as seen: nothing is made for those. */
  #unseenIn(requests: readonly Request[], taggedAsker: string): UnseenLink[] {
    const { cache, fingerprinter, stats } = this.#options
    const unseen = new Map<string, UnseenLink>()
    const nowMs = performance.now()
    let hits = 0
    for (let place = 0; place < requests.length; place++) {
      const request = requests[place]!
      const url = fingerprinter.known?.(request)
      if (url && cache.isMarked(url, taggedAsker, nowMs)) {
        hits++
        continue
      }
      const fingerprint = fingerprinter.fingerprint(request)
      const cached = cache.answer(fingerprint, taggedAsker, nowMs, url)
      if (cached !== 'seen' && unseen.has(fingerprint)) continue
      if (cached !== undefined) hits++
      if (cached !== 'seen')
        unseen.set(fingerprint, { fingerprint, request, url, place, answer: true, claim: cached })
    }
    if (hits > 0) stats?.inc('dupefilter/cache_hits', hits)
    return [...unseen.values()]
  }

  /** Asks, and asks again about links in doubt if an asker of this process was settled meanwhile: it may have been told of them. */
  async #askAllTwice(asked: readonly UnseenLink[], asker: string, taggedAsker: string): Promise<void> {
    const { claims } = this.#options
    const { settledCount } = claims
    await this.#askAll(asked, asker, taggedAsker)
    const left: UnseenLink[] = []
    for (const one of asked) {
      if (one.answer !== 'in doubt') continue
      one.claim = claims.claimOn(one.fingerprint)
      if (!one.claim) left.push(one)
    }
    if (left.length > 0 && settledCount !== claims.settledCount) await this.#askAll(left, asker, taggedAsker)
  }

  /** Waits a moment for the askers of this process that were told of links: most are settled soon, so that no link must be set aside. */
  async #endOrDoubt(held: readonly HeldLink[], asker: string, taggedAsker: string): Promise<void> {
    const { times } = this.#options
    const ends = [...new Set(held.map(({ claim }) => claim.ended))]
    if (!OF_NO_PAGE.test(asker)) await waitAtMost(times.doubts.ownMs, Promise.all(ends))
    for (const one of held) one.answer = one.claim.state === 'open' ? 'in doubt' : true
    const free = held.filter(({ claim }) => claim.state === 'over')
    if (free.length > 0) await this.#askAll(free, asker, taggedAsker)
  }

  /** Sets the answer of each. */
  async #askAll(asked: readonly UnseenLink[], asker: string, taggedAsker: string): Promise<void> {
    const { claims, run } = this.#options
    const claim = claims.ask(asker, taggedAsker, asked, run.current)
    try {
      await this.#askInParts(asked, taggedAsker, claim)
    } catch (error) {
      // Some links may be recorded for this attempt, and the page may yield others when it runs again.
      claims.giveUp(asker, claim)
      throw error
    }
  }

  #askInParts(asked: readonly UnseenLink[], taggedAsker: string, claim: Claim): Promise<unknown> {
    const { line, maxRequestsPerCall } = this.#options
    const most = maxRequestsPerCall()
    if (asked.length <= most) return this.#ask(asked, taggedAsker, claim)
    const parts: Promise<void>[] = []
    for (let from = 0; from < asked.length; from += most)
      parts.push(this.#ask(asked.slice(from, from + most), taggedAsker, claim))
    // The parts before have filled calls of their own: its end does not wait for their replies.
    line.sendAll()
    return Promise.all(parts)
  }

  async #ask(asked: readonly UnseenLink[], taggedAsker: string, claim: Claim): Promise<void> {
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
      const one = asked[n]!
      const { fingerprint, url } = one
      const answer = reply.answers[n]!
      one.answer = true
      if (answer === SEEN_FOR_GOOD) cache.add(fingerprint, cache.forGood, url)
      else if (answer === SEEN)
        cache.add(fingerprint, this.#toldIn(reply.told[told++]!, reply.now, askedAt), url)
      else if (answer === IN_DOUBT) one.answer = 'in doubt'
      else if (answer !== OWN_AND_QUEUED) {
        if (!taggedAsker.startsWith(IN_DOUBT_ASKER)) cache.add(fingerprint, own, url)
        one.answer = false
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

function isHeld(link: UnseenLink): link is HeldLink {
  return link.claim !== undefined
}
