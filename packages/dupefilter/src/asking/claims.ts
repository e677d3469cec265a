import { randomUUID } from 'node:crypto'

/** One attempt of an asker: a callback that runs again makes another one. */
export class Claim {
  /** The page as Redis knows it. */
  readonly asker: string
  readonly attempt: string
  /** The queue's run when the attempt began, before any of its links was queued. */
  readonly run: string
  /** Fingerprints that this attempt was told are new. */
  readonly told = new Set<string>()
  #state: 'open' | 'settled' | 'over' = 'open'
  #ended: PromiseWithResolvers<void> | undefined

  constructor(asker: string, attempt: string, run: string) {
    this.asker = asker
    this.attempt = attempt
    this.run = run
  }

  /** `settled`: its page's links are queued. `over`: they are not, or another attempt has begun. */
  get state(): 'open' | 'settled' | 'over' {
    return this.#state
  }

  end(as: 'settled' | 'over'): void {
    this.#state = as
    this.#ended?.resolve()
  }

  /** Resolves when the attempt is no longer open. */
  get ended(): Promise<void> {
    if (this.#state !== 'open') return Promise.resolve()
    this.#ended ??= Promise.withResolvers()
    return this.#ended.promise
  }
}

/** The names of askers of links in doubt begin so. */
export const IN_DOUBT_ASKER = 'doubt/'
/** Settles an asker whichever of its attempts asked. */
const ANY_ATTEMPT = '*'

/** What Redis is told when an asker is settled, or its page goes back. */
export interface Settling {
  readonly asker: string
  /** The attempt whose links are queued; links that only other attempts were told are new are free again. Or ANY_ATTEMPT. */
  readonly attempt: string
  /** Absent when the page goes back: links that this attempt was told are new are free again. */
  readonly run?: string
}

// Askers that are never settled, as their page failed, would pile up. If one that was forgotten is settled after all, its links
// are free again, and the next page that meets them has them fetched a second time.
const CLAIMS_MAX = 20_000

/** The attempts that this process has under way, by page. */
export class Claims {
  readonly #nameOf: (page: string) => string
  readonly #claims = new Map<string, Claim>()
  /** By fingerprint: the open attempt that holds it. */
  readonly #holders = new Map<string, Claim>()
  readonly #process = randomUUID().slice(0, 13)
  #count = 0
  #settledCount = 0

  /** @param nameOf the name of a page's asker on Redis */
  constructor(nameOf: (page: string) => string) {
    this.#nameOf = nameOf
  }

  /**
   * The attempt that this question belongs to. An asker may ask in several parts; that its callback has run again shows
   * in that it asks again about what it was told is new.
   */
  ask(page: string, asker: string, fingerprints: readonly string[], run: string): Claim {
    const claim = this.#claims.get(page)
    if (claim && !fingerprints.some((fingerprint) => claim.told.has(fingerprint))) return claim
    if (!claim && this.#claims.size >= CLAIMS_MAX) this.#forgetOldest()
    if (claim) this.#end(page, claim, 'over')
    const next = new Claim(asker, this.#newAttempt(), run)
    this.#claims.set(page, next)
    return next
  }

  /** How many were settled so far. */
  get settledCount(): number {
    return this.#settledCount
  }

  /** The attempt was told that the fingerprint is new. */
  told(claim: Claim, fingerprint: string): void {
    claim.told.add(fingerprint)
    if (claim.state === 'open') this.#holders.set(fingerprint, claim)
  }

  /** Returns the open attempt that was told that the fingerprint is new. */
  holderOf(fingerprint: string): Claim | undefined {
    return this.#holders.get(fingerprint)
  }

  /** The name of the page's asker on Redis. */
  askerOf(page: string): string {
    return this.#claims.get(page)?.asker ?? this.#nameOf(page)
  }

  /**
   * An asker that has not asked here is settled as an attempt that asked about nothing: what another process was told for
   * it is queued by nobody, and must not count as queued.
   *
   * An asker `doubt/…` has one link, and is settled when the queue has said that this one is queued: that another worker
   * took the doubt over, and asked last, changes nothing about it.
   */
  settle(page: string, run: string): Settling {
    const claim = this.#claims.get(page)
    if (claim) {
      this.#end(page, claim, 'settled')
      this.#settledCount++
    }
    const attempt = page.startsWith(IN_DOUBT_ASKER) ? ANY_ATTEMPT : (claim?.attempt ?? this.#newAttempt())
    return { asker: claim?.asker ?? this.#nameOf(page), attempt, run: claim?.run ?? run }
  }

  /** The page goes back. Returns undefined when this process was told of no new link for it. */
  giveBack(page: string): Settling | undefined {
    const claim = this.#claims.get(page)
    if (!claim) return undefined
    this.#end(page, claim)
    return claim.told.size > 0 ? { asker: claim.asker, attempt: claim.attempt } : undefined
  }

  /** A question of this attempt has failed: the next question begins another attempt. */
  giveUp(page: string, claim: Claim): void {
    if (this.#claims.get(page) === claim) this.#end(page, claim)
  }

  clear(): void {
    for (const [page, claim] of this.#claims) this.#end(page, claim)
  }

  #newAttempt(): string {
    return `${this.#process}.${(++this.#count).toString(36)}`
  }

  #end(page: string, claim: Claim, as: 'settled' | 'over' = 'over'): void {
    for (const fingerprint of claim.told)
      if (this.#holders.get(fingerprint) === claim) this.#holders.delete(fingerprint)
    this.#claims.delete(page)
    claim.end(as)
  }

  #forgetOldest(): void {
    const [oldest] = this.#claims
    if (oldest) this.#end(...oldest)
  }
}
