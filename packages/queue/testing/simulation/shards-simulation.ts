/**
 * A crawl over several shards in virtual time: for each shard real `FrontierMachine`s against the model of its scripts, and a home.
 * Each shard and the home goes back by itself, to a state up to two seconds older, or as old as a trouble says; connections are lost, workers are killed. A shard may come back
 * empty, too. A seed replays exactly. What must hold:
 *
 * - A page is in one place of its shard: it waits, is held back, is in flight, or is committed. None is done twice in one history.
 * - Each link of a page that is done is known to its shard, or is on its way to it.
 * - The crawl ends, and then nothing that a shard can lose was needed. It is lost, and not over, when a shard has come back empty before.
 *
 * Parts of the protocol can be left out, to see that each is needed.
 */

import type { HostPace } from '@webloom/core'
import type { Placed } from '../../src/frontier/turn-protocol.ts'
import { hungryText } from '../../src/members/hungry-word.ts'
import { addressIn, deliveriesOf } from '../../src/shards/outbox-entry.ts'
import type { SentLine } from '../model/outbox-step.ts'
import { SeededChance } from '../seeded-chance.ts'
import { SimulatedHome } from './simulated-home.ts'
import { SimulatedRedis } from './simulated-redis.ts'
import { type Reached, type ShardPart, SimulatedTending } from './simulated-tending.ts'
import { SimulatedWorker } from './simulated-worker.ts'
import { VirtualConnection } from './virtual-connection.ts'
import { VirtualWorld } from './virtual-world.ts'

const LOCK_MS = 6000
const BUCKETS = 2
const CHECKED_EVERY = 200
const LAG_MS_MAX = 2000
const ENDS_WITHIN_MS = 300_000
const START_EVERY_MS = 300
const HOME = 'home'
const RUN = 'run'

export interface ShardsTrouble {
  readonly kills: number
  readonly drops: number
  readonly setBacks: number
  /** For how long a server's replica lags before it takes the server's place. Default 2000. */
  readonly lagMsMax?: number
  /** How often a shard comes back without its data. Default 0. */
  readonly empties?: number
}

export interface ShardsSimulationOptions {
  readonly seed: number
  readonly pages?: number
  readonly shards?: number
  readonly trouble?: ShardsTrouble
  /** What is left out of the protocol. */
  readonly without?: ShardPart
}

interface Worker {
  readonly name: string
  readonly parts: ReadonlyMap<string, SimulatedWorker>
  readonly home: VirtualConnection
  readonly tending: SimulatedTending
  isDead: boolean
}

export interface ShardsSimulated {
  readonly steps: number
  readonly wentBack: number
  /** The crawl was not finished, as a shard had come back empty. */
  readonly isLost: boolean
}

/** Runs a crawl to its end. Throws with seed and step when something is wrong. */
export function simulateShards(options: ShardsSimulationOptions): ShardsSimulated {
  return new ShardsSimulation(options).run()
}

class ShardsSimulation {
  readonly #options: ShardsSimulationOptions
  readonly #chance: SeededChance
  readonly #world: VirtualWorld
  readonly #shards = new Map<string, SimulatedRedis>()
  readonly #home: SimulatedHome
  /** Those that will go back, and to which step of the world. */
  readonly #exposed = new Map<string, number>()
  readonly #ids: readonly string[]
  readonly #first: readonly string[]
  readonly #children = new Map<string, string[]>()
  readonly #paces = new Map<string, HostPace>()
  #workers: Worker[] = []
  #hired = 0
  #wentBack = 0
  #isFinished = false
  #isLost = false

  constructor(options: ShardsSimulationOptions) {
    const { seed, pages = 80, shards = 3, trouble } = options
    this.#options = options
    this.#chance = new SeededChance(seed)
    const chance = this.#chance
    this.#world = new VirtualWorld(chance)
    for (let n = 0; n < shards; n++) {
      const name = `s${n}`
      const published = (channel: string, text: string) => this.#publish(name, channel, text)
      this.#shards.set(name, new SimulatedRedis(this.#world, LOCK_MS, published, { isShard: true }))
    }
    this.#home = new SimulatedHome(() => Math.floor(this.#world.nowMs))
    const hosts = Array.from({ length: 2 * shards + chance.below(4) }, (_, n) => `h${n}.test`)
    for (const host of hosts)
      this.#paces.set(host, {
        ...{ delayMs: chance.is(0.2) ? 100 + chance.below(900) : 0, concurrency: chance.below(4) },
        ...{ randomize: false, jitter: 0 },
      })
    this.#ids = Array.from({ length: pages }, (_, n) => `${chance.of(hosts)}/${n}`)
    this.#first = this.#ids.slice(0, 1 + chance.below(Math.ceil(pages / 4)))
    for (const id of this.#ids.slice(this.#first.length)) {
      const n = this.#ids.indexOf(id)
      const parent = this.#ids[chance.is(0.5) ? Math.max(0, n - 1 - chance.below(3)) : chance.below(n)]!
      this.#children.set(parent, [...(this.#children.get(parent) ?? []), id])
    }
    for (let n = 0; n < 2 + chance.below(2); n++) this.#hire()
    if (trouble) this.#plot(trouble)
  }

  run(): ShardsSimulated {
    const world = this.#world
    try {
      while (!this.#isFinished && !this.#isLost) {
        if (!world.step()) throw new Error('nothing is planned any more')
        for (const { wrong } of this.#shards.values()) if (wrong !== undefined) throw new Error(wrong)
        if (world.steps % CHECKED_EVERY === 0) this.#check()
        if (world.nowMs > ENDS_WITHIN_MS) throw new Error(`the crawl does not end: ${this.#done} are done`)
      }
      this.#check()
      // A server that was about to go back may do so behind the end.
      for (const name of this.#exposed.keys()) this.#goBack(name)
      if (this.#isLost && !this.#isAnyEmptied)
        throw new Error('a crawl is taken for lost of which nothing is')
      if (!this.#isLost && this.#done < this.#ids.length)
        throw new Error(`the crawl ends early: ${this.#done} of ${this.#ids.length} pages are done`)
    } catch (error) {
      const where = `seed ${this.#options.seed}, step ${world.steps}, at ${Math.round(world.nowMs)} ms`
      throw new Error(`${where}: ${(error as Error).message}`, { cause: error })
    }
    return { steps: world.steps, wentBack: this.#wentBack, isLost: this.#isLost }
  }

  get #done(): number {
    let done = 0
    for (const { committed } of this.#shards.values()) done += committed.size
    return done
  }

  get #isAnyEmptied(): boolean {
    return [...this.#shards.values()].some(({ isEmptied }) => isEmptied)
  }

  // What must hold

  #check(): void {
    const there = new Set<string>()
    for (const shard of this.#shards.values()) {
      const known = shard.known()
      if (typeof known === 'string') throw new Error(known)
      for (const id of known) there.add(id)
    }
    if (this.#isAnyEmptied) return
    for (const id of this.#onTheirWay()) there.add(id)
    const led = [...this.#shards.values()].flatMap(({ committed }) => [...committed])
    const awaited = [
      ...this.#first.slice(0, this.#home.state.cursor),
      ...led.flatMap((id) => this.#children.get(id) ?? []),
    ]
    for (const id of awaited) if (!there.has(id)) throw new Error(`the page ${id} is lost`)
  }

  /** The pages that are in a list, and not known to their receiver by their number. */
  *#onTheirWay(): Iterable<string> {
    const outboxes = new Map([[HOME, this.#home.state.outbox]])
    for (const [name, { model }] of this.#shards) outboxes.set(name, model.state.outbox)
    for (const [sender, outbox] of outboxes)
      for (const [receiver, entries] of outbox.lists) {
        const applied = this.#shards.get(receiver)!.model.state.outbox.applied.get(sender)
        for (const entry of entries) {
          const [number, , , , , id] = entry.split('\n')
          const span = outbox.sent.get(receiver)!.spans.find(({ to }) => Number(number) <= to)!
          const known = applied?.get(span.epoch)
          const isKnown = known && (Number(number) <= known.upTo || known.beyond.has(Number(number)))
          if (!isKnown) yield id!
        }
      }
  }

  // Workers

  #shardOf(id: string): string {
    return `s${id.charCodeAt(1) % this.#shards.size}`
  }

  #lineOf(id: string): Omit<Placed, 'place'> {
    const slot = id.slice(0, id.indexOf('/'))
    return { bucket: bucketOf(slot), slot, priority: 0, texts: [`${id}\n\n{"v":1,"url":"http://${id}"}`] }
  }

  #hire(): void {
    const name = `w${++this.#hired}`
    const world = this.#world
    const parts = new Map([...this.#shards].map(([shard, redis]) => [shard, this.#part(name, shard, redis)]))
    const home = new VirtualConnection(world)
    const reached = new Map<string, Reached>([[HOME, this.#reachHome(home)]])
    for (const [shard, part] of parts) reached.set(shard, this.#reach(shard, part))
    const worker: Worker = {
      ...{ name, parts, home, isDead: false },
      tending: new SimulatedTending({
        world,
        isDead: () => worker.isDead,
        shards: reached,
        without: this.#options.without,
        finish: () => {
          this.#isFinished = true
        },
        endLost: () => {
          this.#isLost = true
        },
      }),
    }
    this.#workers.push(worker)
    for (const { model } of this.#shards.values()) model.present = this.#workers.length
    this.#runStart(worker)
  }

  #part(name: string, shard: string, redis: SimulatedRedis): SimulatedWorker {
    const pace = (slot: string) =>
      this.#paces.get(slot) ?? { delayMs: 0, concurrency: 4, randomize: false, jitter: 0 }
    return new SimulatedWorker({
      ...{ name, world: this.#world, redis, pace, bucketOf, buckets: BUCKETS, ownDelays: new Map() },
      linksOf: (id) =>
        (this.#children.get(id) ?? []).map((child) => {
          const to = this.#shardOf(child)
          const line = this.#lineOf(child)
          const bucket = to === shard ? line.bucket : addressIn(to, id, line.bucket)
          return { place: 'end', ...line, bucket }
        }),
      onStart: () => {},
      onStop: () => {},
      onHungry: ({ machine: { isBelowShare }, demand: wants }) =>
        this.#publish(shard, 'hungry', hungryText({ worker: name, wants, isBelowShare })),
      onSent: (groups, sent) => this.#workerOf(name)?.tending.gather(deliveriesOf(shard, groups, sent)),
    })
  }

  #workerOf(name: string): Worker | undefined {
    return this.#workers.find((worker) => worker.name === name)
  }

  #reach(shard: string, part: SimulatedWorker): Reached {
    const redis = this.#shards.get(shard)!
    const { connection } = part
    const { model } = redis
    return {
      state: (onReply) =>
        connection.send(() => {
          const run = redis.isEmptied ? '' : RUN
          return { ...model.shardState(), ...this.#offsets(shard), run }
        }, onReply),
      read: (receiver, from, most, onReply) =>
        connection.send(() => model.read(shard, receiver, from, most), onReply),
      trim: (trims) => connection.send(() => model.trim(trims)),
      deliver: (deliveries) => {
        part.deliver(deliveries)
        if (this.#options.without === 'ids') connection.send(() => model.state.outbox.ids.clear())
      },
    }
  }

  #reachHome(connection: VirtualConnection): Reached {
    const home = this.#home
    return {
      state: (onReply) =>
        connection.send(() => ({ ...home.shardState(), ...this.#offsets(HOME), run: RUN }), onReply),
      read: (receiver, from, most, onReply) =>
        connection.send(() => home.read(receiver, from, most), onReply),
      trim: (trims) => connection.send(() => home.trim(trims)),
      deliver: () => {
        throw new Error('nothing is sent to the home')
      },
    }
  }

  /** Goes on with start() from where the home says that it is. */
  #runStart(worker: Worker): void {
    const home = this.#home
    this.#world.in(START_EVERY_MS * this.#chance.next(), () => {
      if (worker.isDead) return
      worker.home.send(
        () => ({ ...home.state }),
        ({ cursor, isStartEnded }) => {
          if (!isStartEnded) this.#pushStart(worker, cursor)
          this.#runStart(worker)
        },
      )
    })
  }

  #pushStart(worker: Worker, from: number): void {
    const to = Math.min(this.#first.length, from + 1 + this.#chance.below(5))
    const lines = this.#first.slice(from, to).map((id, n): SentLine => {
      const shard = this.#shardOf(id)
      const asker = `start/${from + n}`
      const line = this.#lineOf(id)
      return { ...line, shard, asker }
    })
    worker.home.send(
      () => this.#home.pushStart(from, to, lines, to === this.#first.length),
      (sent) => {
        const groups = lines.map((line) => ({
          ...line,
          bucket: addressIn(line.shard, line.asker, line.bucket),
          place: 'end' as const,
        }))
        if (sent && !worker.isDead) worker.tending.gather(deliveriesOf(HOME, groups, sent))
      },
    )
  }

  #publish(shard: string, channel: string, text: string): void {
    for (const { parts } of this.#workers)
      this.#world.in(0.1 + this.#chance.next() * 3, () => parts.get(shard)!.heard(channel, text))
  }

  // Trouble

  #plot({ kills, drops, setBacks, empties = 0 }: ShardsTrouble): void {
    const spanMs = 5000 + this.#chance.below(30_000)
    const plan = (count: number, run: () => void) => {
      for (let n = 0; n < count; n++) this.#world.in(this.#chance.next() * spanMs, run)
    }
    const all = [HOME, ...this.#shards.keys()]
    plan(kills, () => this.#kill())
    plan(drops, () => this.#connections(this.#chance.of(all), this.#chance.of(this.#workers)).drop())
    plan(setBacks, () => this.#setBack(this.#chance.of(all)))
    plan(empties, () => this.#empty(this.#chance.of([...this.#shards.keys()])))
  }

  #kill(): void {
    const worker = this.#chance.of(this.#workers)
    worker.isDead = true
    for (const part of worker.parts.values()) part.kill()
    worker.home.close()
    this.#workers = this.#workers.filter((one) => one !== worker)
    this.#hire()
  }

  #connections(shard: string, { parts, home }: Worker): VirtualConnection {
    return parts.get(shard)?.connection ?? home
  }

  /** From now on a server's replica lags; some time later it takes the server's place. */
  #setBack(shard: string): void {
    if (this.#exposed.has(shard)) return
    this.#exposed.set(shard, this.#world.steps)
    this.#redisOf(shard).takeSnapshot()
    this.#world.in(this.#chance.next() * (this.#options.trouble?.lagMsMax ?? LAG_MS_MAX), () => {
      for (const worker of this.#workers) this.#connections(shard, worker).drop()
      this.#goBack(shard)
      this.#exposed.delete(shard)
    })
  }

  #goBack(shard: string): void {
    this.#wentBack++
    this.#redisOf(shard).goBack()
    if (this.#options.without === 'epochs') return
    const server = shard === HOME ? this.#home : this.#shards.get(shard)!.model
    server.replid = `${shard}x${this.#wentBack}`
  }

  /** By FLUSHALL, or as its server was started again without a file: then that has another history. */
  #empty(shard: string): void {
    const redis = this.#shards.get(shard)!
    if (this.#chance.is(0.5)) {
      for (const worker of this.#workers) this.#connections(shard, worker).drop()
      redis.model.replid = `${shard}e${this.#world.steps}`
    }
    redis.empty()
  }

  /** How far a server and its replica are, where time stands for what is written. */
  #offsets(shard: string): { offset: number; replicaOffset: number } {
    const offset = this.#world.steps
    return { offset, replicaOffset: this.#exposed.get(shard) ?? offset }
  }

  #redisOf(shard: string): { takeSnapshot(): void; goBack(): unknown } {
    return shard === HOME ? this.#home : this.#shards.get(shard)!
  }
}

function bucketOf(slot: string): string {
  return `#${slot.charCodeAt(1) % BUCKETS}`
}
