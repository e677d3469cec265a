/**
 * A whole crawl in virtual time: real `FrontierMachine`s against the model of Redis, with slow and lost connections, killed workers,
 * a Redis that comes back older, and wall clocks that jump. A seed replays exactly. What must hold is looked at on the way:
 *
 * - A page is in one place: it waits, is held back, is in flight, or is committed. None is lost, none committed twice. What Redis
 *   counts is what there is.
 * - Of a slot no more are fetched at a moment by workers that have its lock than its concurrency, and with a delay none starts
 *   earlier after another than the delay.
 * - While nothing goes wrong, no request that may go waits for more than two seconds while the worker that has its bucket has room, nor for more than
 *   four while another worker has nothing to do, and those of a slot that were pushed together go in that order.
 * - The crawl ends, and nothing goes round in a circle.
 */

import type { HostPace } from '@webloom/core'
import type { BucketLease } from '../../src/frontier/held-turn.ts'
import type { Placed } from '../../src/frontier/turn-protocol.ts'
import { hungryText } from '../../src/members/hungry-word.ts'
import { ownDelays } from '../../src/politeness/own-paces.ts'
import { SeededChance } from '../seeded-chance.ts'
import { LineOfFirsts } from './checks/line-of-firsts.ts'
import { UntakenRequests } from './checks/untaken-requests.ts'
import { LONG_MS } from './simulated-pages.ts'
import { type CrawlPlan, idOf, type Seen, SimulatedRedis } from './simulated-redis.ts'
import { SimulatedWorker } from './simulated-worker.ts'
import { VirtualWorld } from './virtual-world.ts'

const LOCK_MS = 6000
const BUCKETS = 3
const USUAL_PACE: HostPace = { delayMs: 0, concurrency: 4, randomize: false, jitter: 0 }
const CHECKED_EVERY = 100
/** So many steps at one moment are a circle. */
const MOVED_WITHIN = 50_000
/** Well below the five seconds for which an empty bucket is kept: what a holder has overlooked would wait for these. */
const UNTAKEN_MS_MAX = 2000
/** A worker with nothing to do says so once a second, another one needs a second more to give something away, and to fetch that takes several messages. */
const HELD_UP_MS_MAX = 4000
const SLOWEST_MS = 20_000
/** A crawl that takes longer than its pages would one after the other, all of the slowest host, and this, does not end. */
const ENDS_WITHIN_MS = 600_000
/** Two starts may be closer than the delay by so much: held-turn.ts, and whole milliseconds. */
const CREDIT_MS = 7
/** Of what an older Redis has forgotten nothing is said: starts are not judged for so long. */
const FORGOTTEN_MS = 20_000
/** While the answer to a worker's word, and what it says next, are on their way. */
const SOON_MS = 3

export interface Trouble {
  readonly kills: number
  readonly drops: number
  readonly setBacks: number
  /** How often Redis goes back to the same state just as a worker has told that it knows of it. Default: never. */
  readonly setBacksAgain?: number
  /** Of renewals, the part that Redis refuses. Default: none. */
  readonly refusedRenewals?: number
  readonly clockJumps: number
}

export interface SimulationOptions {
  readonly seed: number
  readonly pages?: number
  readonly workers?: number
  /** Of every host. Default: drawn for each. */
  readonly pace?: HostPace
  /** How many requests lie at a worker at the most. Default: as many as at a real one. */
  readonly lyingMax?: number
  /** The part of pages that take a minute. Default: none. */
  readonly longPart?: number
  readonly trouble?: Trouble
}

export interface SimulationResult {
  readonly steps: number
  readonly virtualMs: number
  readonly starts: number
  readonly messages: number
  /** How often what is rare has come up. */
  readonly seen: Readonly<Seen>
}

interface Fetch {
  readonly worker: SimulatedWorker
  readonly lease: BucketLease
}

/** Runs a crawl to its end. Throws with seed and step when something is wrong. */
export function simulate(options: SimulationOptions): SimulationResult {
  return new FrontierSimulation(options).run()
}

class FrontierSimulation {
  readonly #seed: number
  readonly #chance: SeededChance
  readonly #world: VirtualWorld
  readonly #redis: SimulatedRedis
  readonly #plan: CrawlPlan
  readonly #paces = new Map<string, HostPace>()
  readonly #priorities = new Map<string, number>()
  readonly #fetches = new Set<Fetch>()
  readonly #startedAtMs = new Map<string, number>()
  readonly #untaken: UntakenRequests | undefined
  readonly #firsts: LineOfFirsts | undefined
  readonly #bounds: Pick<SimulationOptions, 'lyingMax' | 'longPart'>
  #workers: SimulatedWorker[] = []
  #hired = 0
  #starts = 0
  #looked = { steps: 0, nowMs: -1 }
  #troubledUntilMs = Number.NEGATIVE_INFINITY

  constructor({ seed, pages = 150, pace, lyingMax, longPart, trouble, ...given }: SimulationOptions) {
    this.#seed = seed
    this.#bounds = {
      ...(lyingMax !== undefined && { lyingMax }),
      ...(longPart !== undefined && { longPart }),
    }
    this.#chance = new SeededChance(seed)
    const { workers = 2 + this.#chance.below(3) } = given
    this.#world = new VirtualWorld(this.#chance)
    this.#redis = new SimulatedRedis(this.#world, LOCK_MS, (channel, text) => this.#publish(channel, text))
    this.#plan = this.#planned(pages, pace)
    const isTroubled = Object.values(trouble ?? {}).some((count) => count > 0)
    this.#untaken = isTroubled ? undefined : new UntakenRequests()
    this.#firsts = isTroubled ? undefined : new LineOfFirsts(this.#plan.first)
    for (let n = 0; n < workers; n++) this.#hire()
    this.#workers[0]!.push(this.#plan.first.map((id) => this.#placed(id)))
    if (trouble) this.#plot(trouble)
  }

  run(): SimulationResult {
    const world = this.#world
    try {
      while (!this.#isOver) {
        if (!world.step()) throw new Error('nothing is planned any more')
        if (this.#redis.wrong !== undefined) throw new Error(this.#redis.wrong)
        if (world.steps % CHECKED_EVERY === 0) this.#check()
        if (world.steps >= this.#looked.steps + MOVED_WITHIN) this.#mustMove()
        if (world.nowMs > this.#endsWithinMs) throw new Error(`the crawl does not end: ${this.#rest()}`)
      }
      this.#check()
    } catch (error) {
      const where = `seed ${this.#seed}, step ${world.steps}, at ${Math.round(world.nowMs)} ms`
      throw new Error(`${where}: ${(error as Error).message}`, { cause: error })
    }
    return {
      steps: world.steps,
      virtualMs: world.nowMs,
      starts: this.#starts,
      messages: this.#redis.messages,
      seen: this.#redis.seen,
    }
  }

  get #endsWithinMs(): number {
    const { longPart = 0 } = this.#bounds
    return this.#plan.pages * (SLOWEST_MS + longPart * LONG_MS) + ENDS_WITHIN_MS
  }

  get #isOver(): boolean {
    return this.#redis.committed.size === this.#plan.pages
  }

  #check(): void {
    // Its slot has the bounds that a lane sends with what it takes.
    for (const { machine } of this.#workers)
      for (const { isBucket, slots, job } of machine.turns)
        if (!isBucket && slots.size !== 1) throw new Error(`the lane of ${job.unit} has ${slots.size} slots`)
    if (this.#redis.model.state.heard.size === 0 || this.#redis.model.state.noted.size === 0) return
    const wrong = this.#redis.check(this.#plan)
    if (wrong !== undefined) throw new Error(wrong)
    const { nowMs } = this.#world
    const untaken = this.#untaken?.longest(this.#redis.model.state, this.#workers, nowMs)
    if (untaken && nowMs - untaken.sinceMs > (untaken.isElsewhere ? HELD_UP_MS_MAX : UNTAKEN_MS_MAX))
      throw new Error(
        `${idOf(untaken.text)} of ${untaken.bucket} could go for ${Math.round(nowMs - untaken.sinceMs)} ms, and ${untaken.isElsewhere ? 'another' : 'its'} worker has room`,
      )
  }

  #mustMove(): void {
    const { steps, nowMs } = this.#world
    if (nowMs === this.#looked.nowMs) throw new Error(`${MOVED_WITHIN} steps were done at this moment`)
    this.#looked = { steps, nowMs }
  }

  #rest(): string {
    const { waiting, delayed, leased } = this.#redis.model.counts()
    return `${this.#redis.committed.size} of ${this.#plan.pages} pages are done; ${waiting} wait, ${delayed} are held back, ${leased} are in flight`
  }

  #planned(pages: number, pace: HostPace | undefined): CrawlPlan {
    const chance = this.#chance
    const hosts = Array.from({ length: 2 + chance.below(8) }, (_, n) => `h${n}.test`)
    for (const [n, host] of hosts.entries()) this.#paces.set(host, pace ?? this.#paceOf(chance.next(), n > 2))
    const isDeep = chance.is(0.5)
    const largest = chance.of([0.2, 0.5, 0.9])
    const ids = Array.from(
      { length: pages },
      (_, n) => `${chance.is(largest) ? hosts[0] : chance.of(hosts)}/${n}`,
    )
    const children = new Map<string, string[]>()
    const first = ids.slice(0, 1 + chance.below(pages))
    for (const [n, id] of ids.entries()) {
      this.#priorities.set(id, chance.is(0.8) ? 0 : chance.below(5) - 2)
      if (n < first.length) continue
      const parent = ids[isDeep ? Math.max(0, n - 1 - chance.below(5)) : chance.below(n)]!
      children.set(parent, [...(children.get(parent) ?? []), id])
    }
    return { first, pages, childrenOf: (id) => children.get(id) ?? [] }
  }

  #paceOf(kind: number, mayBeSlow: boolean): HostPace {
    const steady = { randomize: false, jitter: 0 }
    if (kind < 0.1 && mayBeSlow) return { delayMs: SLOWEST_MS, concurrency: 8, ...steady }
    if (kind < 0.3) return { delayMs: 100 + this.#chance.below(900), concurrency: 8, ...steady }
    return { delayMs: 0, concurrency: kind < 0.7 ? 1 + this.#chance.below(4) : 0, ...steady }
  }

  #placed(id: string): Placed {
    const slot = id.slice(0, id.indexOf('/'))
    const text = `${id}\n\n{"v":1,"url":"http://${id}"}`
    return { place: 'end', bucket: bucketOf(slot), slot, priority: this.#priorities.get(id)!, texts: [text] }
  }

  #hire(): void {
    const pace = (slot: string) => this.#paces.get(slot) ?? USUAL_PACE
    const worker = new SimulatedWorker({
      name: `w${++this.#hired}`,
      world: this.#world,
      redis: this.#redis,
      pace,
      ownDelays: ownDelays({ named: [...this.#paces.keys()], pace, usualPace: USUAL_PACE, bucketOf }),
      bucketOf,
      buckets: BUCKETS,
      ...this.#bounds,
      linksOf: (id) => this.#plan.childrenOf(id).map((child) => this.#placed(child)),
      onHandOut: (lease) => this.#firsts?.handedOut(lease),
      onStart: (by, lease) => this.#onStart({ worker: by, lease }),
      onStop: (lease) => {
        for (const fetch of this.#fetches) if (fetch.lease === lease) this.#fetches.delete(fetch)
      },
      onHungry: ({ name, machine: { isBelowShare }, demand: wants }) =>
        this.#publish('hungry', hungryText({ worker: name, wants, isBelowShare })),
    })
    this.#workers.push(worker)
    this.#redis.model.present = this.#workers.length
  }

  #publish(channel: string, text: string): void {
    for (const worker of this.#workers)
      this.#world.in(0.1 + this.#chance.next() * 3, () => worker.heard(channel, text))
  }

  // Trouble

  #plot({ kills, drops, setBacks, setBacksAgain = 0, refusedRenewals = 0, clockJumps }: Trouble): void {
    this.#redis.refusedRenewals = refusedRenewals
    const spanMs = 20_000 + this.#chance.below(60_000)
    const plan = (count: number, run: () => void) => {
      for (let n = 0; n < count; n++) this.#world.in(this.#chance.next() * spanMs, run)
    }
    plan(kills, () => this.#kill())
    plan(drops, () => this.#chance.of(this.#workers).connection.drop())
    plan(clockJumps, () => {
      this.#chance.of(this.#workers).setClock((this.#chance.next() - 0.5) * 7_200_000)
    })
    plan(setBacks, () => this.#setBack())
    let again = setBacksAgain
    this.#redis.onReset = () => {
      if (again-- > 0) this.#world.in(this.#chance.next() * SOON_MS, () => this.#goBack())
    }
  }

  #kill(): void {
    const worker = this.#chance.of(this.#workers)
    worker.kill()
    this.#workers = this.#workers.filter((one) => one !== worker)
    this.#hire()
  }

  #setBack(): void {
    if (this.#redis.model.state.noted.size === 0) return
    this.#redis.takeSnapshot()
    this.#world.in(this.#chance.next() * 5000, () => this.#goBack())
  }

  #goBack(): void {
    this.#forgets()
    for (const worker of this.#workers) worker.connection.drop()
    this.#redis.goBack()
  }

  /** An older Redis does not know of the latest starts. */
  #forgets(): void {
    this.#troubledUntilMs = Math.max(this.#troubledUntilMs, this.#world.nowMs + FORGOTTEN_MS)
  }

  // What is looked at as a page starts

  #onStart(fetch: Fetch): void {
    this.#starts++
    const { slot } = fetch.lease
    const { delayMs, concurrency } = this.#paces.get(slot)!
    const nowMs = this.#world.nowMs
    const sinceMs = nowMs - (this.#startedAtMs.get(slot) ?? Number.NEGATIVE_INFINITY)
    this.#startedAtMs.set(slot, nowMs)
    this.#fetches.add(fetch)
    if (nowMs < this.#troubledUntilMs || !this.#hasLock(fetch)) return
    if (delayMs > 0 && sinceMs < delayMs - CREDIT_MS)
      throw new Error(`${slot} is asked after ${sinceMs.toFixed(1)} ms; its delay is ${delayMs} ms`)
    let running = 0
    for (const one of this.#fetches) if (one.lease.slot === slot && this.#hasLock(one)) running++
    if (concurrency > 0 && running > concurrency)
      throw new Error(`${running} pages of ${slot} are fetched at once; ${concurrency} may be`)
  }

  #hasLock({ worker, lease }: Fetch): boolean {
    const { job, lockToken } = lease.turn.job
    return !worker.isDead && lease.state === 'out' && this.#redis.hasLock(job, lockToken)
  }
}

function bucketOf(slot: string): string {
  return `#${slot.charCodeAt(1) % BUCKETS}`
}
