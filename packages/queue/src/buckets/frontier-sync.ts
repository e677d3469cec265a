/**
 * Sends what the machine has to say: one script at a time. What gathers meanwhile goes with the next one, so that under load a
 * script carries many pages, and in an idle crawl none waits.
 */

import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import { type ProtocolTimes, redisRefusal } from '@webloom/core'
import { RunOver } from '../crawl/crawl-run.ts'
import type { FrontierMachine } from '../frontier/frontier-machine.ts'
import type { Message } from '../frontier/frontier-message.ts'
import type { Placed } from '../frontier/turn-protocol.ts'
import { leaseLost } from '../leasing/lease-lost.ts'
import type { SentEntries } from '../shards/outbox-entry.ts'
import type { BucketScripts } from './scripts/bucket-scripts.ts'
import { type CommandNumbers, WentBack } from './scripts/command-numbers.ts'
import { fullError } from './turn-errors.ts'
import type { TurnJobs } from './turn-jobs.ts'

export interface FrontierSyncOptions {
  readonly machine: FrontierMachine
  readonly scripts: Pick<BucketScripts, 'exchange'>
  readonly commands: CommandNumbers
  readonly jobs: Pick<TurnJobs, 'changeJobs'>
  readonly times: ProtocolTimes
  /** How many requests are wanted that no other queue of this worker is just taking. */
  readonly unreserved: () => number
  /** Called with how many this queue takes now, and with 0 when they are here. */
  readonly reserve: (count: number) => void
  /** How long outcomes gather while nothing is wanted. */
  readonly gatherMs: () => number
  /** How many are handed out; 0 when no more is to come. */
  readonly out: () => number
  /** Returns whether fresh turns are coming, which go before those that were served already. */
  readonly isLooking: () => boolean
  /** While Redis, which has gone back, is told what is held here no more: nothing else is sent. */
  readonly resetting: () => Promise<void> | undefined
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

/** A message that is held back since `sinceMs`, and until when as it was last asked. */
interface Gathering {
  readonly sinceMs: number
  readonly untilMs: number
  /** Asks again. */
  readonly look: () => void
}

/** A message that would go less than this sooner keeps its timer: timers are no more precise. */
const TIMERS_MS = 1

export class FrontierSync {
  readonly #options: FrontierSyncOptions
  #isRunning = false
  #running: Promise<void> = Promise.resolve()
  #gathering: Gathering | undefined
  /** Settles `drained` while what is left is refused. */
  #onRefused: ((error: Error) => void) | undefined

  constructor(options: FrontierSyncOptions) {
    this.#options = options
  }

  /** Called when there may be something to send. */
  kick(): void {
    this.hurry()
    if (this.#isRunning) return
    this.#isRunning = true
    this.#running = this.#run()
  }

  /** Looks again how long a message is held back: the links of a page may be what is wanted, or a request has left, and the next one is due. */
  hurry(): void {
    const gathering = this.#gathering
    if (gathering && this.#gathersUntilMs(gathering.sinceMs) < gathering.untilMs - TIMERS_MS) gathering.look()
  }

  /** Resolves when there is nothing left to send. Rejects when Redis refuses that, as it would refuse it again. */
  async drained(): Promise<void> {
    const { promise: refused, reject } = Promise.withResolvers<never>()
    refused.catch(() => {})
    this.#onRefused = reject
    while (this.#isRunning) await Promise.race([this.#running, refused])
  }

  async #run(): Promise<void> {
    const { onEffects, reserve } = this.#options
    await this.#gather()
    for (let message = this.#next(); message; message = this.#next()) {
      reserve(message.asks)
      await this.#send(message)
      onEffects()
      reserve(0)
      await this.#gather()
    }
    this.#isRunning = false
    onEffects()
  }

  async #gather(): Promise<void> {
    await immediate()
    const sinceMs = performance.now()
    for (
      let untilMs = this.#gathersUntilMs(sinceMs);
      untilMs > performance.now();
      untilMs = this.#gathersUntilMs(sinceMs)
    ) {
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((look) => {
        this.#gathering = { sinceMs, untilMs, look }
        timer = setTimeout(look, Math.ceil(untilMs - performance.now()))
      })
      clearTimeout(timer)
      this.#gathering = undefined
    }
    for (let told = this.#options.resetting(); told; told = this.#options.resetting()) await told
  }

  #gathersUntilMs(sinceMs: number): number {
    const { unreserved, machine, gatherMs } = this.#options
    return unreserved() > 0 ? machine.gathersUntilMs(sinceMs, performance.now()) : sinceMs + gatherMs()
  }

  #next(): Message | undefined {
    const { machine, commands, unreserved, out, isLooking } = this.#options
    return machine.message(performance.now(), {
      demand: unreserved(),
      out: out(),
      number: commands.coming,
      isLooking: isLooking(),
    })
  }

  async #send(message: Message): Promise<void> {
    const { machine, scripts, commands, jobs, onPoint, onTrimmed, onSent } = this.#options
    const number = commands.next()
    try {
      const { answers, trimmed, sent, ...jobChanges } = await scripts.exchange(
        [...message.updates.values()],
        message.isGrowing,
        number,
        message.starts,
      )
      commands.wasAnswered(number)
      machine.answered(message, answers, performance.now())
      if (answers.some((answer) => 'taken' in answer && answer.taken.length > 0)) onPoint('taken')
      jobs.changeJobs(jobChanges)
      if (trimmed > 0) onTrimmed(trimmed)
      if (sent && onSent) onSent(placedIn(message), sent)
    } catch (error) {
      await this.#refused(message, error as Error)
    }
  }

  async #refused(message: Message, error: Error): Promise<void> {
    const { machine, times, onWentBack } = this.#options
    const nowMs = performance.now()
    const full = message.isGrowing ? fullError(error) : undefined
    if (error instanceof WentBack || error instanceof RunOver) {
      machine.unanswered(message, nowMs, { error: leaseLost(undefined, error.message) })
      if (error instanceof WentBack) return onWentBack(error)
      for (const turn of machine.turns) machine.states.lose(turn, error.message)
    } else if (full) {
      return machine.unanswered(message, nowMs, { error: full, isFull: true })
    } else machine.unanswered(message, nowMs, { error })
    if (redisRefusal(error) !== undefined) this.#onRefused?.(error)
    await sleep(times.turns.retryMs)
  }
}

function placedIn(message: Message): Placed[] {
  return [...message.updates.values()].flatMap(({ ended }) => ended.flatMap(({ placed }) => placed))
}
