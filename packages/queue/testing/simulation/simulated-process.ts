/** The process of a worker in virtual time: its connection to Redis, its clocks, and that it may be killed at any moment. */

import { CommandNumbers } from '../../src/buckets/scripts/command-numbers.ts'
import type { FrontierMachine } from '../../src/frontier/frontier-machine.ts'
import type { JobChanges } from '../../src/frontier/turn-protocol.ts'
import type { SimulatedRedis } from './simulated-redis.ts'
import { VirtualConnection } from './virtual-connection.ts'
import type { Planned, VirtualWorld } from './virtual-world.ts'

/** Where the parts of a worker meet, as in `bucket-queue.ts`: each tells it what follows from what has changed. */
export interface SimulatedHub {
  readonly machine: FrontierMachine
  /** How many pages could start now. */
  readonly demand: number
  /** How many pages are fetched now. */
  readonly fetching: number
  /** Starts pages for which there is demand. */
  handOut(): void
  /** Starts pages, and asks for turns and at turns as needed. */
  serve(): void
  /** Does what the machine wants done, and serves. */
  settle(): void
  /** Sends a message to Redis, unless one is under way. */
  kick(): void
  /** Makes jobs of what Redis said is to be woken. */
  changeJobs(jobChanges: JobChanges): void
}

export interface SimulatedProcessOptions {
  readonly name: string
  readonly world: VirtualWorld
  readonly redis: SimulatedRedis
}

export class SimulatedProcess {
  readonly name: string
  readonly world: VirtualWorld
  readonly redis: SimulatedRedis
  readonly connection: VirtualConnection
  readonly commands: CommandNumbers
  isDead = false
  /** How far the wall clock of its machine is off. */
  clockOffMs = 0

  constructor({ name, world, redis }: SimulatedProcessOptions) {
    this.name = name
    this.world = world
    this.redis = redis
    this.connection = new VirtualConnection(world)
    this.commands = new CommandNumbers(name)
  }

  /** The monotonic clock. */
  get nowMs(): number {
    return this.world.nowMs
  }

  /** The wall clock. */
  get clockMs(): number {
    return this.redis.nowMs + this.clockOffMs
  }

  kill(): void {
    this.isDead = true
    this.connection.close()
  }

  send<Reply>(run: () => Reply, onReply?: (reply: Reply) => void, onError?: (error: Error) => void): void {
    this.connection.send(
      run,
      (reply) => void (this.isDead || onReply?.(reply)),
      (error) => void (this.isDead || onError?.(error)),
    )
  }

  in(ms: number, run: () => void): Planned {
    return this.world.in(ms, () => void (this.isDead || run()))
  }

  /** From a moment within the first `ms` on. */
  every(ms: number, run: () => void): void {
    const again = () => {
      run()
      this.in(ms, again)
    }
    this.in(ms * this.world.chance.next(), again)
  }
}
