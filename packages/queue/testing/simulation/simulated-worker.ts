/**
 * A worker in virtual time: a real `FrontierMachine`, with what carries its events and effects in plain steps instead of promises
 * and timers. It does what `bucket-queue.ts`, `frontier-sync.ts`, `turn-fetcher.ts` and `turn-maintenance.ts` do; each part says
 * which.
 */

import { type HostNews, type HostPace, PROTOCOL_TIMES } from '@webloom/core'
import { SaidNumbers, WentBack } from '../../src/buckets/scripts/said-numbers.ts'
import type { Effect } from '../../src/frontier/frontier-effects.ts'
import { FrontierMachine } from '../../src/frontier/frontier-machine.ts'
import type { Message } from '../../src/frontier/frontier-message.ts'
import type { BucketLease, HeldSlot, HeldTurn, TurnJob } from '../../src/frontier/held-turn.ts'
import type { Placed, Stirred } from '../../src/frontier/turn-protocol.ts'
import { leaseLost } from '../../src/leasing/lease-lost.ts'
import { remarked } from '../../src/leasing/packed-request.ts'
import type { SimulatedRedis } from './simulated-redis.ts'
import { VirtualConnection } from './virtual-connection.ts'
import type { Planned, VirtualWorld } from './virtual-world.ts'

const TIMES = PROTOCOL_TIMES.turns
const CONCURRENCY = 8
const BEGINNING_MAX = 16
const FRESH_WAIT_MS = 50
const HUNGRY_MS = 2000
const QUARANTINE_AFTER = 1000
const POLL_MS = 20

export interface SimulatedWorkerOptions {
  readonly name: string
  readonly world: VirtualWorld
  readonly redis: SimulatedRedis
  readonly pace: (slot: string) => HostPace
  /** By bucket: its slots with a delay of their own. */
  readonly ownDelays: ReadonlyMap<string, ReadonlyMap<string, number>>
  readonly bucketOf: (slot: string) => string
  readonly buckets: number
  readonly linksOf: (id: string) => Placed[]
  /** Called when a page is fetched from now on. */
  readonly onStart: (worker: SimulatedWorker, lease: BucketLease) => void
  /** Called when a fetch has ended, or is given up. */
  readonly onStop: (lease: BucketLease) => void
  readonly onHungry: (worker: SimulatedWorker) => void
}

export class SimulatedWorker {
  readonly name: string
  readonly connection: VirtualConnection
  readonly machine: FrontierMachine
  readonly #options: SimulatedWorkerOptions
  readonly #world: VirtualWorld
  readonly #redis: SimulatedRedis
  readonly #said: SaidNumbers
  readonly #out = new Set<BucketLease>()
  readonly #bulls = new Map<HeldTurn, TurnJob>()
  isDead = false
  /** How far the wall clock of its machine is off. */
  clockOffMs = 0
  #isExchanging = false
  #hurry: (() => void) | undefined
  #alarm: Planned | undefined
  #turns = 0
  #fetches = 0
  #beginning = 0
  #isFetching = false
  #isDrained = false
  #lookingSinceMs: number | undefined
  #hungrySaidAtMs = Number.NEGATIVE_INFINITY
  #isRenewing = false
  #mustReset = false
  #sweptAtMs = Number.NEGATIVE_INFINITY
  #isInCharge = false
  #isChecking = false

  constructor(options: SimulatedWorkerOptions) {
    const { name, world, redis, pace, bucketOf, buckets } = options
    this.#options = options
    this.name = name
    this.#world = world
    this.#redis = redis
    this.connection = new VirtualConnection(world)
    this.#said = new SaidNumbers(name)
    this.machine = new FrontierMachine({
      times: TIMES,
      pace,
      usualPace: pace(''),
      bucketOf,
      buckets,
      onStart: (lease) => this.#onStart(lease),
      chance: world.chance.next,
    })
    this.#sweep(0)
    this.#every(TIMES.tendEveryMs, () => this.#tend())
    this.#every(TIMES.renewEveryMs, () => this.#renew())
    this.#every(TIMES.sweepLookEveryMs, () => this.#sweepIfDue())
    this.#every(TIMES.stalledCheckEveryMs, () => this.#checkStalled())
    this.#every(POLL_MS, () => this.#wakeIntake())
  }

  get #nowMs(): number {
    return this.#world.nowMs
  }

  get #demand(): number {
    return Math.max(0, CONCURRENCY - this.#out.size)
  }

  get fetching(): number {
    return this.#out.size
  }

  push(placed: readonly Placed[]): void {
    const groups = placed.map(({ texts, ...line }) => ({
      ...line,
      place: 'end' as const,
      requests: texts.map((text) => ({ id: text, text })),
    }))
    const said = this.#said.next()
    this.#send(
      () => this.#redis.model.push({ said, asker: 'start', isNoting: true, groups }),
      (done) => {
        this.#said.wasAnswered(said)
        this.#stir(done)
        this.machine.states.arrived(groups, this.#nowMs)
        this.#serve()
      },
    )
  }

  /** The process is killed. */
  kill(): void {
    this.isDead = true
    this.connection.close()
    for (const lease of this.#out) this.#options.onStop(lease)
    this.#out.clear()
  }

  heard(channel: string, text: string): void {
    if (this.isDead) return
    const [first, second, third] = text.split('\n')
    if (channel === 'pauses') {
      this.machine.requests.paused(second!, Number(first), this.#nowMs)
      this.#settle()
    } else if (channel === 'nudges' && first === this.name) {
      this.machine.states.nudged(third!, Number(second), this.#nowMs)
      this.#serve()
    } else if (channel === 'hungry' && first !== this.name)
      this.machine.others.hungry(this.#nowMs + HUNGRY_MS)
    else if (channel === 'sweeps')
      this.#heardSweep({ workers: Number(second), waiting: Number(third) }, first === this.name)
  }

  #send<Reply>(run: () => Reply, onReply?: (reply: Reply) => void, onError?: (error: Error) => void): void {
    this.connection.send(
      run,
      (reply) => void (this.isDead || onReply?.(reply)),
      (error) => void (this.isDead || onError?.(error)),
    )
  }

  #every(ms: number, run: () => void): void {
    this.#world.in(ms * this.#world.chance.next(), () => {
      const again = () => {
        if (this.isDead) return
        run()
        this.#world.in(ms, again)
      }
      again()
    })
  }

  // bucket-queue.ts

  #serve(): void {
    this.#handOut()
    this.#wakeIntake()
    if (this.#demand > 0 && this.machine.hasSources) this.#kick()
    this.#arm()
  }

  #handOut(): void {
    const leases = this.machine.requests.handOut(this.#demand, this.#nowMs)
    if (leases.length === 0) return
    for (const lease of leases) this.#out.add(lease)
    const names = leases.map(({ startedName }) => startedName)
    this.#send(() => this.#redis.model.started(this.name, names))
    const { chance } = this.#world
    for (const lease of leases)
      this.#world.in(chance.next() * (chance.is(0.02) ? 100 : 2), () => {
        if (!this.isDead && lease.state === 'out') lease.started()
      })
  }

  #onStart(lease: BucketLease): void {
    if (!this.machine.requests.started(lease, this.#nowMs)) {
      lease.lose('the lock was not renewed in time')
      this.#ended(lease)
      this.#putBack(lease.heldSlot, lease)
      return
    }
    const { chance } = this.#world
    this.#options.onStart(this, lease)
    this.#serve()
    this.#world.in(chance.is(0.02) ? chance.next() * 8000 : 5 + chance.next() * 300, () =>
      this.#fetched(lease),
    )
  }

  #putBack(slot: HeldSlot, lease: BucketLease): void {
    const ended = { token: lease.token, placed: [this.#asItWas(lease)] }
    this.machine.requests.putBack(slot, ended, (error) => {
      if (error === undefined || isLeaseLost(error)) return
      this.#world.in(TIMES.putBackRetryMs, () => this.isDead || this.#putBack(slot, lease))
    })
    this.#kick()
  }

  #fetched(lease: BucketLease): void {
    if (this.isDead || lease.state !== 'out') return
    this.#options.onStop(lease)
    const { chance } = this.#world
    const at = chance.next()
    const news = chance.is(0.05) ? { news: this.#news() } : {}
    const text = remarked(lease.text, { attempt: lease.attempt })
    const back = { ...this.#asItWas(lease), texts: [text] }
    if (at < 0.05) {
      this.#end(lease, [back], news)
      this.machine.requests.callBack(lease.heldSlot, this.#nowMs)
    } else if (at < 0.1) this.#end(lease, [{ ...back, place: 1 + chance.below(5000) }], news)
    else if (at < 0.12) this.#end(lease, [{ ...back, place: 'end' }], news)
    else this.#end(lease, this.#options.linksOf(lease.id), news)
  }

  #news(): HostNews {
    const { chance } = this.#world
    if (chance.is(0.3)) return { pauseMs: chance.next() * 3000, pauseReason: 'busy' }
    return { delayMs: chance.is(0.7) ? 0 : 100, failures: chance.below(2) }
  }

  #end(lease: BucketLease, placed: readonly Placed[], news: { news?: HostNews }): void {
    if (this.isDead || lease.state !== 'out') return
    const done = (error?: unknown) => {
      if (error === undefined || isLeaseLost(error)) this.#ended(lease)
      else this.#world.in(TIMES.retryMs, () => this.#end(lease, placed, {}))
    }
    this.machine.requests.end(lease, { placed, adds: placed.length, ...news, done }, this.#nowMs)
    this.#kick()
  }

  #ended(lease: BucketLease): void {
    if (this.#out.delete(lease)) this.#options.onStop(lease)
    this.#serve()
  }

  #asItWas({ heldSlot, priority, text }: BucketLease): Placed {
    const { key: slot } = heldSlot
    return { place: 'head', bucket: this.#options.bucketOf(slot), slot, priority, texts: [text] }
  }

  #settle(): void {
    for (const effect of this.machine.effects()) this.#do(effect)
    this.#serve()
    if (this.machine.mustTellRedis) this.#kick()
  }

  #do(effect: Effect): void {
    if (effect.kind === 'done') effect.ending.done(effect.error)
    else if (effect.kind === 'lost') this.#ended(effect.lease)
    else if (effect.kind === 'unreadable') throw new Error(effect.why)
    else {
      const { turn } = effect
      const job = this.#bulls.get(turn)
      this.#bulls.delete(turn)
      if (!job) return
      const { jobs } = this.#redis.model
      if (effect.kind === 'complete')
        this.#send(() => jobs.complete(job.job, job.lockToken, this.#redis.nowMs))
      else {
        const { ms, priority } = effect
        const clockMs = this.#redis.nowMs + this.clockOffMs
        this.#send(() => jobs.giveBack(job.job, job.lockToken, this.#redis.nowMs, { ms, priority, clockMs }))
      }
    }
  }

  #onWentBack(error: WentBack): void {
    if (!this.#said.wentBack(error)) return
    this.#redis.seen.wentBack++
    this.machine.states.startOver('Redis has come back older')
    this.#mustReset = true
    this.#renew()
    this.#settle()
  }

  #stir({ woken, raised }: Stirred): void {
    const { jobs } = this.#redis.model
    if (woken.length > 0) this.#send(() => jobs.add(woken))
    if (raised.length > 0) this.#send(() => jobs.raise(raised))
  }

  #arm(): void {
    if (this.#alarm) this.#alarm.isOff = true
    const { wakeAtMs } = this.machine
    if (wakeAtMs === Number.POSITIVE_INFINITY) return
    const inMs = Math.max(1, Math.ceil(wakeAtMs - this.#nowMs))
    this.#alarm = this.#world.in(inMs, () => {
      if (this.isDead) return
      this.machine.wake(this.#nowMs)
      this.#serve()
    })
  }

  // frontier-sync.ts

  #kick(): void {
    if (this.#hurry && this.#waitsMs() === 0) this.#hurry()
    if (this.#isExchanging) return
    this.#isExchanging = true
    this.#gather()
  }

  #gather(): void {
    const next = this.#world.in(Math.max(0.05, this.#waitsMs()), () => this.#next())
    this.#hurry = () => {
      if (next.isOff) return
      next.isOff = true
      this.#world.in(0, () => this.#next())
    }
  }

  #waitsMs(): number {
    return this.#demand > 0 ? this.machine.patienceMs(this.#nowMs) : 3
  }

  #next(): void {
    this.#hurry = undefined
    if (this.isDead) return
    const { machine } = this
    const message = machine.message(this.#nowMs, {
      demand: this.#demand,
      stock: Math.floor(this.#out.size / 8),
      number: this.#said.coming,
      isLooking: this.#isLooking,
    })
    if (!message) {
      this.#isExchanging = false
      this.#settle()
      return
    }
    this.#exchange(message)
  }

  #exchange(message: Message): void {
    const said = this.#said.next()
    const says = [...message.says.values()]
    this.#send(
      () => this.#redis.exchange(says, said),
      ({ answers, ...stirred }) => {
        this.#said.wasAnswered(said)
        this.machine.answered(message, answers, this.#nowMs)
        this.#stir(stirred)
        this.#settle()
        this.#gather()
      },
      (error) => this.#refused(message, error),
    )
  }

  #refused(message: Message, error: Error): void {
    if (!(error instanceof WentBack)) throw error
    this.machine.unanswered(message, this.#nowMs, { error: leaseLost(undefined, error.message) })
    this.#onWentBack(error)
    this.#settle()
    this.#gather()
  }

  // turn-fetcher.ts

  get #isLooking(): boolean {
    return this.#lookingSinceMs !== undefined && this.#nowMs - this.#lookingSinceMs < FRESH_WAIT_MS
  }

  #wakeIntake(): void {
    if (this.#isFetching || this.isDead) return
    if (this.#beginning >= BEGINNING_MAX || !this.machine.wantsTurn(this.#beginning, this.#demand)) {
      this.#lookingSinceMs = undefined
      this.#isDrained = false
      return
    }
    if (!this.#isDrained) this.#lookingSinceMs ??= this.#nowMs
    this.#isFetching = true
    const lockToken = `${this.name}/${++this.#fetches}`
    const clock = () => this.#redis.nowMs + this.clockOffMs
    const sentAtMs = clock()
    this.#send(
      () => this.#redis.model.jobs.fetch(lockToken, TIMES.lockMs, this.#redis.nowMs, sentAtMs),
      (job) => {
        this.#isFetching = false
        this.#isDrained = job === undefined
        if (job === undefined) this.#drained()
        else {
          const lockedForMs = TIMES.lockMs - Math.max(0, clock() - sentAtMs)
          this.#begin(job, lockToken, this.#nowMs + lockedForMs)
          this.#wakeIntake()
        }
      },
    )
  }

  #drained(): void {
    if (this.#beginning === 0) this.#lookingSinceMs = undefined
    this.#sayHungry()
    if (this.#beginning === 0) this.#handOut()
  }

  #sayHungry(): void {
    if (!this.machine.isHungry(this.#demand) || this.#nowMs - this.#hungrySaidAtMs < HUNGRY_MS / 2) return
    this.#hungrySaidAtMs = this.#nowMs
    this.#options.onHungry(this)
  }

  #begin(id: string, lockToken: string, lockedUntilMs: number): void {
    const [, unit, lane, generation] = /^(.*)~(\d+)~(\d+)$/.exec(id)!
    const name = { unit: unit!, lane: lane!, generation: generation!, lockToken }
    const holder = `${this.name}/${++this.#turns}`
    const ownDelays = this.#options.ownDelays.get(unit!)
    const begun = {
      ...name,
      holder,
      delayMs: this.#delayOf(unit!),
      isSecond: this.machine.turns.of(unit!) !== undefined,
      ...(ownDelays && { ownDelays }),
    }
    this.#beginning++
    this.#send(
      () => this.#redis.model.begin(begun, QUARANTINE_AFTER),
      (reply) => {
        this.#beginning--
        if (reply === 'gone')
          this.#send(() => this.#redis.model.jobs.complete(id, lockToken, this.#redis.nowMs))
        if (reply === 'gone' || reply === 'taken') return
        this.#redis.seen.begun++
        if (reply.takenBack > 0) this.#redis.seen.takenBack++
        this.#stir(reply)
        const job = { ...name, job: id, lockedUntilMs }
        const turn = this.machine.states.begun(job, holder, reply.standing, this.#nowMs)
        this.#bulls.set(turn, job)
        this.#serve()
      },
    )
  }

  #delayOf(unit: string): number {
    return Math.ceil(this.#options.pace(unit.startsWith('#') ? '' : unit).delayMs)
  }

  // turn-maintenance.ts

  #tend(): void {
    this.machine.tend(this.#nowMs, this.#demand)
    if (this.#isDrained) this.#sayHungry()
    this.#settle()
  }

  #renew(): void {
    const { machine } = this
    if (this.#isRenewing || machine.turns.size === 0) return
    this.#isRenewing = true
    const turns = [...machine.turns]
    const holding = turns.map(({ job, holder, lockToken, batch, tokens }) => ({
      job: job.job,
      holder,
      lockToken,
      delayMs: this.#delayOf(job.unit),
      batch,
      tokens: [...tokens],
    }))
    const resets = this.#mustReset
    const sentAtMs = this.#nowMs
    const coming = this.#said.coming
    this.#send(
      () => this.#redis.model.renew(holding, TIMES.lockMs, { coming, resets }),
      (renewed) => {
        this.#isRenewing = false
        if (resets) this.#mustReset = false
        const turnOf = new Map(holding.map((one, n) => [one, turns[n]!]))
        const lost = new Set(renewed.lost.map((one) => turnOf.get(one)!))
        this.#redis.seen.lost += lost.size
        this.#redis.seen.putBack += renewed.putBack.size
        for (const turn of lost) if (machine.turns.has(turn)) machine.states.lose(turn, 'its lock ran out')
        machine.states.renewed(
          turns.filter((turn) => !lost.has(turn)),
          sentAtMs + TIMES.lockMs,
          this.#nowMs,
        )
        for (const one of renewed.putBack.keys())
          machine.states.nudged(turnOf.get(one)!.job.unit, 0, this.#nowMs)
        this.#stir(renewed)
        this.#settle()
        if (this.#mustReset && !resets) this.#renew()
      },
    )
  }

  #sweepIfDue(): void {
    const sinceMs = this.#nowMs - this.#sweptAtMs
    if (sinceMs >= (this.#isInCharge ? TIMES.sweepEveryMs : TIMES.sweepMissedMs))
      this.#sweep(TIMES.sweptMsMin)
  }

  #sweep(everyMs: number): void {
    this.#sweptAtMs = this.#nowMs
    this.#send(
      () => this.#redis.model.sweep(this.name, everyMs, TIMES.owedMs),
      ({ isSwept, woken, ...swept }) => {
        this.#heardSweep(swept, isSwept)
        this.#stir({ woken, raised: [] })
      },
    )
  }

  #heardSweep({ workers, waiting }: { workers: number; waiting: number }, isMine: boolean): void {
    this.#sweptAtMs = this.#nowMs
    this.machine.others.swept({ workers, waiting })
    this.#isInCharge = isMine
  }

  #checkStalled(): void {
    if (!this.#isInCharge || this.#isChecking) return
    this.#isChecking = true
    const { model } = this.#redis
    this.#send(
      () => model.takeStalled(TIMES.stalledGapMs, PROTOCOL_TIMES.redis.reconnectMsMax),
      () => {
        this.#isChecking = false
      },
    )
  }
}

function isLeaseLost(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'WL_LEASE_LOST'
}
