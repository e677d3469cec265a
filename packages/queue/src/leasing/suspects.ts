/**
 * The rule for suspects: a request that was in flight when a worker died may have killed that worker, and runs alone in its
 * next worker.
 *
 *     open      others go
 *     closing   a suspect lies here: nothing goes until all that were handed out have ended
 *     alone     `beginAlone` has noted in Redis which request this worker runs alone; the suspect is handed out, and no other
 *     open      the suspect has ended, and `endAlone` has deleted the note
 *
 * The note is in Redis before the suspect goes. So if the worker dies, the note names the request that killed it; without a
 * note, any of its requests may have.
 *
 * A host that never answers would hold up the worker by what it was asked before, or by a suspect. So both waits have an end,
 * the suspect's *patience*:
 *
 *     closing   what has not ended by then is waited for no longer: the suspect goes beside it, and without a note, as each of
 *               them may be what kills the worker
 *     alone     the note is deleted, and the suspect goes on beside others
 *
 * One suspect goes after the other until others have waited for three times the patience. Then these have a break for as long as they
 * had waited. So they wait for half of the time at the most.
 *
 * The patience is four times as long with each further worker that was lost with the request in flight. So one that kills late,
 * or among others that hang, is alone in the end.
 */

import { PROTOCOL_TIMES } from '@webloom/core'

export interface SuspectItem {
  readonly id: string
  /** From 1. Each further one has followed a lost worker; one of them, at the most, a worker that stopped. */
  readonly attempt: number
}

export interface SuspectOptions<Item> {
  /** Notes that this worker is about to run the item alone. What it throws goes to `onRefused`. */
  beginAlone(item: Item): Promise<void>
  /** The item is not alone any more: deletes the note. Must do nothing when the note is gone already. */
  endAlone(item: Item): Promise<void>
  /** Called with a line for the log as this item is about to run, also where nothing is noted. */
  onAlone?(item: Item, words: string): void
  /** The patience with a suspect that one worker was lost with, milliseconds. Default: as in PROTOCOL_TIMES. */
  readonly patienceMs?: number | undefined
}

export interface SuspectEvents {
  /** Others may go now, or the suspect may. */
  readonly onChange: () => void
  /** Redis has refused the note. */
  readonly onRefused: (error: unknown) => void
}

interface Alone<Item> {
  readonly item: Item
  readonly isNoted: boolean
  state: 'noting' | 'ready' | 'out' | 'ending'
}

/** The patience is that many times as long with each further try, and so often at the most: 512 s, longer than pages take. */
const PATIENCE_GROWS = 4
const GROWTHS_MAX = 4
/** Others wait for so many times the patience with a first try, or for one that takes longer. */
const CLOSED_FOR = 3
/** A note that Redis has refused to delete is tried again after that. */
const RETRY_MS = 1000

export class Suspects<Item extends SuspectItem> {
  readonly #options: SuspectOptions<Item>
  readonly #events: SuspectEvents
  readonly #patienceMs: number
  readonly #lying: Item[] = []
  /** The suspect that others wait for, from before its note is written until after that is deleted. */
  #alone: Alone<Item> | undefined
  /** Those out that were waited for in vain, with for how long (ms). */
  readonly #lasting = new Map<Item, number>()
  /** Since when others wait, by `performance.now()`. */
  #closedAtMs: number | undefined
  /** Others go though suspects lie here. */
  #isBreak = false
  /** The end of what goes on: the closing, the time alone, or the break. */
  #alarm: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: SuspectOptions<Item>, events: SuspectEvents) {
    this.#options = options
    this.#events = events
    this.#patienceMs = options.patienceMs ?? PROTOCOL_TIMES.engine.suspectPatienceMs
  }

  /** How many lie here, with the one that others wait for. */
  get size(): number {
    return this.#lying.length + (this.#alone?.state === 'out' ? 1 : 0)
  }

  get areLying(): boolean {
    return this.#lying.length > 0
  }

  /** Whether nothing may go but a suspect. */
  get holdsOthers(): boolean {
    return this.#alone !== undefined || (this.#lying.length > 0 && !this.#isBreak)
  }

  put(item: Item): void {
    this.#lying.push(item)
  }

  /** Takes one out that was not handed out. Returns false when it does not lie here. */
  remove(item: Item): boolean {
    const at = this.#lying.indexOf(item)
    if (at < 0) return false
    this.#lying.splice(at, 1)
    // The next one may have another patience.
    if (at === 0 && !this.#alone && !this.#isBreak) this.#quiet()
    if (this.#alone?.item === item && this.#alone.state === 'ready') this.#finish(this.#alone)
    else this.#openIfDone()
    return true
  }

  /**
   * Goes on with the next one, unless one is on its way.
   *
   * @param out what was handed out and has not ended
   * @param isWanted whether a caller would take it now: a note says that the request is about to run
   */
  next(out: Iterable<Item>, isWanted: boolean): void {
    const [item] = this.#lying
    if (!item || this.#alone || this.#isBreak || this.#isClosed) return
    this.#closedAtMs ??= performance.now()
    const patienceMs = this.#patienceWith(item)
    const besides = [...out]
    if (besides.some((one) => (this.#lasting.get(one) ?? 0) < patienceMs)) {
      this.#alarm ??= setTimeout(() => this.#stopWaiting(out, patienceMs), patienceMs)
    } else if (isWanted) {
      this.#begin(item, besides.length, patienceMs)
    }
  }

  /** Returns the suspect that goes now. */
  handOut(): Item | undefined {
    const alone = this.#alone
    if (alone?.state !== 'ready') return undefined
    alone.state = 'out'
    this.#lying.shift()
    this.#waitFor(alone)
    return alone.item
  }

  /** Whatever was handed out has ended. */
  ended(item: Item): void {
    this.#lasting.delete(item)
    if (this.#alone?.item === item && this.#alone.state === 'out') this.#finish(this.#alone)
  }

  close(): void {
    this.#isClosed = true
    this.#quiet()
  }

  #begin(item: Item, besides: number, patienceMs: number): void {
    this.#quiet()
    const alone: Alone<Item> = { item, isNoted: besides === 0, state: 'noting' }
    this.#alone = alone
    this.#options.onAlone?.(item, aloneWords(besides, patienceMs))
    const noting = alone.isNoted ? this.#options.beginAlone(item) : Promise.resolve()
    noting.then(
      () => {
        alone.state = 'ready'
        if (this.#lying[0] === item) this.#events.onChange()
        else this.#finish(alone)
      },
      (error: unknown) => {
        this.#alone = undefined
        this.#openIfDone()
        this.#events.onRefused(error)
      },
    )
  }

  #waitFor(alone: Alone<Item>): void {
    const patienceMs = this.#patienceWith(alone.item)
    this.#alarm = setTimeout(() => {
      this.#lasting.set(alone.item, patienceMs)
      this.#finish(alone)
    }, patienceMs)
  }

  #finish(alone: Alone<Item>): void {
    this.#quiet()
    alone.state = 'ending'
    const ending = alone.isNoted ? this.#options.endAlone(alone.item) : Promise.resolve()
    ending.then(
      () => this.#opened(alone),
      (error: unknown) => {
        // With its note there others would not be blamed for what they do, or it would be.
        if (!this.#isClosed) this.#alarm = setTimeout(() => this.#finish(alone), RETRY_MS)
        this.#events.onRefused(error)
      },
    )
  }

  #opened({ item }: Alone<Item>): void {
    this.#alone = undefined
    const closedMs = performance.now() - (this.#closedAtMs ?? performance.now())
    const patienceMs = this.#patienceWith(item)
    const longMs = Math.max(CLOSED_FOR * this.#patienceMs, patienceMs)
    // More may come as soon as none is left.
    const isLast = this.#lying.length === 0 && this.#lasting.has(item)
    if (closedMs >= longMs || isLast) this.#beginBreak(Math.min(closedMs, longMs + patienceMs))
    this.#openIfDone()
    this.#events.onChange()
  }

  #beginBreak(ms: number): void {
    if (this.#isClosed) return
    this.#closedAtMs = undefined
    this.#isBreak = true
    this.#alarm = setTimeout(() => {
      this.#quiet()
      this.#isBreak = false
      this.#events.onChange()
    }, ms)
  }

  #stopWaiting(out: Iterable<Item>, waitedMs: number): void {
    this.#quiet()
    for (const one of out) this.#lasting.set(one, Math.max(waitedMs, this.#lasting.get(one) ?? 0))
    this.#events.onChange()
  }

  #openIfDone(): void {
    if (this.#alone || this.#isBreak || this.#lying.length > 0) return
    this.#quiet()
    this.#closedAtMs = undefined
  }

  #quiet(): void {
    clearTimeout(this.#alarm)
    this.#alarm = undefined
  }

  #patienceWith({ attempt }: Item): number {
    return this.#patienceMs * PATIENCE_GROWS ** Math.min(GROWTHS_MAX, Math.max(0, attempt - 2))
  }
}

function aloneWords(besides: number, patienceMs: number): string {
  const others =
    besides === 1
      ? 'with only one beside it, which has begun before and does not end'
      : `with only ${besides} beside it, which have begun before and do not end`
  return `fetched ${besides === 0 ? 'alone' : others}, as it was in work when a worker was lost and may have killed it: nothing else is begun here until it has ended, for ${Math.ceil(patienceMs / 1000)} s at most`
}
