/** The home of a crawl of several shards, in virtual time: how far start() has come, and what it has for the shards. */

import type { Delivery, SentEntries } from '../../src/shards/outbox-entry.ts'
import type { Trim } from '../../src/shards/outbox-tender.ts'
import type { ShardState } from '../../src/shards/shard-state.ts'
import { newState } from '../model/frontier-state.ts'
import { type ModelOutbox, newOutbox } from '../model/outbox-state.ts'
import { read, type SentLine, send, stateOf, together, trim } from '../model/outbox-step.ts'

interface HomeState {
  readonly outbox: ModelOutbox
  cursor: number
  isStartEnded: boolean
}

export class SimulatedHome {
  state: HomeState = { outbox: newOutbox(), cursor: 0, isStartEnded: false }
  replid = 'home0'
  readonly #nowMs: () => number
  #snapshot: HomeState | undefined

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Queues elements of start() up to `to`; undefined when it has not come to `from`, or further. */
  pushStart(
    from: number,
    to: number,
    lines: readonly SentLine[],
    isLast: boolean,
  ): SentEntries[] | undefined {
    if (this.state.cursor !== from) return undefined
    this.state.cursor = to
    this.state.isStartEnded = isLast
    return together(lines.map((line) => send(this.state.outbox, this.replid, line)))
  }

  shardState(): ShardState {
    const { outbox, isStartEnded } = this.state
    return stateOf({ counts: newState().counts, outbox }, this.replid, this.#nowMs(), isStartEnded)
  }

  read(receiver: string, from: number, most: number): Delivery[] {
    return read(this.state.outbox, 'home', receiver, from, most)
  }

  trim(trims: readonly Pick<Trim, 'receiver' | 'upTo'>[]): void {
    trim(this.state.outbox, trims)
  }

  takeSnapshot(): void {
    this.#snapshot = structuredClone(this.state)
  }

  goBack(): void {
    this.state = structuredClone(this.#snapshot!)
  }
}
