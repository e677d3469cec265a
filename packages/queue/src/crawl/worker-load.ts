/** What a worker's process takes of its machine, from one heartbeat to the next. */

import { type ELDHistogram, monitorEventLoopDelay } from 'node:perf_hooks'

export interface WorkerLoad {
  /** Resident memory, bytes. */
  readonly rssBytes: number
  /** Processor time of all threads by time that has passed: 1 is one core. */
  readonly cpuCores: number
  /** How late timers came, milliseconds: ninety-nine of a hundred were sooner. */
  readonly loopLagMs: number
}

export const NO_LOAD: WorkerLoad = { rssBytes: 0, cpuCores: 0, loopLagMs: 0 }

/** A meter that measures from now on. */
export function openLoadMeter(): WorkerLoadMeter {
  const meter = new WorkerLoadMeter()
  meter.open()
  return meter
}

/** The timer that is watched; twenty times a second costs nothing that can be measured. */
const LOOKS_EVERY_MS = 50
const NS_PER_MS = 1e6

export class WorkerLoadMeter {
  readonly #delays: ELDHistogram = monitorEventLoopDelay({ resolution: LOOKS_EVERY_MS })
  #cpu = process.cpuUsage()
  #at = performance.now()

  open(): void {
    this.#delays.enable()
    this.#cpu = process.cpuUsage()
    this.#at = performance.now()
  }

  /** Since it was last called, or opened. */
  measured(): WorkerLoad {
    const [now, { user, system }] = [performance.now(), process.cpuUsage(this.#cpu)]
    const passedMs = Math.max(1, now - this.#at)
    const lagMs = this.#delays.count > 0 ? this.#delays.percentile(99) / NS_PER_MS - LOOKS_EVERY_MS : 0
    this.#cpu = process.cpuUsage()
    this.#at = now
    this.#delays.reset()
    return {
      rssBytes: process.memoryUsage.rss(),
      cpuCores: Math.round((user + system) / passedMs / 10) / 100,
      loopLagMs: Math.round(Math.max(0, lagMs)),
    }
  }

  close(): void {
    this.#delays.disable()
  }
}
