/** How many requests lie ready at a worker beside those that it fetches. */

import { Request } from '@webloom/core'
import { expect, test } from 'vitest'
import { firstLane, machineOf } from '../../testing/one-machine.ts'
import { packRequest } from '../leasing/packed-request.ts'
import type { BucketLease } from './held-turn.ts'
import type { Taken, TurnAnswer } from './turn-protocol.ts'

const PLACES = 64
const PACE = { delayMs: 0, concurrency: 0, randomize: false, jitter: 0 }
const ENDLESS = { head: 0, ready: 1000 }

/** A worker of a crawl that never lacks hosts, each with one page. */
class BusyWorker {
  readonly #machine = machineOf(PACE, {
    onStart: (lease) => this.#machine.requests.started(lease, this.#nowMs),
  })
  readonly #out: BucketLease[] = []
  #nowMs = 0
  #hosts = 0

  constructor() {
    this.#machine.states.begun(firstLane('#1'), 'w/1', ENDLESS, 0)
  }

  get lying(): number {
    return [...this.#machine.turns].flatMap((turn) => [...turn.slots.values()]).flatMap(({ queue }) => queue)
      .length
  }

  /** So many pages end, and their places are taken; then a message goes. */
  round(number: number, ending: number, ms: number): void {
    this.#nowMs += ms
    for (const lease of this.#out.splice(0, ending))
      this.#machine.requests.end(lease, { placed: [] }, this.#nowMs)
    this.#handOut()
    const out = this.#out.length
    const message = this.#machine.message(this.#nowMs, { demand: PLACES - out, out, number })
    if (message)
      this.#machine.answered(
        message,
        [...message.updates.values()].map(({ asked }) => this.#answer(asked)),
        this.#nowMs,
      )
    this.#machine.effects()
    this.#handOut()
  }

  #handOut(): void {
    for (const lease of this.#machine.requests.handOut(PLACES - this.#out.length, this.#nowMs)) {
      lease.started()
      this.#out.push(lease)
    }
  }

  #answer({ batch, slots }: { readonly batch: number; readonly slots: number }): TurnAnswer {
    const taken = Array.from({ length: slots }, (_, n): Taken => {
      const host = ++this.#hosts
      const text = packRequest({ id: `${host}`, request: new Request(`http://h${host}.test/`) })
      return { token: `${batch}.${n + 1}`, slot: `h${host}.test`, priority: 0, text, waiting: 0 }
    })
    return { status: 'held', unitStatus: ENDLESS, taken }
  }
}

test.each([
  ['seldom', 1],
  ['fast', 8],
])('of a worker whose pages end %s no more lie ready after many messages than after one', (_pace, ending) => {
  const worker = new BusyWorker()
  for (let number = 1; number <= 300; number++) {
    worker.round(number, ending, 4)
    expect(worker.lying).toBeLessThanOrEqual(PLACES / 8)
  }
  expect(worker.lying).toBeGreaterThan(0)
})
