/** Whether the machine let this process and the Redis servers run: every command of every worker passes through both. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { WorldServers } from './world-servers.ts'
import type { Span } from './world-workers.ts'

/** How late an answer must be for it to count, as in world-worker.ts. */
const STILL_MS_MIN = 60
const LOOK_EVERY_MS = 20

export class MachineWatch {
  readonly #spans: Span[] = []
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

  /** When commands could not pass although they should have. */
  async stop(): Promise<readonly Span[]> {
    this.#isOver = true
    await Promise.all(this.#looking)
    return this.#spans
  }

  async #look(act: () => Promise<void>): Promise<void> {
    while (!this.#isOver) {
      const fromMs = performance.now()
      await sleep(LOOK_EVERY_MS)
      // A server that is gone is a fault of the plan, which has a bound of its own.
      const hasActed = await act().then(
        () => true,
        () => false,
      )
      const untilMs = performance.now()
      if (hasActed && untilMs - fromMs > STILL_MS_MIN)
        this.#spans.push({ fromMs: fromMs + LOOK_EVERY_MS, untilMs })
    }
  }
}
