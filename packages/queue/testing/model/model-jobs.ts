/**
 * What BullMQ does with the jobs of turns, as far as the frontier depends on it: the one that has waited longest of the most
 * urgent is handed out under a lock, and a delay is judged by the clock of the worker that asks.
 *
 * This is a stand-in: BullMQ's own scripts are not compared with it.
 */

import type { Wake } from '../../src/frontier/turn-protocol.ts'
import { type FrontierState, type Jobs, ranked, upTo } from './frontier-state.ts'

const PRIORITY_MIDDLE = 2 ** 20
const PRIORITY_MAX = 2 ** 21

export class ModelJobs {
  readonly #stateOf: () => FrontierState

  constructor(stateOf: () => FrontierState) {
    this.#stateOf = stateOf
  }

  get #jobs(): Jobs {
    return this.#stateOf().jobs
  }

  /** Adding a job that is there changes nothing. */
  add(wakes: readonly Wake[]): void {
    for (const { job, priority } of [...wakes].sort((a, b) => b.priority - a.priority)) {
      if (this.#jobs.jobs.has(job)) continue
      this.#jobs.jobs.set(job, { priority: bullPriority(priority), delay: 0 })
      prioritize(this.#jobs, job)
    }
  }

  raise(wakes: readonly Wake[]): void {
    for (const { job, priority } of wakes) this.#changePriority(job, bullPriority(priority))
  }

  /** Returns the next job, locked for so long. `clockMs`: the worker's clock, which may be wrong. */
  fetch(lockToken: string, lockMs: number, nowMs: number, clockMs = nowMs): string | undefined {
    const { wait, prioritized, delayed, active, locks } = this.#jobs
    for (const job of upTo(delayed, clockMs * 4096 + 4095)) {
      delayed.delete(job)
      prioritize(this.#jobs, job)
    }
    const job = wait.pop() ?? ranked(prioritized)[0]?.[0]
    this.#jobs.hasMarker = false
    if (job === undefined) return undefined
    prioritized.delete(job)
    active.unshift(job)
    locks.set(job, { token: lockToken, untilMs: nowMs + lockMs })
    return job
  }

  /** Returns false when the worker does not have the lock any more. */
  complete(job: string, lockToken: string, nowMs: number): boolean {
    if (!this.#unlock(job, lockToken, nowMs)) return false
    this.#jobs.jobs.delete(job)
    return true
  }

  /** Leaves the turn to the next worker, in so long. */
  giveBack(
    job: string,
    lockToken: string,
    nowMs: number,
    { ms, priority, clockMs = nowMs }: GivenBack,
  ): boolean {
    if (!this.#unlock(job, lockToken, nowMs)) return false
    const { jobs, delayed } = this.#jobs
    const one = jobs.get(job)!
    if (priority !== undefined) one.priority = bullPriority(priority)
    one.delay = Math.ceil(ms)
    delayed.set(job, (Math.floor(clockMs) + one.delay) * 4096)
    return true
  }

  #unlock(job: string, lockToken: string, nowMs: number): boolean {
    const { active, locks, stalled, jobs } = this.#jobs
    const lock = locks.get(job)
    const at = active.indexOf(job)
    if (lock?.token !== lockToken || lock.untilMs < nowMs || at < 0 || !jobs.has(job)) return false
    locks.delete(job)
    stalled.delete(job)
    active.splice(at, 1)
    return true
  }

  #changePriority(job: string, priority: number): void {
    const one = this.#jobs.jobs.get(job)
    if (!one) return
    one.priority = priority
    if (this.#jobs.prioritized.delete(job)) prioritize(this.#jobs, job)
  }
}

interface GivenBack {
  readonly ms: number
  readonly priority?: number
  readonly clockMs?: number
}

/** Puts a job behind those that are as urgent. */
export function prioritize(jobs: Jobs, job: string): void {
  const priority = jobs.jobs.get(job)?.priority ?? 0
  jobs.prioritized.set(job, priority * 2 ** 32 + (++jobs.count % 2 ** 32))
  jobs.hasMarker = true
}

function bullPriority(priority: number): number {
  return Math.min(PRIORITY_MAX, Math.max(1, PRIORITY_MIDDLE - Math.round(priority)))
}
