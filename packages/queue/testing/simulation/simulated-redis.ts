/**
 * The model of Redis in virtual time, with a ledger: where each page of the crawl is. Whatever happens, each page is known once:
 * it waits, is held back, is in flight, or is committed.
 */

import type { CommandNumber } from '../../src/buckets/scripts/command-numbers.ts'
import type { HoldingTurn, Renewed, TurnUpdate } from '../../src/frontier/turn-protocol.ts'
import { FrontierModel } from '../model/frontier-model.ts'
import { type FrontierState, newState } from '../model/frontier-state.ts'
import type { VirtualWorld } from './virtual-world.ts'

const EPOCH_MS = 1_700_000_000_000

/** The pages of a crawl: each but the first ones is a link of one page. */
export interface CrawlPlan {
  readonly first: readonly string[]
  readonly pages: number
  readonly childrenOf: (id: string) => readonly string[]
}

/** How often what is rare has come up. */
export interface Seen {
  /** Looks at the state in which a slot was hot, and in which it had several lanes. */
  hot: number
  lanes: number
  begun: number
  /** Turns begun with requests of a lost worker. */
  reclaimed: number
  lost: number
  /** Turns on which requests were in flight that their worker did not hold. */
  unheld: number
  wentBack: number
}

export class SimulatedRedis {
  readonly model: FrontierModel
  readonly #world: VirtualWorld
  /** Pages that were committed, as this state of Redis has it. */
  committed = new Set<string>()
  #snapshot: { state: FrontierState; committed: Set<string> } | undefined
  /** When Redis last came back with an older state. */
  wentBackAtMs = Number.NEGATIVE_INFINITY
  /** It has come back empty, and knows of no run. */
  isEmptied = false
  readonly seen: Seen = { hot: 0, lanes: 0, begun: 0, reclaimed: 0, lost: 0, unheld: 0, wentBack: 0 }
  /** Of renewals, the part that is refused. */
  refusedRenewals = 0
  /** Called when a worker has told that it knows of the older state. */
  onReset: (() => void) | undefined
  /** How many messages have come. */
  messages = 0
  /** What an invariant found wrong. */
  wrong: string | undefined

  constructor(
    world: VirtualWorld,
    lockMs: number,
    onPublished: (channel: string, text: string) => void,
    { isShard = false }: { isShard?: boolean } = {},
  ) {
    this.#world = world
    this.model = new FrontierModel({ order: 'priority', lockMs, now: () => this.nowMs, onPublished, isShard })
  }

  /** Redis's clock. */
  get nowMs(): number {
    return Math.floor(EPOCH_MS + this.#world.nowMs)
  }

  exchange(
    turns: readonly TurnUpdate[],
    command: CommandNumber,
    starts: number,
  ): ReturnType<FrontierModel['exchange']> {
    const ending = turns.flatMap((turn) => this.#ending(turn))
    this.messages++
    const answer = this.model.exchange(turns, true, command, starts)
    for (const { id, flight, token } of ending) {
      if (flight.has(token)) continue
      if (this.committed.has(id)) this.wrong ??= `the page ${id} is committed twice`
      this.committed.add(id)
    }
    return answer
  }

  /** Returns the pages that this part of a message commits, if their requests are in flight there. */
  #ending({
    unit,
    lane,
    holder,
    ended,
  }: TurnUpdate): { id: string; flight: ReadonlyMap<string, unknown>; token: string }[] {
    const flight = this.model.state.flight.get(`${lane}:${unit}`)
    if (!flight || this.model.state.units.get(unit)?.holders[Number(lane)] !== holder) return []
    return ended.flatMap(({ token, placed }) => {
      const text = flight.get(token)?.text
      if (text === undefined) return []
      const id = idOf(text)
      const goesBack = placed.some(({ texts }) => texts.some((one) => idOf(one) === id))
      return goesBack ? [] : [{ id, flight, token }]
    })
  }

  renew<T extends HoldingTurn>(
    turns: readonly T[],
    lockMs: number,
    told: Parameters<FrontierModel['renew']>[2],
  ): Renewed<T> {
    if (this.refusedRenewals > 0 && this.#world.chance.is(this.refusedRenewals))
      throw new Error('this renewal is refused')
    const renewed = this.model.renew(turns, lockMs, told)
    if (told.reset) this.onReset?.()
    return renewed
  }

  takeSnapshot(): void {
    this.#snapshot = structuredClone({ state: this.model.state, committed: this.committed })
  }

  /** Comes back with the state of the last snapshot. */
  goBack(): boolean {
    if (!this.#snapshot) return false
    const { state, committed } = structuredClone(this.#snapshot)
    this.model.state = state
    this.committed = committed
    this.wentBackAtMs = this.#world.nowMs
    return true
  }

  /** Comes back without its data, which no replica has either. What was committed was done all the same. */
  empty(): void {
    this.isEmptied = true
    this.model.state = newState()
    this.takeSnapshot()
    this.wentBackAtMs = this.#world.nowMs
  }

  /** Whether that lock is held now. */
  hasLock(job: string, token: string): boolean {
    const lock = this.model.state.jobs.locks.get(job)
    return lock?.token === token && lock.untilMs >= this.nowMs
  }

  /** Returns what is wrong with the state as a whole. */
  check({ first, childrenOf }: CrawlPlan): string | undefined {
    const known = this.known()
    if (typeof known === 'string') return known
    for (const id of [...first, ...[...this.committed].flatMap(childrenOf)])
      if (!known.delete(id)) return `the page ${id} is lost`
    for (const id of known) return `the page ${id} is known before the one that leads to it`
    return undefined
  }

  /** Returns the pages that are known here; or what is wrong with their places. */
  known(): Set<string> | string {
    const { state } = this.model
    for (const { name, bucket, mixed = 0, up = 0 } of state.units.values()) {
      if (up > 1) this.seen.lanes++
      if (bucket === undefined) continue
      this.seen.hot++
      const held = [...(state.flight.get(`0:${bucket}`)?.values() ?? [])].filter(({ slot }) => slot === name)
      if (held.length !== mixed)
        return `${held.length} pages of the hot ${name} are in flight in its bucket, and ${mixed} are counted`
    }
    const places = { waiting: 0, delayed: 0, leased: 0 }
    const seen = new Map<string, string>()
    let twice: string | undefined
    const see = (text: string, place: keyof typeof places) => {
      places[place]++
      const id = idOf(text)
      if (seen.has(id) || this.committed.has(id))
        twice ??= `the page ${id} is ${place} and ${seen.get(id) ?? 'committed'}`
      seen.set(id, place)
    }
    for (const lines of state.lines.values())
      for (const { entries = [], lists } of lines.values()) {
        for (const { text } of entries) see(text, 'waiting')
        for (const list of lists.values()) for (const text of list) see(text, 'waiting')
      }
    for (const late of state.late.values())
      for (const member of late.keys()) see(member.split('\n').slice(3).join('\n'), 'delayed')
    for (const flight of state.flight.values()) for (const { text } of flight.values()) see(text, 'leased')
    if (twice !== undefined) return twice
    for (const [place, count] of Object.entries(places)) {
      const counted = state.counts[place as keyof typeof places]
      if (counted !== count) return `${counted} are counted as ${place}, and ${count} are`
    }
    return new Set([...seen.keys(), ...this.committed])
  }
}

export function idOf(text: string): string {
  return text.slice(0, text.indexOf('\n'))
}
