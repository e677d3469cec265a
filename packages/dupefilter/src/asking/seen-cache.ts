import { PROTOCOL_TIMES } from '@webloom/core'
import type { Claim } from './claims.ts'

/** Another asker that was told "new" for a fingerprint, or several. */
export interface ToldAsker {
  /** Its name on Redis, or how that begins. */
  readonly taggedAsker: string
  /** Until then nobody but this asker will be told "new"; by `performance.now()`. */
  readonly untilMs: number
  /** Set when this process was told. Pages of other processes have told Redis that they are settled. */
  readonly claim?: Claim
}

/**
 * Fingerprints for which Redis would answer "seen", those met last.
 *
 * Only an answer that cannot change may be in here. What no asker was told is new is seen for good. What a settled asker was
 * told is new stays so for that asker, and once it may be stale for anybody: it is known with that asker, and until then. What
 * this process was told is new is in doubt while its asker is not settled. All may be met again after
 * `clear`, `forget`, and when a page that runs again no longer yields them: these change the filter's generation, which
 * comes with each answer and empties this cache.
 *
 * The fingerprints are in two halves. A fingerprint of the older half that is met again moves to the younger one; when that
 * is full, the older one is forgotten. To move each fingerprint to the end of one map whenever it is met would cost three
 * times as much.
 */
export class SeenCache {
  readonly #halfSize: number
  readonly #trustMs: number
  #younger = new Map<string, ToldAsker | undefined>()
  #older = new Map<string, ToldAsker | undefined>()
  #generation: string | undefined
  #toldAt = Number.NEGATIVE_INFINITY

  /** @param trustMs how long a generation is trusted: a filter that another process has cleared is noticed after that */
  constructor(size: number, trustMs = PROTOCOL_TIMES.filter.trustMs) {
    this.#trustMs = trustMs
    this.#halfSize = Math.ceil(size / 2)
  }

  /**
   * Returns undefined when Redis must be asked; always when the generation has not been heard of for a while. Returns a
   * claim of this process when the link is in doubt until that claim has ended.
   *
   * @param nowMs by `performance.now()`
   */
  answer(fingerprint: string, taggedAsker: string, nowMs: number): 'seen' | Claim | undefined {
    let told = this.#younger.get(fingerprint)
    const isYoung = told !== undefined || this.#younger.has(fingerprint)
    if (!isYoung) {
      told = this.#older.get(fingerprint)
      if (told === undefined && !this.#older.has(fingerprint)) return undefined
    }
    if (nowMs - this.#toldAt > this.#trustMs) return undefined
    if (told && (nowMs > told.untilMs || taggedAsker.startsWith(told.taggedAsker))) return undefined
    if (told?.claim?.state === 'over') return undefined
    if (!isYoung) this.add(fingerprint, told)
    return told?.claim?.state === 'open' ? told.claim : 'seen'
  }

  /**
   * Takes the generation that came with an answer. Called before `add` for the fingerprints of that answer. Returns true
   * when the filter was cleared meanwhile, or a request was taken out of it; then the cache is emptied.
   */
  heardOf(generation: string, askedAt: number): boolean {
    this.#toldAt = Math.max(this.#toldAt, askedAt)
    if (generation === this.#generation) return false
    const hadSome = this.#younger.size + this.#older.size > 0
    this.clear()
    this.#generation = generation
    return hadSome
  }

  /** @param told who was told "new"; absent when it is seen for good */
  add(fingerprint: string, told?: ToldAsker): void {
    if (this.#halfSize === 0) return
    if (this.#younger.size >= this.#halfSize) {
      this.#older = this.#younger
      this.#younger = new Map()
    }
    this.#younger.set(fingerprint, told)
  }

  clear(): void {
    this.#younger.clear()
    this.#older.clear()
    this.#generation = undefined
  }
}
