/**
 * A worker in virtual time: a real `FrontierMachine`, with what carries its events and effects in plain steps instead of promises
 * and timers. Its parts do what those of `bucket-queue.ts` do, and meet here as they do there; each part has a state of its own.
 */

import { PROTOCOL_TIMES } from '@webloom/core'
import type { WentBack } from '../../src/buckets/scripts/command-numbers.ts'
import type { Effect } from '../../src/frontier/frontier-effects.ts'
import { FrontierMachine } from '../../src/frontier/frontier-machine.ts'
import type { BucketLease } from '../../src/frontier/held-turn.ts'
import type { JobChanges, Placed } from '../../src/frontier/turn-protocol.ts'
import { hungryIn } from '../../src/members/hungry-word.ts'
import type { Delivery, SentEntries } from '../../src/shards/outbox-entry.ts'
import { SimulatedPages, type SimulatedPagesOptions } from './simulated-pages.ts'
import { type SimulatedHub, SimulatedProcess, type SimulatedProcessOptions } from './simulated-process.ts'
import { SimulatedRenewal } from './simulated-renewal.ts'
import { SimulatedSweeps } from './simulated-sweeps.ts'
import { SimulatedSync } from './simulated-sync.ts'
import { SimulatedTurns, type SimulatedTurnsOptions } from './simulated-turns.ts'
import type { VirtualConnection } from './virtual-connection.ts'
import type { Planned } from './virtual-world.ts'

const TIMES = PROTOCOL_TIMES.turns
const HUNGRY_MS = 2000
const POLL_MS = 20

export interface SimulatedWorkerOptions
  extends SimulatedProcessOptions,
    Omit<SimulatedPagesOptions, 'onStart'>,
    Omit<SimulatedTurnsOptions, 'onHungry'> {
  readonly bucketOf: (slot: string) => string
  readonly buckets: number
  /** How many requests lie at a worker at the most. Default: as many as at a real one. */
  readonly lyingMax?: number
  /** Called when a page is fetched from now on. */
  readonly onStart: (worker: SimulatedWorker, lease: BucketLease) => void
  readonly onHungry: (worker: SimulatedWorker) => void
  readonly onSent?: (groups: readonly Placed[], sent: readonly SentEntries[]) => void
}

export class SimulatedWorker implements SimulatedHub {
  readonly machine: FrontierMachine
  readonly #process: SimulatedProcess
  readonly #pages: SimulatedPages
  readonly #turns: SimulatedTurns
  readonly #sync: SimulatedSync
  readonly #renewal: SimulatedRenewal
  readonly #sweeps: SimulatedSweeps
  #alarm: Planned | undefined

  constructor(options: SimulatedWorkerOptions) {
    const { world, pace, bucketOf, buckets, onStart, onHungry } = options
    const process = new SimulatedProcess(options)
    this.#process = process
    this.machine = new FrontierMachine({
      times: TIMES,
      pace,
      usualPace: pace(''),
      bucketOf,
      buckets: () => buckets,
      onStart: (lease) => this.#pages.started(lease),
      documentsOf: () => ({ mayLeave: async () => ({ left() {}, over() {} }) }),
      chance: world.chance.next,
      ...(options.lyingMax !== undefined && { lyingMax: options.lyingMax }),
    })
    this.#pages = new SimulatedPages(process, this, { ...options, onStart: (lease) => onStart(this, lease) })
    this.#turns = new SimulatedTurns(process, this, { ...options, onHungry: () => onHungry(this) })
    this.#sync = new SimulatedSync(process, this, {
      isLooking: () => this.#turns.isLooking,
      mustReset: () => this.#renewal.mustReset,
      onWentBack: (error) => this.#onWentBack(error),
      ...(options.onSent && { onSent: options.onSent }),
    })
    this.#renewal = new SimulatedRenewal(process, this, (unit) => this.#turns.delayOf(unit))
    this.#sweeps = new SimulatedSweeps(process, this)
    this.#sweeps.sweep(0)
    process.every(TIMES.tendEveryMs, () => this.#tend())
    process.every(TIMES.renewEveryMs, () => this.#renewal.renew())
    process.every(TIMES.sweepLookEveryMs, () => this.#sweeps.sweepIfDue())
    process.every(TIMES.stalledSoonMs, () => this.#sweeps.checkStalled())
    process.every(POLL_MS, () => this.#turns.wake())
  }

  get name(): string {
    return this.#process.name
  }

  get connection(): VirtualConnection {
    return this.#process.connection
  }

  get isDead(): boolean {
    return this.#process.isDead
  }

  get demand(): number {
    return this.#pages.demand
  }

  get fetching(): number {
    return this.#pages.size
  }

  push(placed: readonly Placed[]): void {
    const { redis, commands } = this.#process
    const groups = placed.map(({ texts, ...line }) => ({
      ...line,
      place: 'end' as const,
      requests: texts.map((text) => ({ id: text, text })),
    }))
    const number = commands.next()
    this.#process.send(
      () => redis.model.push({ command: number, asker: 'start', isNoting: true, groups }),
      (done) => {
        commands.wasAnswered(number)
        this.changeJobs(done)
        this.machine.states.arrived(groups, this.#process.nowMs)
        this.serve()
      },
    )
  }

  /** Brings what other shards have for this one. */
  deliver(deliveries: readonly Delivery[]): void {
    const { redis, name } = this.#process
    this.#process.send(
      () => (redis.isEmptied ? undefined : redis.model.apply(name, '', deliveries)),
      (done) => {
        // One that does not know of the run takes nothing of it.
        if (!done) return
        const { lost, nudged, ...jobChanges } = done
        if (lost > 0) redis.wrong ??= `${lost} entries are lost: their sender has them no longer`
        this.changeJobs(jobChanges)
        for (const nudge of nudged) this.machine.states.nudged(nudge, this.#process.nowMs)
        this.serve()
      },
    )
  }

  heard(channel: string, text: string): void {
    const { isDead, name, nowMs } = this.#process
    if (isDead) return
    const [first, second, third, fourth, fifth] = text.split('\n')
    if (channel === 'pauses') {
      this.machine.requests.paused(second!, Number(first), nowMs)
      this.settle()
    } else if (channel === 'nudges' && first === name) {
      const slot = fourth === undefined ? {} : { slot: fourth }
      this.machine.states.nudged({ unit: third!, priority: Number(second), ...slot }, nowMs)
      this.serve()
    } else if (channel === 'hungry') {
      const { worker, ...hunger } = hungryIn(text)
      if (worker !== name) this.machine.others.hungry(nowMs + HUNGRY_MS, hunger)
    } else if (channel === 'sweeps')
      this.#sweeps.heard(
        { workers: Number(second), waiting: Number(third), unserved: Number(fifth) },
        first === name,
      )
  }

  /** The wall clock of its machine jumps. */
  setClock(offMs: number): void {
    this.#process.clockOffMs = offMs
  }

  kill(): void {
    this.#process.kill()
    this.#pages.stop()
  }

  handOut(): void {
    this.#pages.handOut()
  }

  serve(): void {
    this.handOut()
    this.#turns.wake()
    if (this.demand > 0 && this.machine.hasSources) this.kick()
    this.#arm()
  }

  settle(): void {
    for (const effect of this.machine.effects()) this.#do(effect)
    this.serve()
    if (this.machine.mustTellRedis) this.kick()
  }

  kick(): void {
    this.#sync.kick()
  }

  changeJobs({ woken, raised }: JobChanges): void {
    const { jobs } = this.#process.redis.model
    const onWoken = () => {
      this.machine.others.woke()
      this.#turns.wake()
    }
    if (woken.length > 0) this.#process.send(() => jobs.add(woken), onWoken)
    if (raised.length > 0) this.#process.send(() => jobs.raise(raised))
  }

  #do(effect: Effect): void {
    if (effect.kind === 'done') effect.ending.done?.(effect.error)
    else if (effect.kind === 'lost') this.#pages.ended(effect.lease)
    else if (effect.kind === 'unreadable') throw new Error(effect.why)
    else this.#turns.end(effect)
  }

  #onWentBack(error: WentBack): void {
    if (!this.#process.commands.wentBack(error)) return
    this.#process.redis.seen.wentBack++
    this.machine.states.startOver('Redis has come back older', this.#process.nowMs)
    this.#renewal.reset()
    this.settle()
  }

  #tend(): void {
    this.machine.tend(this.#process.nowMs, this.demand)
    this.#turns.tend()
    this.settle()
  }

  #arm(): void {
    if (this.#alarm) this.#alarm.isOff = true
    const { wakeAtMs } = this.machine
    if (wakeAtMs === Number.POSITIVE_INFINITY) return
    const inMs = Math.max(1, Math.ceil(wakeAtMs - this.#process.nowMs))
    this.#alarm = this.#process.in(inMs, () => {
      this.machine.wake(this.#process.nowMs)
      this.serve()
    })
  }
}
