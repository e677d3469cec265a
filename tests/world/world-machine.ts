/** Whether the machine let this process and the Redis servers run: every command of every worker passes through both. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { WorldServers } from './world-servers.ts'
import type { Span } from './world-workers.ts'

/** How late an answer must be for it to count, as in world-worker.ts. */
const STILL_MS_MIN = 60
const LOOK_EVERY_MS = 20

export class MachineWatch {
  readonly #spans: Span[] = []
  /** Of each look that is under way, when its answer was due. */
  readonly #dueMs = new Set<number>()
  readonly #looking: Promise<void>[] = []
  #isOver = false

  constructor(servers: WorldServers) {
    this.#looking.push(
      this.#look(() => sleep(0)),
      this.#look(async () => {
        for (const server of servers.current) await server.command('PING')
      }),
    )
  }

  /** For how long commands could not pass until now. */
  get heldUpMs(): number {
    const nowMs = performance.now()
    const open = [...this.#dueMs].filter((fromMs) => nowMs - fromMs > STILL_MS_MIN)
    return lengthOf([...this.#spans, ...open.map((fromMs) => ({ fromMs, untilMs: nowMs }))])
  }

  /** When commands could not pass although they should have. */
  async stop(): Promise<readonly Span[]> {
    this.#isOver = true
    await Promise.all(this.#looking)
    return this.#spans
  }

  async #look(act: () => Promise<void>): Promise<void> {
    while (!this.#isOver) {
      const dueMs = performance.now() + LOOK_EVERY_MS
      this.#dueMs.add(dueMs)
      // Waits: how late this ends is what is measured.
      await sleep(LOOK_EVERY_MS)
      // A server that is gone is a fault of the plan, which has a bound of its own.
      const hasActed = await act().then(
        () => true,
        () => false,
      )
      this.#dueMs.delete(dueMs)
      const untilMs = performance.now()
      if (hasActed && untilMs - dueMs > STILL_MS_MIN - LOOK_EVERY_MS)
        this.#spans.push({ fromMs: dueMs, untilMs })
    }
  }
}

/** What several cover at once counts once. */
export function lengthOf(spans: readonly Span[]): number {
  let [length, coveredUntilMs] = [0, Number.NEGATIVE_INFINITY]
  for (const { fromMs, untilMs } of [...spans].sort((a, b) => a.fromMs - b.fromMs)) {
    length += Math.max(0, untilMs - Math.max(fromMs, coveredUntilMs))
    coveredUntilMs = Math.max(coveredUntilMs, untilMs)
  }
  return length
}
