import { randomUUID } from 'node:crypto'
import { PassingMap } from '@webloom/core'
import type { Asked } from './asked.ts'

const NONE: ReadonlySet<string> = new Set()

/** One attempt of an asker. A callback that runs again makes another attempt. */
export class Claim {
  /** Its asker as Redis knows it: with the tag of the crawl. */
  readonly taggedAsker: string
  readonly attempt: string
  /** The queue's run when the attempt began, before any of its links was queued. */
  readonly run: string
  // Ended attempts are remembered by the thousand.
  #told: Set<string> | undefined
  #state: 'open' | 'settled' | 'over' = 'open'
  #ended: PromiseWithResolvers<void> | undefined

  constructor(taggedAsker: string, attempt: string, run: string) {
    this.taggedAsker = taggedAsker
    this.attempt = attempt
    this.run = run
  }

  /** `settled`: its asker's links are queued. `over`: they are not, or another attempt has begun. */
  get state(): 'open' | 'settled' | 'over' {
    return this.#state
  }

  /** Fingerprints that this attempt was told are new; none once it has ended. */
  get told(): ReadonlySet<string> {
    return this.#told ?? NONE
  }

  /** Notes that the attempt was told that the fingerprint is new. */
  tell(fingerprint: string): void {
    if (this.#state !== 'open') return
    this.#told ??= new Set()
    this.#told.add(fingerprint)
  }

  end(as: 'settled' | 'over'): void {
    this.#state = as
    this.#told = undefined
    this.#ended?.resolve()
    this.#ended = undefined
  }

  /** Resolves when the attempt is no longer open. */
  get ended(): Promise<void> {
    if (this.#state !== 'open') return Promise.resolve()
    this.#ended ??= Promise.withResolvers()
    return this.#ended.promise
  }
}

/** The names of askers of links in doubt begin with this. */
export const IN_DOUBT_ASKER = 'doubt/'
/** Settles an asker, whichever of its attempts asked. */
const ANY_ATTEMPT = '*'

/** In the place of an attempt: what the asker had settled is lost with an older state of its queue. */
const LOST_WITH_QUEUE = '!'

/** In the place of an attempt: it has asked other parts of the filter, and not this one. */
export const ELSEWHERE = '-'

/** What Redis is told when an asker is settled, or gives back what it was told. */
export interface Settling {
  readonly taggedAsker: string
  /**
   * The attempt whose links are queued; links that only other attempts were told are new are free again. Or ANY_ATTEMPT; or
   * LOST_WITH_QUEUE, with the present run: what was settled in an earlier one is settled no more. Or ELSEWHERE: what other
   * attempts were told is new here is free again.
   */
  readonly attempt: string
  /** Absent when the asker gives back: links that this attempt was told are new are free again. */
  readonly run?: string
}

// Askers that are never settled, as their page failed, would pile up. If one is settled after it was forgotten, its links
// are free again, and the next page that meets them has them fetched a second time.
const CLAIMS_MAX = 20_000

/** The attempts that this process has under way, by asker. */
export class Claims {
  readonly #tag: (asker: string) => string
  readonly #claims = new PassingMap<string, Claim>()
  /** By fingerprint: the open attempt that was told it is new. */
  readonly #open = new PassingMap<string, Claim>()
  readonly #process = randomUUID().slice(0, 13)
  #count = 0
  #settledCount = 0

  /** @param tag returns an asker's name on Redis */
  constructor(tag: (asker: string) => string) {
    this.#tag = tag
  }

  /**
   * Returns the attempt that this question belongs to. An asker may ask in several parts. Its callback has run again when
   * it asks again about links that it was told are new.
   */
  ask(asker: string, taggedAsker: string, asked: readonly Pick<Asked, 'fingerprint'>[], run: string): Claim {
    const claim = this.#claims.get(asker)
    if (claim && !asked.some(({ fingerprint }) => claim.told.has(fingerprint))) return claim
    if (!claim && this.#claims.size >= CLAIMS_MAX) this.#forgetOldest()
    if (claim) this.#end(asker, claim, 'over')
    const next = new Claim(taggedAsker, this.#newAttempt(), run)
    this.#claims.set(asker, next)
    return next
  }

  /** Returns what Redis is told when the queue, now in `run`, has lost what the asker had queued. */
  lost(asker: string, run: string): Settling {
    return { taggedAsker: this.taggedAskerOf(asker), attempt: LOST_WITH_QUEUE, run }
  }

  /** How many attempts were settled so far. */
  get settledCount(): number {
    return this.#settledCount
  }

  /** Notes that the attempt was told that the fingerprint is new. */
  told(claim: Claim, fingerprint: string): void {
    claim.tell(fingerprint)
    if (claim.state === 'open') this.#open.set(fingerprint, claim)
  }

  /** Returns the open attempt that was told that the fingerprint is new. */
  claimOn(fingerprint: string): Claim | undefined {
    return this.#open.get(fingerprint)
  }

  /** Returns the queue's run when the asker's present attempt began; undefined when it has none. */
  runOf(asker: string): string | undefined {
    return this.#claims.get(asker)?.run
  }

  /** Returns whether the asker's present attempt was told of a new link. */
  hasTold(asker: string): boolean {
    return (this.#claims.get(asker)?.told.size ?? 0) > 0
  }

  /** The asker's name on Redis. */
  taggedAskerOf(asker: string): string {
    return this.#claims.get(asker)?.taggedAsker ?? this.#tag(asker)
  }

  /**
   * Settles a page's attempt, and returns what Redis must be told.
   *
   * An asker that has not asked here is settled as an attempt that asked about nothing: links that another process was told
   * are new for it are queued by nobody, and must not count as queued.
   *
   * An asker `doubt/…` has one link, and is settled when the queue has said that this link is queued. It does not matter
   * that another worker took the doubt over and asked last.
   */
  settle(asker: string, run: string): Settling {
    const claim = this.#claims.get(asker)
    if (claim) {
      this.#end(asker, claim, 'settled')
      this.#settledCount++
    }
    const attempt = asker.startsWith(IN_DOUBT_ASKER) ? ANY_ATTEMPT : (claim?.attempt ?? this.#newAttempt())
    return { taggedAsker: claim?.taggedAsker ?? this.#tag(asker), attempt, run: claim?.run ?? run }
  }

  /** Returns what the parts of a filter are told that this attempt has not asked. */
  elsewhere(asker: string, run: string): Settling {
    return { taggedAsker: this.taggedAskerOf(asker), attempt: ELSEWHERE, run: this.runOf(asker) ?? run }
  }

  /** Ends the asker's attempt. Returns undefined when this process was told of no new link for it. */
  giveBack(asker: string): Settling | undefined {
    const claim = this.#claims.get(asker)
    if (!claim) return undefined
    const wasTold = claim.told.size > 0
    this.#end(asker, claim)
    return wasTold ? { taggedAsker: claim.taggedAsker, attempt: claim.attempt } : undefined
  }

  /** A question of this attempt has failed: the next question begins another attempt. */
  giveUp(asker: string, claim: Claim): void {
    if (this.#claims.get(asker) === claim) this.#end(asker, claim)
  }

  clear(): void {
    for (const [asker, claim] of this.#claims) this.#end(asker, claim)
  }

  #newAttempt(): string {
    return `${this.#process}.${(++this.#count).toString(36)}`
  }

  #end(asker: string, claim: Claim, as: 'settled' | 'over' = 'over'): void {
    for (const fingerprint of claim.told)
      if (this.#open.get(fingerprint) === claim) this.#open.delete(fingerprint)
    this.#claims.delete(asker)
    claim.end(as)
  }

  #forgetOldest(): void {
    const [oldest] = this.#claims
    if (oldest) this.#end(...oldest)
  }
}

/** Returns whether a settling is about an asker that has asked other parts of the filter. */
export function isElsewhere({ attempt }: Settling): boolean {
  return attempt === ELSEWHERE
}
