/** What is done about leases every two seconds: renew them, reclaim those of workers that are gone, requeue those that nobody wants. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger, ProtocolTimes } from '@webloom/core'
import { untilTaken } from '../redis/until-taken.ts'
import type { JobLease } from './job-lease.ts'
import type { JobScripts } from './job-scripts.ts'

export interface JobMaintenanceOptions {
  readonly scripts: JobScripts
  /** All that this worker has, by job id. */
  readonly leases: ReadonlyMap<string, JobLease>
  /** QUARANTINE_AFTER. */
  readonly quarantineAfter: number
  readonly times: ProtocolTimes
  readonly logger: Logger
  readonly onLost: (lease: JobLease, why: string) => void
  readonly requeue: (lease: JobLease) => Promise<void>
}

export class JobMaintenance {
  readonly #options: JobMaintenanceOptions
  readonly #closing = new AbortController()

  constructor(options: JobMaintenanceOptions) {
    this.#options = options
  }

  open(): void {
    void this.#keepUp()
  }

  close(): void {
    this.#closing.abort()
  }

  async renewAll(): Promise<void> {
    await this.#renew([...this.#options.leases.values()])
  }

  /** Returns the leases that are still this worker's: its process may have slept meanwhile. */
  async confirm(leases: readonly JobLease[]): Promise<JobLease[]> {
    const soonMs = performance.now() + this.#options.times.jobs.lockedMsMin
    await this.#renew(leases.filter(({ lockedUntilMs }) => lockedUntilMs < soonMs))
    return leases.filter(({ signal: lost }) => !lost.aborted)
  }

  /** The same for leases on their way to the engine. Nobody else knows of them, so a Redis that refuses is asked again, until `signal`. */
  confirmed(leases: readonly JobLease[], signal: AbortSignal | undefined): Promise<JobLease[]> {
    const { times, logger } = this.#options
    const isOver = () => this.#closing.signal.aborted || signal?.aborted === true
    return untilTaken(() => this.confirm(leases), { isOver, everyMs: times.jobs.errorPauseMs, logger })
  }

  async #keepUp(): Promise<void> {
    const { logger } = this.#options
    const { signal } = this.#closing
    while (!signal.aborted) {
      try {
        await this.renewAll()
        await this.#reclaim()
        await this.#requeueUnwanted()
      } catch (error) {
        if (!signal.aborted) logger.warn({ err: error }, 'leases could not be renewed; trying again')
      }
      await sleep(this.#options.times.jobs.renewEveryMs, undefined, { signal }).catch(() => {})
    }
  }

  async #renew(leases: readonly JobLease[]): Promise<void> {
    const { scripts, leases: all, onLost } = this.#options
    const held = leases.filter(({ isEnding }) => !isEnding)
    const atMs = performance.now()
    const lost = new Set(await scripts.renew(held))
    for (const lease of held) {
      if (!lost.has(lease.jobId)) lease.lockedUntilMs = atMs + this.#options.times.jobs.lockMs
      // What has ended meanwhile is no loss.
      else if (all.get(lease.jobId) === lease && !lease.isEnding) {
        onLost(lease, 'this worker was silent for too long')
      }
    }
  }

  async #reclaim(): Promise<void> {
    const { scripts, quarantineAfter, logger } = this.#options
    for (const { id, worker, fate } of await scripts.reclaim(quarantineAfter)) {
      logger.warn({ id, heldBy: worker, fate }, 'reclaimed from a lost worker')
    }
  }

  async #requeueUnwanted(): Promise<void> {
    const { leases, requeue } = this.#options
    const readyMsMax = performance.now() - this.#options.times.jobs.readyMsMax
    const unwanted = [...leases.values()].filter(
      ({ isOut, isEnding, readySinceMs }) => !isOut && !isEnding && readySinceMs! < readyMsMax,
    )
    await Promise.all(unwanted.map((lease) => requeue(lease)))
  }
}
