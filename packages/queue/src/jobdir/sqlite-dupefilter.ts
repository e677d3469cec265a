import {
  createFingerprinter,
  type DupeFilter,
  type DupeFilterDescription,
  type Fingerprinter,
  fingerprinterNote,
  fingerprinterOfNote,
  fingerprinterShown,
  type Logger,
  type Request,
  type Seen,
  SettingsError,
  silentLogger,
  type UrlRules,
  urlRulesOfNote,
} from '@webloom/core'
import { keyOf } from './fingerprint-key.ts'
import type { JobDatabase } from './job-database.ts'
import { RequestsSeenFile } from './requests-seen-file.ts'

export interface SqliteDupeFilterOptions {
  readonly database: JobDatabase
  readonly fingerprinter?: Fingerprinter
  readonly logger?: Logger
}

/**
 * The seen requests of a JOBDIR.
 *
 * What an owner was told "new" for is pending, in memory only. It becomes seen in the transaction in which the queue
 * stores what that owner found: so a kill before it forgets both, and one after it loses neither. There is no stale
 * rule: pending entries die with the process that asked.
 */
export class SqliteDupeFilter implements DupeFilter {
  readonly #database: JobDatabase
  readonly #fingerprinter: Fingerprinter
  readonly #file: RequestsSeenFile
  readonly #logger: Logger
  /** The owner who was told "new", and in which of its questions. */
  readonly #pending = new Map<string, Claim>()
  readonly #claims = new Map<string, Claim[]>()
  #seenCount = 0

  constructor({
    database,
    fingerprinter = createFingerprinter(),
    logger = silentLogger,
  }: SqliteDupeFilterOptions) {
    this.#database = database
    this.#fingerprinter = fingerprinter
    this.#logger = logger
    this.#file = new RequestsSeenFile({ database, logger })
  }

  async open(): Promise<void> {
    this.#database.open()
    this.#checkFingerprinter()
    await this.#file.open()
    this.#seenCount = this.#countSeen()
  }

  async close(): Promise<void> {
    this.#file.close()
  }

  async clear(): Promise<void> {
    this.#pending.clear()
    this.#claims.clear()
    this.#database.run('DELETE FROM seen')
    this.#file.clear()
    this.#seenCount = 0
  }

  async requestSeen(request: Request, owner?: string): Promise<boolean> {
    if (owner !== undefined) return (await this.requestsSeen([request], owner))[0] !== false
    const fingerprint = this.#fingerprinter.fingerprint(request)
    if (this.#pending.has(fingerprint)) return true
    return this.#database.atomically(() => !this.#record(fingerprint))
  }

  async requestsSeen(requests: readonly Request[], owner: string): Promise<Seen[]> {
    const claim: Claim = { owner, fingerprints: [] }
    const answers = requests.map((request) => this.#seenBy(claim, this.#fingerprinter.fingerprint(request)))
    if (claim.fingerprints.length > 0) {
      const earlier = this.#claims.get(owner)
      if (earlier) earlier.push(claim)
      else this.#claims.set(owner, [claim])
    }
    return answers
  }

  async settled(owner: string): Promise<void> {
    if (this.#claims.has(owner)) this.#database.atomically(() => this.record(owner))
  }

  async givenBack(owner: string): Promise<void> {
    for (const claim of this.#claims.get(owner) ?? []) {
      for (const fingerprint of claim.fingerprints) {
        if (this.#pending.get(fingerprint) === claim) this.#pending.delete(fingerprint)
      }
    }
    this.#claims.delete(owner)
  }

  /** Makes seen what `owner` was told "new" for: a part of the step in which its requests are queued. */
  record(owner: string): void {
    for (const { fingerprints } of this.#claims.get(owner) ?? []) {
      for (const fingerprint of fingerprints) {
        this.#pending.delete(fingerprint)
        this.#record(fingerprint)
      }
    }
    this.#claims.delete(owner)
  }

  async describe(): Promise<DupeFilterDescription> {
    const count = this.#seenCount + this.#pending.size
    return { name: 'disk', ...fingerprinterShown(this.#fingerprinter), count, owners: true }
  }

  #seenBy(claim: Claim, fingerprint: string): Seen {
    const holder = this.#pending.get(fingerprint)
    if (holder && holder.owner !== claim.owner) return 'in doubt'
    // The same claim means that the batch holds the request twice.
    if (holder ? holder === claim : this.#isRecorded(fingerprint)) return true
    this.#pending.set(fingerprint, claim)
    claim.fingerprints.push(fingerprint)
    return false
  }

  #isRecorded(fingerprint: string): boolean {
    return this.#database.get('SELECT 1 FROM seen WHERE fingerprint = ?', keyOf(fingerprint)) !== undefined
  }

  /** False when it was there. */
  #record(fingerprint: string): boolean {
    const { changes } = this.#database.run(
      'INSERT OR IGNORE INTO seen (fingerprint) VALUES (?)',
      keyOf(fingerprint),
    )
    if (changes === 0) return false
    this.#seenCount++
    this.#file.append(fingerprint)
    return true
  }

  /** Rows are numbered from 1 and never removed one by one, so the last number is their count. */
  #countSeen(): number {
    return this.#database.get<{ count: number }>('SELECT coalesce(max(number), 0) AS count FROM seen')!.count
  }

  #checkFingerprinter(): void {
    const before = this.#database.get<{ name: string | null }>(
      'SELECT fingerprinter AS name FROM crawl',
    )?.name
    if (before !== null && before !== undefined) this.#follow(urlRulesOfNote(before))
    const { name } = this.#fingerprinter
    if (before === null || before === undefined)
      this.#database.run('UPDATE crawl SET fingerprinter = ?', fingerprinterNote(this.#fingerprinter))
    else if (fingerprinterOfNote(before) !== name)
      throw new SettingsError([
        `JOBDIR ${this.#database.folder} was begun with FINGERPRINTER=${fingerprinterOfNote(before)}; with ${name} everything in it would count as new. Set FINGERPRINTER=${fingerprinterOfNote(before)}, or choose another folder`,
      ])
  }

  /** A crawl that was begun goes on by the rules of its fingerprints, which name what is queued, too. */
  #follow(noted: UrlRules): void {
    const { urlRules } = this.#fingerprinter
    if (urlRules === undefined || urlRules.current === noted) return
    urlRules.follow(noted, `JOBDIR ${this.#database.folder}`, 'choose another folder')
    this.#logger.info(
      `URLs go by the rules of ${noted} (URL_RULES): JOBDIR ${this.#database.folder} was begun by them`,
    )
  }
}

/** One question of one owner. Entries of the same question are told apart from those of an earlier one. */
interface Claim {
  readonly owner: string
  readonly fingerprints: string[]
}
