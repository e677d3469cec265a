import type { Effect } from './frontier-effects.ts'
import type { Ending } from './frontier-message.ts'
import type { HeldSlot, HeldTurn } from './held-turn.ts'
import { goesToHead } from './turn-protocol.ts'

/** Outcomes of requests that Redis is to be told, in the order in which they came. */
export class Endings {
  readonly #effects: Effect[]
  #waiting: Ending[] = []
  /** Slots of which requests go back to the head of their line: what is taken of them meanwhile stood behind these. */
  readonly #goingBack = new Set<HeldSlot>()

  constructor(effects: Effect[]) {
    this.#effects = effects
  }

  get all(): readonly Ending[] {
    return this.#waiting
  }

  get size(): number {
    return this.#waiting.length
  }

  isGoingBack(slot: HeldSlot): boolean {
    return this.#goingBack.has(slot)
  }

  add(ending: Ending): void {
    this.#waiting.push(ending)
    if (goesToHead(ending.ended)) this.#goingBack.add(ending.slot)
  }

  /** Keeps only these: all others go with a message now. */
  keep(later: Ending[]): void {
    this.#waiting = later
    this.#goingBack.clear()
    for (const { ended, slot } of later) if (goesToHead(ended)) this.#goingBack.add(slot)
  }

  /** Puts endings that Redis has refused before all others, to be told again. */
  again(endings: readonly Ending[]): void {
    this.#waiting.unshift(...endings)
    for (const { ended, slot } of endings) if (goesToHead(ended)) this.#goingBack.add(slot)
  }

  /** Takes out and returns those of a turn. */
  takeOf(turn: HeldTurn): Ending[] {
    const [ofTurn, others]: [Ending[], Ending[]] = [[], []]
    for (const ending of this.#waiting) (ending.slot.turn === turn ? ofTurn : others).push(ending)
    this.#waiting = others
    return ofTurn
  }

  /** Tells the caller that Redis has the outcome. */
  done(ending: Ending): void {
    this.#effects.push({ kind: 'done', ending })
  }

  /** Tells the caller why Redis does not have the outcome; the lease may be ended again. */
  failed(ending: Ending, error: unknown): void {
    if (ending.lease?.state === 'ending') ending.lease.state = 'out'
    this.#effects.push({ kind: 'done', ending, error })
  }

  forget(slot: HeldSlot): void {
    this.#goingBack.delete(slot)
  }
}
