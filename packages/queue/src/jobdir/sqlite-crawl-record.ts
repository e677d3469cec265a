import { type CrawlPast, type CrawlRecord, UsageError, WebloomError } from '@webloom/core'
import type { SlotGrouping } from '../politeness/host-slots.ts'
import type { JobDatabase } from './job-database.ts'

interface CrawlRow {
  readonly state: string
  readonly endedMs: number | null
  readonly startCursor: number
  readonly startEnded: number
}

/** The crawl's record in its JOBDIR. It opens and closes the folder for queue and filter. */
export class SqliteCrawlRecord implements CrawlRecord {
  readonly #database: JobDatabase
  readonly #groupBy: SlotGrouping | undefined
  readonly #wakes: boolean
  readonly #beginsAnew: boolean
  #startCursor = 0
  #startEnded = false

  /**
   * @param parts `wakes`: a finished crawl goes on, for a spider to which seeds may come; `beginsAnew`: it goes on as another run, whose
   *   `start()` and outputs begin anew; `groupBy`: POLITENESS_GROUP_BY, absent for a command that queues nothing
   */
  constructor({
    database,
    groupBy,
    wakes = false,
    beginsAnew = false,
  }: {
    database: JobDatabase
    groupBy?: SlotGrouping
    wakes?: boolean
    beginsAnew?: boolean
  }) {
    this.#database = database
    this.#groupBy = groupBy
    this.#wakes = wakes || beginsAnew
    this.#beginsAnew = beginsAnew
  }

  async open(): Promise<CrawlPast> {
    this.#database.open()
    this.#groupsAsBefore()
    const { state, endedMs, startCursor, startEnded } = this.#database.get<CrawlRow>(
      'SELECT state, ended_ms AS endedMs, start_cursor AS startCursor, start_ended AS startEnded FROM crawl',
    )!
    const isAnew = state === 'finished' && this.#beginsAnew
    if (isAnew) this.#beginAnew()
    this.#startCursor = isAnew ? 0 : startCursor
    this.#startEnded = !isAnew && startEnded === 1
    const past: CrawlPast = { begun: state !== 'idle', ...(isAnew && { isNextRun: true }) }
    if (state === 'finished' && !this.#wakes) return { ...past, finishedAt: new Date(endedMs ?? 0) }
    this.#database.run(
      "UPDATE crawl SET state = 'running', begun_ms = coalesce(begun_ms, ?), ended_ms = NULL, finish_reason = NULL",
      Date.now(),
    )
    return past
  }

  /** A finished crawl goes on when it is run again, for it is given work. Opens the folder. */
  reopen({ startEnded }: { startEnded: boolean }): void {
    this.#database.open()
    this.#groupsAsBefore()
    this.#database.run("UPDATE crawl SET state = 'stopped', finish_reason = NULL WHERE state <> 'idle'")
    if (startEnded) this.#database.run('UPDATE crawl SET start_ended = 1')
  }

  /** What is queued is in lines by that. Folders of earlier releases do not tell, and go on. */
  #groupsAsBefore(): void {
    if (!this.#groupBy) return
    const noted = this.#database.notedGroupBy()
    const isQueued = this.#database.get('SELECT 1 FROM requests LIMIT 1') !== undefined
    if (noted && isQueued && noted !== this.#groupBy) {
      const { folder } = this.#database
      this.#database.close()
      throw new UsageError(
        'WL_USAGE',
        `POLITENESS_GROUP_BY is ${this.#groupBy}, and what waits in JOBDIR ${folder} was queued with ${noted}: it is in lines by that, and a site would be asked at two paces at once. Go on with -s POLITENESS_GROUP_BY=${noted} until nothing waits there, or choose another folder`,
      )
    }
    if (noted !== this.#groupBy) this.#database.run('UPDATE crawl SET group_by = ?', this.#groupBy)
  }

  #beginAnew(): void {
    this.#database.atomically(() => {
      this.#database.run('UPDATE crawl SET start_cursor = 0, start_ended = 0, begun_ms = NULL')
      this.#database.run('DELETE FROM outputs')
    })
  }

  async close(): Promise<void> {
    this.#database.close()
  }

  async takeStart(signal: AbortSignal): Promise<number | null> {
    return this.#startEnded || signal.aborted ? null : this.#startCursor
  }

  async startMoved(from: number, to: number): Promise<void> {
    this.#hasComeTo(from)
    this.moveStart(to)
  }

  /** A part of the step in which the requests of a start element are queued. */
  moveStart(cursor: number): void {
    if (cursor <= this.#startCursor) return
    this.#startCursor = cursor
    this.#database.run('UPDATE crawl SET start_cursor = ?', cursor)
  }

  async startEnded(to: number): Promise<void> {
    this.#hasComeTo(to)
    this.#startEnded = true
    this.#database.run('UPDATE crawl SET start_ended = 1')
  }

  #hasComeTo(element: number): void {
    if (this.#startCursor >= element) return
    throw new WebloomError(
      'WL_LEASE_LOST',
      `start() has come to element ${this.#startCursor} in its JOBDIR, and element ${element} cannot follow: start() goes on from there`,
    )
  }

  /** The only worker has nothing to do. */
  async finish(): Promise<boolean> {
    return true
  }

  async outputBegun(path: string): Promise<boolean> {
    return this.#database.get('SELECT 1 FROM outputs WHERE path = ?', path) !== undefined
  }

  async beginOutput(path: string): Promise<void> {
    this.#database.run('INSERT OR IGNORE INTO outputs (path) VALUES (?)', path)
  }

  /** Requests that this release cannot read hold the crawl open for one that can. */
  async ended(reason: string): Promise<void> {
    const isLeft = this.#database.get('SELECT 1 FROM requests LIMIT 1') !== undefined
    const state = reason === 'finished' && !isLeft ? 'finished' : 'stopped'
    this.#database.run(
      'UPDATE crawl SET state = ?, finish_reason = ?, ended_ms = ?',
      state,
      reason,
      Date.now(),
    )
  }
}
