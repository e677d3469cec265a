/**
 * Where a worker's turns and Redis meet: outcomes go there, and the next requests come back, for all turns with one script.
 * One script is under way at a time, and what gathers meanwhile goes with the next one. So under load a script carries many
 * pages, and in an idle crawl none waits.
 */

import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import { type HostNews, isRedisFull, laterNews, type ProtocolTimes } from '@webloom/core'
import { RunOver } from '../crawl/run-over.ts'
import { leaseLost } from '../leasing/lease-lost.ts'
import type { HeldTurns } from './held-turns.ts'
import { type HostTurn, LEAD_MS, type TurnLease } from './host-turn.ts'
import { type Said, type SaidNumbers, WentBack } from './said-numbers.ts'
import { fullError } from './turn-errors.ts'
import type { Ended, Stirred, TurnAnswer, TurnSays, TurnScripts } from './turn-scripts.ts'

/** The most requests that one script adds. */
export const MAX_REQUESTS_PER_SCRIPT = 500
const MAX_ENDINGS_PER_SCRIPT = 200
/** A script costs Redis as much as three pages in it. While enough requests lie ready, outcomes gather for so long. */
const GATHER_MS = 3
/** How many requests may be taken ahead for hosts that may not be asked yet, at least; more when more are wanted. */
const SPARES_MIN = 4

/** The outcome of a request in flight, on its way to Redis. */
export interface Ending {
  readonly turn: HostTurn
  readonly ended: Ended
  /** Absent for a request that was never handed out. */
  readonly lease?: TurnLease
  readonly news?: HostNews
  /** How many requests the outcome adds. */
  readonly adds: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export interface TurnExchangeOptions {
  readonly scripts: TurnScripts
  readonly said: SaidNumbers
  readonly turns: HeldTurns
  readonly times: ProtocolTimes
  /** Returns how many requests would be handed out at once. */
  readonly demand: () => number
  /** Returns how many more may be taken beyond that, when a script is sent anyhow. */
  readonly stockRoom: () => number
  /** Returns whether fresh turns are coming, which go before those that were served already. */
  readonly isLooking: () => boolean
  readonly onAnswer: (turn: HostTurn, says: TurnSays, answer: TurnAnswer) => void
  readonly onStirred: (stirred: Stirred) => void
  /** Called when Redis has done nothing of what was sent, as it has gone back. */
  readonly onWentBack: (error: WentBack) => void
  /** Called when Redis has done nothing of what was sent, as the run is over. */
  readonly onRunOver: (error: RunOver) => void
  /** Called when there is nothing to send for now. */
  readonly onIdle: () => void
}

interface Message {
  readonly said: Said
  readonly says: Map<HostTurn, Writable<TurnSays>>
  readonly endings: readonly Ending[]
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

export class TurnExchange {
  readonly #options: TurnExchangeOptions
  #endings: Ending[] = []
  /** Turns of requests that go back to the head of their line. */
  #goingBack = new Set<HostTurn>()
  readonly #leaving = new Set<HostTurn>()
  #isRunning = false
  #running: Promise<void> = Promise.resolve()
  /** Ends the gathering. */
  #hurry: (() => void) | undefined
  /** True when Redis is full: outcomes that add no requests go without the others. */
  #isFull = false

  constructor(options: TurnExchangeOptions) {
    this.#options = options
  }

  end(ending: Ending): void {
    this.#endings.push(ending)
    if (goesToHead(ending.ended)) this.#goingBack.add(ending.turn)
    this.kick()
  }

  /** Leaves the turn as soon as it holds no request. */
  leave(turn: HostTurn): void {
    turn.leavingSinceMs ??= performance.now()
    this.#leaving.add(turn)
    this.kick()
  }

  /** Keeps the turn after all: a request in it takes its time, and its host is served meanwhile. */
  stay(turn: HostTurn): void {
    turn.leavingSinceMs = undefined
    this.#leaving.delete(turn)
    this.#options.turns.place(turn)
  }

  /** Drops what the turn had to say. */
  lost(turn: HostTurn, error: unknown): void {
    this.#leaving.delete(turn)
    const void_ = this.#endings.filter((ending) => ending.turn === turn)
    this.#endings = this.#endings.filter((ending) => ending.turn !== turn)
    for (const ending of void_) ending.reject(error)
  }

  /** Called when there may be something to send. */
  kick(): void {
    if (this.#hurry && this.#isUrgent) this.#hurry()
    if (this.#isRunning) return
    this.#isRunning = true
    this.#running = this.#run()
  }

  /**
   * Returns whether a request of the turn goes back to the head of its line and Redis has not been told. It stands before
   * requests that come from there.
   */
  goesBack(turn: HostTurn): boolean {
    return this.#goingBack.has(turn)
  }

  /** Resolves when there is nothing left to send. */
  async settled(): Promise<void> {
    while (this.#isRunning) await this.#running
  }

  async #run(): Promise<void> {
    await this.#gather()
    for (let message = this.#next(); message; message = this.#next()) {
      await this.#send(message)
      await this.#gather()
    }
    this.#isRunning = false
    this.#options.onIdle()
  }

  /**
   * Gathers: outcomes of one round of the event loop go with one script; those that no caller waits for may go a little
   * later.
   */
  async #gather(): Promise<void> {
    await immediate()
    if (this.#isUrgent) return
    await new Promise<void>((resolve) => {
      this.#hurry = resolve
      setTimeout(resolve, GATHER_MS)
    })
    this.#hurry = undefined
  }

  get #isUrgent(): boolean {
    return this.#leaving.size > 0 || this.#options.demand() > 0
  }

  #next(): Message | undefined {
    const endings = this.#takeEndings()
    const says = new Map<HostTurn, Writable<TurnSays>>()
    for (const { turn, news } of endings) if (news) turn.learn(news)
    for (const { turn, ended, lease, news } of endings) {
      const turnSays = this.#saysOf(turn, says)
      addEnded(turnSays.ended as Ended[], ended)
      if (news) turnSays.news = laterNews(turnSays.news, news)
      if (lease && !lease.hasStarted && turn.isPaced) turnSays.isUndone = true
    }
    for (const turn of this.#leaving) if (turn.held.size === 0) this.#saysOf(turn, says).leaves = true
    this.#take(says, endings.length > 0)
    if (says.size === 0) return undefined
    const said = this.#options.said.next()
    for (const [turn, turnSays] of says) {
      if (turnSays.most > 0) turnSays.batch = turn.batch ??= said.number
    }
    return { said, says, endings }
  }

  #takeEndings(): Ending[] {
    const [now, later]: [Ending[], Ending[]] = [[], []]
    let adds = 0
    for (const ending of this.#endings) {
      const fits =
        now.length < MAX_ENDINGS_PER_SCRIPT &&
        (now.length === 0 || adds + ending.adds <= MAX_REQUESTS_PER_SCRIPT)
      const mixes = this.#isFull && now.length > 0 && now[0]!.adds > 0 !== ending.adds > 0
      if (fits && !mixes) {
        now.push(ending)
        adds += ending.adds
      } else later.push(ending)
    }
    this.#endings = later
    this.#goingBack = new Set(later.filter(({ ended }) => goesToHead(ended)).map(({ turn }) => turn))
    return now
  }

  #saysOf(turn: HostTurn, says: Message['says']): Writable<TurnSays> {
    const known = says.get(turn)
    if (known) return known
    const { host, lane, generation } = turn.job
    const startedAgoMs = turn.tellStart(performance.now())
    const turnSays: Writable<TurnSays> = {
      host,
      lane,
      generation,
      holder: turn.holder,
      ...(startedAgoMs !== undefined && { startedAgoMs }),
      drawnMs: turn.drawnMs,
      isUndone: false,
      ended: [],
      most: 0,
      batch: 0,
      aheadMs: LEAD_MS,
      concurrency: turn.concurrency,
      leaves: false,
    }
    says.set(turn, turnSays)
    return turnSays
  }

  /** Takes first for turns that were served longest ago, for each as many as are wanted in all. */
  #take(says: Message['says'], isSent: boolean): void {
    const { turns, demand, stockRoom, isLooking } = this.#options
    let wanted = demand() + (isSent ? stockRoom() : 0)
    if (wanted <= 0) return
    this.#takeAhead(says, wanted)
    turns.wakeDue()
    const onlyFresh = isLooking()
    if (onlyFresh && turns.freshCount < wanted) return
    const share = Math.ceil(wanted / Math.max(1, turns.readyCount))
    while (wanted > 0) {
      const turn = turns.next({ onlyFresh })
      if (!turn) break
      turn.served()
      const turnSays = this.#saysOf(turn, says)
      turnSays.most = Math.min(turn.room, share, wanted, MAX_REQUESTS_PER_SCRIPT)
      wanted -= turnSays.most
    }
    if (wanted > 0) this.#takeInPlaceOfEnded(says, wanted)
  }

  /** Takes for a host that has all in flight that it may have, in the place of the request that ends. */
  #takeInPlaceOfEnded(says: Message['says'], wanted: number): void {
    let left = wanted
    for (const [turn, turnSays] of says) {
      if (left <= 0) return
      if (turn.isPaced || turn.isPaused || turn.isFull || turn.room > 0) continue
      if (turnSays.leaves || turn.isLeaving) continue
      if (turn.head === undefined || turnSays.most > 0) continue
      turnSays.most = Math.min(turnSays.ended.length, left)
      left -= turnSays.most
      turn.served()
    }
  }

  /** Takes a host's next request along with a page that ends, even if that request may not go yet. */
  #takeAhead(says: Message['says'], wanted: number): void {
    const { lingerMs } = this.#options.times.turns
    let spares = this.#options.turns.spareCount
    for (const [turn, turnSays] of says) {
      if (spares >= Math.max(SPARES_MIN, wanted)) return
      const isNear = turn.dueAtMs - performance.now() < lingerMs
      if (
        !turn.isPaced ||
        turn.isPaused ||
        !isNear ||
        turnSays.leaves ||
        turn.spare ||
        turn.head === undefined
      )
        continue
      if ([...turn.held.values()].some((lease) => !lease.hasStarted)) continue
      turnSays.most = 1
      turnSays.aheadMs = lingerMs
      this.#options.turns.unplace(turn)
      spares++
    }
  }

  async #send({ said, says, endings }: Message): Promise<void> {
    const isGrowing = endings.some(({ adds }) => adds > 0)
    try {
      const { answers, ...stirred } = await this.#options.scripts.exchange(
        [...says.values()],
        isGrowing,
        said,
      )
      this.#options.said.wasAnswered(said)
      this.#isFull = false
      let n = 0
      const lost = new Set<HostTurn>()
      for (const turn of says.keys()) if (answers[n++]!.status === 'lost') lost.add(turn)
      for (const { turn, lease, resolve, reject } of endings) {
        if (lost.has(turn)) reject(leaseLost(lease?.request, `another worker has taken over ${turn.slot}`))
        else resolve()
      }
      n = 0
      for (const [turn, turnSays] of says) {
        const answer = answers[n++]!
        // A turn could not be left, as Redis has more in flight there than this worker holds. It goes on for now.
        if (answer.status !== 'held') this.#leaving.delete(turn)
        else if (turnSays.leaves) this.stay(turn)
        this.#options.onAnswer(turn, turnSays, answer)
      }
      this.#options.onStirred(stirred)
    } catch (error) {
      this.#unsaid(says)
      if (error instanceof WentBack) {
        for (const { reject, lease } of endings) reject(leaseLost(lease?.request, error.message))
        this.#options.onWentBack(error)
      } else if (error instanceof RunOver) {
        for (const { reject, lease } of endings) reject(leaseLost(lease?.request, error.message))
        this.#options.onRunOver(error)
        await sleep(this.#options.times.turns.retryMs)
      } else await this.#onRefusal(endings, isGrowing, error as Error)
    }
  }

  /**
   * Undoes what was sent without a reply. As far as is known nothing of it was done; a take that was done gets the same
   * reply again.
   */
  #unsaid(says: Message['says']): void {
    for (const [turn, { startedAgoMs }] of says) {
      if (startedAgoMs !== undefined) turn.startUntold()
      this.#options.turns.place(turn)
    }
  }

  async #onRefusal(endings: readonly Ending[], isGrowing: boolean, error: Error): Promise<void> {
    if (isGrowing && isRedisFull(error)) {
      this.#isFull = true
      this.#endings.unshift(...endings.filter(({ adds }) => adds === 0))
      for (const { adds, reject } of endings) if (adds > 0) reject(fullError(error))
      return
    }
    for (const { reject } of endings) reject(error)
    await sleep(this.#options.times.turns.retryMs)
  }
}

/**
 * Adds an outcome. Of requests that go back to the head of a line, the one that was taken first is put back last, so that
 * it goes first again.
 */
function addEnded(all: Ended[], ended: Ended): void {
  const at = goesToHead(ended) ? all.findIndex((other) => !goesToHead(other) || isBefore(other, ended)) : -1
  if (at < 0) all.push(ended)
  else all.splice(at, 0, ended)
}

function goesToHead({ placed }: Ended): boolean {
  return placed.some(({ place }) => place === 'head')
}

/** Compares by tokens: the number of the take, and the request's own number in it. */
function isBefore(one: Ended, other: Ended): boolean {
  const [take, n] = numbersOf(one)
  const [otherTake, otherN] = numbersOf(other)
  return take !== otherTake ? take < otherTake : n < otherN
}

function numbersOf({ token }: Ended): [take: number, n: number] {
  const [take, n] = token.split('.').map(Number)
  return [take!, n!]
}
