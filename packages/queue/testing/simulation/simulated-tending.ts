/**
 * What a worker does about all shards, in virtual time: it delivers what it has written for others, reads the state of all every two seconds,
 * has sent again what is lacking and deleted what is safe, and ends the crawl, as lost where a shard has come back empty. Each shard is told over a
 * connection of its own.
 */

import { CrawlEndRounds } from '../../src/shards/crawl-end-rounds.ts'
import { HOME } from '../../src/shards/crawl-shards.ts'
import type { Delivery } from '../../src/shards/outbox-entry.ts'
import { knownUpTo } from '../../src/shards/outbox-numbers.ts'
import { OutboxTender, type Trim } from '../../src/shards/outbox-tender.ts'
import type { Round, ShardState } from '../../src/shards/shard-state.ts'
import type { VirtualWorld } from './virtual-world.ts'

const LOOKS_EVERY_MS = 2000
const SOON_MS = 200
const READ_MAX = 20
const GATHER_MS = 20

/** A part of what holds the protocol together. */
export type ShardPart =
  | 'retention'
  | 'retention by replicas'
  | 'epochs'
  | 'ids'
  | 'looks'
  | 'second round'
  | 'replicas'
  | 'pairs'
  | 'runs'

/** A shard or the home, over a worker's connection. A reply may never come. */
export interface Reached {
  state(onReply: (state: ShardState) => void): void
  read(receiver: string, from: number, most: number, onReply: (deliveries: Delivery[]) => void): void
  trim(trims: readonly Trim[]): void
  deliver(deliveries: readonly Delivery[]): void
}

export interface SimulatedTendingOptions {
  readonly world: VirtualWorld
  readonly isDead: () => boolean
  readonly shards: ReadonlyMap<string, Reached>
  readonly without: ShardPart | undefined
  readonly finish: () => void
  /** Called when a shard has not known of the run at a look, nor a moment later. */
  readonly endLost: () => void
}

export class SimulatedTending {
  readonly #options: SimulatedTendingOptions
  readonly #tender = new OutboxTender()
  readonly #end = new CrawlEndRounds()
  readonly #gathered = new Map<string, Delivery[]>()

  constructor(options: SimulatedTendingOptions) {
    this.#options = options
    this.#again('tend')
  }

  /** Delivers soon, with what else comes for that shard. */
  gather(deliveries: ReadonlyMap<string, readonly Delivery[]>): void {
    const { world, isDead, shards } = this.#options
    for (const [receiver, all] of deliveries) {
      const gathered = this.#gathered.get(receiver)
      if (gathered) {
        gathered.push(...all)
        continue
      }
      this.#gathered.set(receiver, [...all])
      world.in(world.chance.next() * GATHER_MS, () => {
        const ready = this.#gathered.get(receiver)!
        this.#gathered.delete(receiver)
        if (!isDead()) shards.get(receiver)!.deliver(ready)
      })
    }
  }

  /** Looks again, to tend the outboxes, too, or only whether the crawl is over. */
  #again(what: 'tend' | 'end'): void {
    const { world, isDead } = this.#options
    const ms = what === 'tend' ? LOOKS_EVERY_MS : SOON_MS
    world.in(ms * (0.5 + world.chance.next()), () => {
      if (!isDead()) this.#look(what)
    })
  }

  #look(what: 'tend' | 'end'): void {
    const { shards } = this.#options
    const round = new Map<string, ShardState>()
    for (const [name, shard] of shards)
      shard.state((state) => {
        round.set(name, state)
        if (round.size < shards.size) return
        if (what === 'tend') this.#endLost(round)
        this.#looked(round)
      })
  }

  #endLost(round: Round): void {
    const { world, isDead, shards, endLost } = this.#options
    const { run } = round.get(HOME)!
    const strange = [...round].filter(([, state]) => state.run !== run).map(([name]) => name)
    const lookAgain = () => {
      if (isDead()) return
      for (const name of strange) shards.get(name)!.state((state) => void (state.run !== run && endLost()))
    }
    if (strange.length > 0) world.in(SOON_MS, lookAgain)
  }

  #looked(round: Round): void {
    const { shards, without, finish } = this.#options
    const { resends, trims } = this.#tender.look(
      without === 'retention by replicas' ? asReplicated(round) : round,
    )
    if (without !== 'looks')
      for (const { sender, receiver, from } of resends)
        shards.get(sender)!.read(receiver, from.number, READ_MAX, (deliveries) => {
          if (deliveries.length > 0) shards.get(receiver)!.deliver(deliveries)
        })
    for (const one of without === 'retention' ? knownNow(round) : trims) shards.get(one.sender)!.trim([one])
    const ends = this.#end.look(this.#seen(round))
    if (ends === 'over' || (ends === 'soon' && without === 'second round')) finish()
    else this.#again(ends === 'soon' ? 'end' : 'tend')
  }

  /** The round as it is judged, where a part is left out. */
  #seen(round: Round): Round {
    const { without } = this.#options
    if (without === 'replicas') return asReplicated(round)
    const blind = { ...(without === 'pairs' && { sent: new Map() }), ...(without === 'runs' && { run: '' }) }
    return new Map([...round].map(([name, state]) => [name, { ...state, ...blind }]))
  }
}

/** As if each server's replica had all. */
function asReplicated(round: Round): Round {
  return new Map([...round].map(([name, state]) => [name, { ...state, replicaOffset: state.offset }]))
}

/** What may go at once, if no receiver ever went back. */
function knownNow(round: Round): Trim[] {
  return [...round].flatMap(([sender, { sent }]) =>
    [...sent].flatMap(([receiver, list]) => {
      const upTo = knownUpTo(list, round.get(receiver)?.applied.get(sender) ?? new Map())
      return upTo ? [{ sender, receiver, upTo }] : []
    }),
  )
}
