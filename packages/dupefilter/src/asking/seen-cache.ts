import { type KnownUrl, PROTOCOL_TIMES } from '@webloom/core'
import type { Claim } from './claims.ts'
import { RecentDigests } from './recent-digests.ts'

/** Who was told "new" for a fingerprint, or several: another asker, or nobody that is still known, and then it is seen for good. */
export class Told {
  /** The asker's name on Redis, or how that begins; undefined: nobody. */
  readonly taggedAsker: string | undefined
  /** Until then nobody but this asker will be told "new"; by `performance.now()`. */
  readonly untilMs: number
  /** Set when this process was told. Pages of other processes have told Redis that they are settled. */
  readonly claim: Claim | undefined
  /** What `SeenCache` held when this was learned. */
  readonly contents: object

  constructor(contents: object, taggedAsker?: string, untilMs = Number.POSITIVE_INFINITY, claim?: Claim) {
    this.contents = contents
    this.taggedAsker = taggedAsker
    this.untilMs = untilMs
    this.claim = claim
  }
}

export interface SeenCacheOptions {
  /** For how many fingerprints that are seen for good there is room. 0: nothing is kept. */
  readonly size: number
  /** Every fingerprint is a SHA-1. Otherwise they may be any texts, and the digest of each is taken. */
  readonly isSha1: boolean
  /** How old an answer that may change can become. */
  readonly staleMs: number
  /** How long a generation is trusted: a filter that another process has cleared is noticed after that. */
  readonly trustMs?: number
}

// In each of two maps, some 400 bytes each with the attempt that was told: 20 MB where 2500 links a second are new.
const TOLD_MAX = 25_000

/**
 * Fingerprints for which Redis would answer "seen", those met last.
 *
 * Only an answer that cannot change may be in here. What no asker was told is new is seen for good. What a settled asker was
 * told is new stays so for that asker, and once it may be stale for anybody: it is known with that asker, and until then. What
 * this process was told is new is in doubt while its asker is not settled. All may be new again after
 * `clear`, `forget`, and when a page that runs again no longer yields them: these change the filter's generation, which
 * comes with each answer and empties this cache.
 *
 * Of those that are seen for good nothing but a digest is kept. Answers that may change are kept by age, in two maps: when the younger one is full, or as old as
 * an answer may become, the older one is forgotten. If one of it is asked about again, Redis says that it is seen for good.
 *
 * A URL is marked with what is known of its fingerprint, and is looked up no more once it is seen. Maps of thousands of texts do not fit
 * into the caches of a processor, so that finding the 30 links of a page took 14 µs.
 */
export class SeenCache {
  readonly #options: Required<SeenCacheOptions>
  /** Another object once the cache was emptied: marks of before do not count. */
  #contents = {}
  #forGood = new Told(this.#contents)
  /** Of those that are seen for good. Undefined where nothing is to be kept. */
  readonly #digests: RecentDigests | undefined
  #toldLately = new Map<string, Told>()
  #toldBefore = new Map<string, Told>()
  /** Since when some are told lately. */
  #latelySinceMs = Number.NEGATIVE_INFINITY
  #generation: string | undefined
  #heardAtMs = Number.NEGATIVE_INFINITY

  constructor(options: SeenCacheOptions) {
    this.#options = { trustMs: PROTOCOL_TIMES.filter.trustMs, ...options }
    this.#digests = options.size > 0 ? new RecentDigests(options.size, options.isSha1) : undefined
  }

  /**
   * True when the URL is marked as seen. When not, its fingerprint must be looked up.
   *
   * @param nowMs by `performance.now()`
   */
  isMarked(url: KnownUrl, taggedAsker: string, nowMs: number): boolean {
    const told = url.markedBy
    if (!(told instanceof Told) || told.contents !== this.#contents) return false
    return this.#answer(told, taggedAsker, nowMs) === 'seen'
  }

  /**
   * Returns undefined when Redis must be asked; always when the generation has not been heard of for a while. Returns a
   * claim of this process when the link is in doubt until that claim has ended.
   *
   * @param nowMs by `performance.now()`
   * @param url all requests to it have this fingerprint: it is marked with what was found
   */
  answer(
    fingerprint: string,
    taggedAsker: string,
    nowMs: number,
    url: KnownUrl | undefined,
  ): 'seen' | Claim | undefined {
    const told = this.#toldOf(fingerprint)
    const answer = told && this.#answer(told, taggedAsker, nowMs)
    if (told === undefined || answer === undefined) return undefined
    url?.mark(told)
    return answer
  }

  #toldOf(fingerprint: string): Told | undefined {
    if (this.#digests?.has(fingerprint)) return this.#forGood
    return this.#toldLately.get(fingerprint) ?? this.#toldBefore.get(fingerprint)
  }

  #answer(told: Told, taggedAsker: string, nowMs: number): 'seen' | Claim | undefined {
    if (nowMs - this.#heardAtMs > this.#options.trustMs) return undefined
    if (told.taggedAsker === undefined) return 'seen'
    if (nowMs > told.untilMs || taggedAsker.startsWith(told.taggedAsker)) return undefined
    const state = told.claim?.state
    if (state === 'over') return undefined
    return state === 'open' ? told.claim : 'seen'
  }

  /**
   * Takes the generation that came with an answer. Called before `add` for the fingerprints of that answer. Returns true
   * when the filter was cleared meanwhile, or a request was taken out of it; then the cache is emptied.
   */
  heardOf(generation: string, askedAt: number): boolean {
    this.#heardAtMs = Math.max(this.#heardAtMs, askedAt)
    if (generation === this.#generation) return false
    const hadSome = (this.#digests?.size ?? 0) + this.#toldLately.size + this.#toldBefore.size > 0
    this.clear()
    this.#generation = generation
    return hadSome
  }

  /** Nobody, for `add`: seen for good. */
  get forGood(): Told {
    return this.#forGood
  }

  /** Returns who was told "new", for `add`; as long as the cache is not emptied. */
  told(taggedAsker: string, untilMs: number, claim?: Claim): Told {
    return new Told(this.#contents, taggedAsker, untilMs, claim)
  }

  /** @param url as in `answer` */
  add(fingerprint: string, told: Told, url?: KnownUrl): void {
    if (!this.#digests || told.untilMs <= this.#heardAtMs) return
    url?.mark(told)
    if (told === this.#forGood) this.#digests.add(fingerprint)
    else this.#addForNow(fingerprint, told)
  }

  #addForNow(fingerprint: string, told: Told): void {
    const { size, staleMs } = this.#options
    const isFull = this.#toldLately.size >= Math.min(size, TOLD_MAX)
    if (isFull || this.#heardAtMs - this.#latelySinceMs > staleMs) {
      this.#toldBefore = this.#toldLately
      this.#toldLately = new Map()
      this.#latelySinceMs = this.#heardAtMs
    }
    this.#toldLately.set(fingerprint, told)
  }

  clear(): void {
    this.#digests?.clear()
    this.#toldLately.clear()
    this.#toldBefore.clear()
    this.#contents = {}
    this.#forGood = new Told(this.#contents)
    this.#generation = undefined
  }
}
