/**
 * What a worker does about all shards, in virtual time: it delivers what it has written for others, reads the state of all every two seconds,
 * has sent again what is lacking and deleted what is safe, and ends the crawl. Each shard is told over a connection of its own.
 */

import { isNothingLeft, isSameMoment } from '../../src/shards/crawl-end-rounds.ts'
import type { Delivery } from '../../src/shards/outbox-entry.ts'
import { knownUpTo } from '../../src/shards/outbox-numbers.ts'
import { OutboxTender, type Trim } from '../../src/shards/outbox-tender.ts'
import type { Round, ShardState } from '../../src/shards/shard-state.ts'
import type { VirtualWorld } from './virtual-world.ts'

const LOOKS_EVERY_MS = 2000
const READ_MAX = 20
const GATHER_MS = 20

/** A part of what holds the protocol together. */
export type ShardPart =
  | 'retention'
  | 'epochs'
  | 'ids'
  | 'looks'
  | 'first round'
  | 'second round'
  | 'wait'
  | 'pairs'

/** A shard or the home, over a worker's connection. A reply may never come. */
export interface Reached {
  state(onReply: (state: ShardState & { readonly isStartEnded?: boolean }) => void, waits: boolean): void
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
}

export class SimulatedTending {
  readonly #options: SimulatedTendingOptions
  readonly #tender = new OutboxTender()
  readonly #gathered = new Map<string, Delivery[]>()

  constructor(options: SimulatedTendingOptions) {
    this.#options = options
    this.#again()
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

  #again(): void {
    const { world, isDead } = this.#options
    world.in(LOOKS_EVERY_MS * (0.5 + world.chance.next()), () => {
      const waits = this.#options.without === 'first round'
      if (!isDead()) this.#round(waits, (round, isStartEnded) => this.#looked(round, isStartEnded))
    })
  }

  /** @param waits each server must have told a replica of all before it is read */
  #round(waits: boolean, onRead: (round: Round, isStartEnded: boolean) => void): void {
    const { shards } = this.#options
    const round = new Map<string, ShardState>()
    let ended = false
    for (const [name, shard] of shards)
      shard.state(({ isStartEnded = false, ...state }) => {
        round.set(name, state)
        ended ||= isStartEnded
        if (round.size === shards.size) onRead(round, ended)
      }, waits)
  }

  #looked(round: Round, isStartEnded: boolean): void {
    const { shards, without, finish } = this.#options
    const { resends, trims } = this.#tender.look(round)
    if (without !== 'looks')
      for (const { sender, receiver, from } of resends)
        shards.get(sender)!.read(receiver, from.number, READ_MAX, (deliveries) => {
          if (deliveries.length > 0) shards.get(receiver)!.deliver(deliveries)
        })
    for (const one of without === 'retention' ? knownNow(round) : trims) shards.get(one.sender)!.trim([one])
    this.#again()
    if (!isStartEnded || !this.#isNothingLeft(round)) return
    if (without === 'first round' || without === 'second round') finish()
    else
      this.#round(without !== 'wait', (second, isStillEnded) => {
        if (isStillEnded && this.#isNothingLeft(second) && isSameMoment(round, second)) finish()
      })
  }

  #isNothingLeft(round: Round): boolean {
    if (this.#options.without !== 'pairs') return isNothingLeft(round)
    return [...round.values()].every(({ waiting, delayed, leased }) => waiting + delayed + leased === 0)
  }
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
