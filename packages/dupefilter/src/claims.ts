import { randomUUID } from 'node:crypto'

/** One attempt of an owner: a callback that runs again makes another one. */
export interface Claim {
  /** The page as Redis knows it. */
  readonly owner: string
  readonly attempt: string
  /** The queue's run when it began, which is before anything of it was queued. */
  readonly run: string
  readonly told: Set<string>
}

/** What an owner has to have said when it is settled, or its page goes back. */
export interface Settling {
  readonly owner: string
  /** '' when another process has asked. */
  readonly attempt: string
  /** Absent when the page goes back: what this attempt was told is new is nobody's again. */
  readonly run?: string
}

// Owners that ask and are never settled (their page failed) would pile up; one that is forgotten is settled whole.
const CLAIMS_MAX = 20_000

/** The attempts that this process has under way, by page. */
export class Claims {
  readonly #nameOf: (page: string) => string
  readonly #claims = new Map<string, Claim>()
  readonly #process = randomUUID().slice(0, 13)
  #count = 0

  /** @param nameOf the name of a page's owner on Redis */
  constructor(nameOf: (page: string) => string) {
    this.#nameOf = nameOf
  }

  /**
   * The attempt that this question belongs to. An owner may ask in several parts; that its callback has run again shows
   * in that it asks again about what it was told is new.
   */
  ask(page: string, owner: string, fingerprints: readonly string[], run: string): Claim {
    const claim = this.#claims.get(page)
    if (claim && !fingerprints.some((fingerprint) => claim.told.has(fingerprint))) return claim
    if (!claim && this.#claims.size >= CLAIMS_MAX) this.#forgetOldest()
    const next: Claim = {
      owner,
      attempt: `${this.#process}.${(++this.#count).toString(36)}`,
      run,
      told: new Set(),
    }
    this.#claims.set(page, next)
    return next
  }

  /** The name of the page's owner on Redis. */
  ownerOf(page: string): string {
    return this.#claims.get(page)?.owner ?? this.#nameOf(page)
  }

  settle(page: string, run: string): Settling {
    const claim = this.#claims.get(page)
    this.#claims.delete(page)
    if (!claim) return { owner: this.#nameOf(page), attempt: '', run }
    return { owner: claim.owner, attempt: claim.attempt, run: claim.run }
  }

  /** The page goes back. Undefined when this process has not asked for it. */
  giveBack(page: string): Settling | undefined {
    const claim = this.#claims.get(page)
    this.#claims.delete(page)
    return claim && { owner: claim.owner, attempt: claim.attempt }
  }

  /** A question of this attempt has failed: the next one begins another. */
  giveUp(page: string, claim: Claim): void {
    if (this.#claims.get(page) === claim) this.#claims.delete(page)
  }

  clear(): void {
    this.#claims.clear()
  }

  #forgetOldest(): void {
    for (const page of this.#claims.keys()) {
      this.#claims.delete(page)
      return
    }
  }
}
