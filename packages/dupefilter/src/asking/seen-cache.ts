import { type KnownUrl, PROTOCOL_TIMES } from '@webloom/core'
import type { Claim } from './claims.ts'
import { FingerprintSet } from './fingerprint-set.ts'

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

/**
 * Fingerprints for which Redis would answer "seen", those met last.
 *
 * Only an answer that cannot change may be in here. What no asker was told is new is seen for good. What a settled asker was
 * told is new stays so for that asker, and once it may be stale for anybody: it is known with that asker, and until then. What
 * this process was told is new is in doubt while its asker is not settled. All may be new again after
 * `clear`, `forget`, and when a page that runs again no longer yields them: these change the filter's generation, which
 * comes with each answer and empties this cache.
 *
 * Nearly all are seen for good, of which nothing but the fingerprint is kept. What is known until it may be stale, ten seconds by default, is in two halves:
 * when the younger one is full, or all that it had at first is stale, the older one is forgotten. If one of it is asked about again, Redis says that it is
 * seen for good.
 *
 * A URL is marked with what is known of its fingerprint, and is looked up no more once it is seen. Maps of thousands of texts do not fit
 * into the caches of a processor, so that finding the 30 links of a page took 14 µs.
 */
export class SeenCache {
  readonly #trustMs: number
  /** How many each half may have. */
  readonly #halfSize: number
  /** Another object once the cache was emptied: marks of before do not count. */
  #contents = {}
  #forGood = new Told(this.#contents)
  /** Undefined where nothing is to be kept. */
  readonly #seenForGood: FingerprintSet | undefined
  #younger = new Map<string, Told>()
  #older = new Map<string, Told>()
  #youngerUntilMs = 0
  #generation: string | undefined
  #toldAt = Number.NEGATIVE_INFINITY

  /**
   * @param size of fingerprints that are seen for good; of others it keeps a third as many
   * @param trustMs how long a generation is trusted: a filter that another process has cleared is noticed after that
   */
  constructor(size: number, trustMs = PROTOCOL_TIMES.filter.trustMs) {
    this.#trustMs = trustMs
    this.#halfSize = Math.ceil(size / 6)
    this.#seenForGood = size > 0 ? new FingerprintSet(size) : undefined
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
    if (this.#seenForGood?.has(fingerprint)) return this.#forGood
    return this.#younger.get(fingerprint) ?? this.#older.get(fingerprint)
  }

  #answer(told: Told, taggedAsker: string, nowMs: number): 'seen' | Claim | undefined {
    if (nowMs - this.#toldAt > this.#trustMs) return undefined
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
    this.#toldAt = Math.max(this.#toldAt, askedAt)
    if (generation === this.#generation) return false
    const hadSome = (this.#seenForGood?.size ?? 0) + this.#younger.size + this.#older.size > 0
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
    if (!this.#seenForGood) return
    url?.mark(told)
    if (told === this.#forGood) this.#seenForGood.add(fingerprint)
    else this.#addForNow(fingerprint, told)
  }

  #addForNow(fingerprint: string, told: Told): void {
    if (this.#younger.size >= this.#halfSize || this.#youngerUntilMs < this.#toldAt) {
      this.#older = this.#younger
      this.#younger = new Map()
      this.#youngerUntilMs = told.untilMs
    }
    this.#younger.set(fingerprint, told)
  }

  clear(): void {
    this.#seenForGood?.clear()
    this.#younger.clear()
    this.#older.clear()
    this.#contents = {}
    this.#forGood = new Told(this.#contents)
    this.#generation = undefined
  }
}
