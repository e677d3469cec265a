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
 * What an asker was told "new" for is pending, in memory only. It becomes seen in the transaction in which the queue
 * stores what that asker found: so a kill before it forgets both, and one after it loses neither. There is no stale
 * rule: pending entries die with the process that asked.
 */
export class SqliteDupeFilter implements DupeFilter {
  readonly #database: JobDatabase
  readonly #fingerprinter: Fingerprinter
  readonly #file: RequestsSeenFile
  readonly #logger: Logger
  /** The asker who was told "new", and in which of its questions. */
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

  async requestSeen(request: Request, asker?: string): Promise<boolean> {
    if (asker !== undefined) return (await this.requestsSeen([request], asker))[0] !== false
    const fingerprint = this.#fingerprinter.fingerprint(request)
    if (this.#pending.has(fingerprint)) return true
    return this.#database.atomically(() => !this.#record(fingerprint))
  }

  async has(request: Request): Promise<boolean> {
    const fingerprint = this.#fingerprinter.fingerprint(request)
    return this.#pending.has(fingerprint) || this.#isRecorded(fingerprint)
  }

  async requestsSeen(requests: readonly Request[], asker: string): Promise<Seen[]> {
    const claim: Claim = { asker, fingerprints: [] }
    const answers = requests.map((request) => this.#seenBy(claim, this.#fingerprinter.fingerprint(request)))
    if (claim.fingerprints.length > 0) {
      const earlier = this.#claims.get(asker)
      if (earlier) earlier.push(claim)
      else this.#claims.set(asker, [claim])
    }
    return answers
  }

  async settled(asker: string): Promise<void> {
    if (this.#claims.has(asker)) this.#database.atomically(() => this.record(asker))
  }

  async givenBack(asker: string): Promise<void> {
    for (const claim of this.#claims.get(asker) ?? []) {
      for (const fingerprint of claim.fingerprints) {
        if (this.#pending.get(fingerprint) === claim) this.#pending.delete(fingerprint)
      }
    }
    this.#claims.delete(asker)
  }

  /** Makes seen what `asker` was told "new" for: a part of the step in which its requests are queued. */
  record(asker: string): void {
    for (const { fingerprints } of this.#claims.get(asker) ?? []) {
      for (const fingerprint of fingerprints) {
        this.#pending.delete(fingerprint)
        this.#record(fingerprint)
      }
    }
    this.#claims.delete(asker)
  }

  async describe(): Promise<DupeFilterDescription> {
    const count = this.#seenCount + this.#pending.size
    return { name: 'disk', ...fingerprinterShown(this.#fingerprinter), count, owners: true }
  }

  #seenBy(claim: Claim, fingerprint: string): Seen {
    const holder = this.#pending.get(fingerprint)
    if (holder && holder.asker !== claim.asker) return 'in doubt'
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

/** One question of one asker. Entries of the same question are told apart from those of an earlier one. */
interface Claim {
  readonly asker: string
  readonly fingerprints: string[]
}
