/**
 * A worker's connection to Redis: commands arrive in the order they were sent, some late. When the connection is lost, some of
 * what was under way has been done, some not; all that has no answer yet is sent again, in order.
 */

import type { VirtualWorld } from './virtual-world.ts'

const SLOW_PROBABILITY = 0.01

interface Command {
  readonly run: () => unknown
  readonly onReply: (reply: unknown) => void
  readonly onError: (error: Error) => void
  epoch: number
}

export class VirtualConnection {
  readonly #world: VirtualWorld
  #pending: Command[] = []
  #epoch = 0
  #arrivesAtMs = 0
  #isClosed = false

  constructor(world: VirtualWorld) {
    this.#world = world
  }

  send<Reply>(
    run: () => Reply,
    onReply: (reply: Reply) => void = () => {},
    onError: (error: Error) => void = () => {},
  ): void {
    if (this.#isClosed) return
    const command = { run, onReply: onReply as (reply: unknown) => void, onError, epoch: this.#epoch }
    this.#pending.push(command)
    this.#post(command, 0)
  }

  /** Loses the connection for a while. */
  drop(): void {
    const { chance } = this.#world
    this.#epoch++
    // Redis has read the first of them, and does them.
    const read = chance.below(this.#pending.length + 1)
    for (const { run } of this.#pending.slice(0, read)) attempted(run)
    const awayMs = chance.next() * (chance.is(0.1) ? 3000 : 300)
    for (const command of this.#pending) {
      command.epoch = this.#epoch
      this.#post(command, awayMs)
    }
  }

  /** The worker is gone. What it has sent may still arrive. */
  close(): void {
    this.#isClosed = true
    const { chance } = this.#world
    const read = chance.below(this.#pending.length + 1)
    for (const { run } of this.#pending.slice(0, read)) attempted(run)
    this.#pending = []
    this.#epoch++
  }

  #post(command: Command, awayMs: number): void {
    const { epoch } = command
    this.#arrivesAtMs = Math.max(this.#arrivesAtMs, this.#world.nowMs + awayMs + this.#latencyMs())
    this.#world.in(this.#arrivesAtMs - this.#world.nowMs, () => {
      if (epoch === this.#epoch) this.#arrived(command)
    })
  }

  #arrived(command: Command): void {
    const outcome = attempted(command.run)
    const { epoch } = command
    this.#world.in(this.#latencyMs(), () => {
      if (epoch !== this.#epoch) return
      this.#pending = this.#pending.filter((one) => one !== command)
      if (outcome.error) command.onError(outcome.error)
      else command.onReply(outcome.reply)
    })
  }

  #latencyMs(): number {
    const { chance } = this.#world
    return chance.is(SLOW_PROBABILITY) ? chance.next() * 400 : 0.1 + chance.next()
  }
}

function attempted(run: () => unknown): { reply?: unknown; error?: Error } {
  try {
    return { reply: run() }
  } catch (error) {
    if (error instanceof Error) return { error }
    throw error
  }
}
