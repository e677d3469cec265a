/**
 * Sends what the machine has to say: one script at a time. What gathers meanwhile goes with the next one, so that under load a
 * script carries many pages, and in an idle crawl none waits.
 */

import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import { isRedisFull, type ProtocolTimes } from '@webloom/core'
import { RunOver } from '../crawl/run-over.ts'
import type { FrontierMachine } from '../frontier/frontier-machine.ts'
import type { Message } from '../frontier/frontier-message.ts'
import type { Placed } from '../frontier/turn-protocol.ts'
import { leaseLost } from '../leasing/lease-lost.ts'
import type { SentEntries } from '../shards/outbox-entry.ts'
import type { BucketScripts } from './scripts/bucket-scripts.ts'
import { type SaidNumbers, WentBack } from './scripts/said-numbers.ts'
import { fullError } from './turn-errors.ts'
import type { TurnJobs } from './turn-jobs.ts'

/** A script costs Redis as much as three pages in it. While enough requests lie ready, outcomes gather for so long. */
const GATHER_MS = 3

export interface FrontierSyncOptions {
  readonly machine: FrontierMachine
  readonly scripts: BucketScripts
  readonly said: SaidNumbers
  readonly jobs: TurnJobs
  readonly times: ProtocolTimes
  readonly demand: () => number
  readonly stock: () => number
  /** Returns whether fresh turns are coming, which go before those that were served already. */
  readonly isLooking: () => boolean
  /** Called when Redis has done nothing of what was sent, as it has gone back. */
  readonly onWentBack: (error: WentBack) => void
  readonly onPoint: (name: 'taken') => void
  /** Called with how many failures were removed from the ledger, as it is full. */
  readonly onTrimmed: (count: number) => void
  /** Called with what a script was given, and what of it it has written for other shards. */
  readonly onSent?: ((groups: readonly Placed[], sent: readonly SentEntries[]) => void) | undefined
  /** Called after each answer, and when there is nothing to send for now. */
  readonly onEffects: () => void
}

export class FrontierSync {
  readonly #options: FrontierSyncOptions
  #isRunning = false
  #running: Promise<void> = Promise.resolve()
  #hurry: (() => void) | undefined

  constructor(options: FrontierSyncOptions) {
    this.#options = options
  }

  /** Called when there may be something to send. */
  kick(): void {
    if (this.#hurry && this.#waitsMs() === 0) this.#hurry()
    if (this.#isRunning) return
    this.#isRunning = true
    this.#running = this.#run()
  }

  /** Resolves when there is nothing left to send. */
  async settled(): Promise<void> {
    while (this.#isRunning) await this.#running
  }

  async #run(): Promise<void> {
    const { onEffects } = this.#options
    await this.#gather()
    for (let message = this.#next(); message; message = this.#next()) {
      await this.#send(message)
      onEffects()
      await this.#gather()
    }
    this.#isRunning = false
    onEffects()
  }

  async #gather(): Promise<void> {
    await immediate()
    const ms = this.#waitsMs()
    if (ms === 0) return
    await new Promise<void>((resolve) => {
      this.#hurry = resolve
      setTimeout(resolve, ms)
    })
    this.#hurry = undefined
  }

  #waitsMs(): number {
    const { demand, machine } = this.#options
    return demand() > 0 ? machine.patienceMs(performance.now()) : GATHER_MS
  }

  #next(): Message | undefined {
    const { machine, said, demand, stock, isLooking } = this.#options
    return machine.message(performance.now(), {
      demand: demand(),
      stock: stock(),
      number: said.coming,
      isLooking: isLooking(),
    })
  }

  async #send(message: Message): Promise<void> {
    const { machine, scripts, said, jobs, onPoint, onTrimmed, onSent } = this.#options
    const number = said.next()
    try {
      const { answers, trimmed, sent, ...stirred } = await scripts.exchange(
        [...message.says.values()],
        message.isGrowing,
        number,
      )
      said.wasAnswered(number)
      machine.answered(message, answers, performance.now())
      if (answers.some((answer) => 'taken' in answer && answer.taken.length > 0)) onPoint('taken')
      jobs.stir(stirred)
      if (trimmed > 0) onTrimmed(trimmed)
      if (sent && onSent) onSent(placedIn(message), sent)
    } catch (error) {
      await this.#refused(message, error as Error)
    }
  }

  async #refused(message: Message, error: Error): Promise<void> {
    const { machine, times, onWentBack } = this.#options
    const nowMs = performance.now()
    if (error instanceof WentBack || error instanceof RunOver) {
      machine.unanswered(message, nowMs, { error: leaseLost(undefined, error.message) })
      if (error instanceof WentBack) return onWentBack(error)
      for (const turn of machine.turns) machine.states.lose(turn, error.message)
    } else if (message.isGrowing && isRedisFull(error)) {
      return machine.unanswered(message, nowMs, { error: fullError(error), isFull: true })
    } else machine.unanswered(message, nowMs, { error })
    await sleep(times.turns.retryMs)
  }
}

function placedIn(message: Message): Placed[] {
  return [...message.says.values()].flatMap(({ ended }) => ended.flatMap(({ placed }) => placed))
}
