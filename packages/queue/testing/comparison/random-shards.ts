/**
 * What other shards and whoever tends the outboxes do to a shard, at random: they deliver entries, in order or not, once or again, and of
 * senders that have gone back; read and delete what it has for them.
 */

import { type Delivery, entryText } from '../../src/shards/outbox-entry.ts'
import type { SeededChance } from '../seeded-chance.ts'
import type { RedisAndModel } from './redis-and-model.ts'

const SENDERS = ['s0', 's1', 'home']
const RECEIVERS = ['s0', 's1', 's2']
const SLOTS = ['a.test', 'b.test', 'hot.test']

export class RandomShards {
  readonly #both: RedisAndModel
  readonly #chance: SeededChance
  /** By sender. */
  readonly #last = new Map<string, { epoch: string; number: number }>()
  readonly #late: Delivery[] = []
  #epochs = 0

  constructor(both: RedisAndModel, chance: SeededChance) {
    this.#both = both
    this.#chance = chance
  }

  async act(): Promise<void> {
    const at = this.#chance.next()
    // What was applied is known by asker and request for a minute or two.
    if (this.#chance.is(0.1)) this.#both.nowMs += this.#chance.below(100_000)
    if (at < 0.6) await this.#deliver()
    else if (at < 0.75) await this.#both.runShard('state', (on) => on.shardState())
    else if (at < 0.85) await this.#read()
    else await this.#trim()
  }

  async #deliver(): Promise<void> {
    const chance = this.#chance
    const deliveries = Array.from({ length: 1 + chance.below(3) }, () => this.#delivery())
    for (const late of this.#late.splice(0)) (chance.is(0.5) ? deliveries : this.#late).push(late)
    this.#late.push(...chance.some(deliveries, 0.3))
    await this.#both.runShard('apply', (on) => on.apply('w0', '', deliveries))
  }

  #delivery(): Delivery {
    const chance = this.#chance
    const sender = chance.of(SENDERS)
    let last = this.#last.get(sender) ?? { epoch: `e${++this.#epochs}.1`, number: 0 }
    if (chance.is(0.03)) {
      const number = Math.max(0, last.number - chance.below(8))
      last = { epoch: `e${++this.#epochs}.${number + 1}`, number }
    }
    const from = last.number + 1 + (chance.is(0.1) ? chance.below(4) : 0)
    const entries = Array.from({ length: 1 + chance.below(4) }, (_, n) => {
      const slot = chance.of(SLOTS)
      const line = { bucket: `#${slot.charCodeAt(0) % 3}`, slot, priority: chance.is(0.8) ? 0 : 1 }
      const id = `${slot}/${chance.is(0.3) ? chance.below(20) : `${sender}/${from + n}`}`
      return entryText(from + n, `page ${chance.below(4)}`, line, `${id}\n\n{"v":1}`)
    })
    this.#last.set(sender, { epoch: last.epoch, number: from + entries.length - 1 })
    const listFrom = chance.is(0.2) && { listFrom: Math.max(1, from - chance.below(6)) }
    return { sender, epoch: last.epoch, entries, ...listFrom }
  }

  async #read(): Promise<void> {
    const receiver = this.#chance.of(RECEIVERS)
    const from = 1 + this.#chance.below(30)
    await this.#both.runShard('read', (on) => on.read('own', receiver, from, 5))
  }

  async #trim(): Promise<void> {
    const chance = this.#chance
    const trims = [...this.#both.model.shardState().sent].flatMap(([receiver, { from, spans }]) => {
      const { epoch, to } = chance.of(spans)
      const number = chance.is(0.1) ? to + 2 : from - 2 + chance.below(Math.max(1, to - from + 3))
      return chance.is(0.6) ? [{ receiver, upTo: { epoch, number } }] : []
    })
    await this.#both.runShard('trim', (on) => on.trim(trims))
  }
}
