import { randomUUID } from 'node:crypto'
import { type Awaitable, PROTOCOL_TIMES, type ProtocolTimes } from '@webloom/core'

/** The run id of the queue's Redis: another one after each start of that server. */
export type RedisRunId = () => string | Promise<string>

/** Calls `listener` whenever the connection to the queue's Redis is there again: it may be another run of it. */
export type OnQueueBack = (listener: () => void) => void

/**
 * A run stays young while the crawl stands still, as for a queue without room: pages that it has lost run again later. Of the time
 * between two questions so much counts at most, as a part of `lostCommitMs`; and in all it is young for so many times as long.
 */
const COUNTED_PART = 1 / 40
const YOUNG_MAX = 5

/** Which marks may be deleted: those of this run, settled no later than `before` by the clock of the filter's Redis. */
export interface Cleaning {
  readonly run: string
  readonly before: number
}

export interface RedisRunOptions {
  /** Absent: the queue is in this process. */
  readonly redisRunId?: RedisRunId | undefined
  /** The same, by which marks may go. Rejects while that Redis could be replaced by one that is older. Default: `redisRunId`. */
  readonly keptRunId?: RedisRunId | undefined
  /** Without it no run is ever young. */
  readonly onQueueBack?: OnQueueBack | undefined
  readonly times?: ProtocolTimes['filter']
}

/**
 * Knows the present run of the queue's Redis, and from it which marks may go.
 *
 * A mark may go when the run in which its page was committed still goes on `markKeptMs` later, as the commit is on disk by
 * then, and on a replica where there are any: a master that is cut off from them answers for longer than that. So the run id has to be asked for *after* a time that the filter's Redis has told. A script that is delayed in
 * between, for instance by a lost connection, must not use its own, later time.
 *
 * A run that is new to this process may have begun with an older state. For a while it counts as `young`: what was settled
 * in the run before may have been lost with it.
 */
export class RedisRun {
  readonly #runId: RedisRunId
  readonly #keptRunId: RedisRunId
  readonly #onBack: OnQueueBack | undefined
  readonly #times: ProtocolTimes['filter']
  #current = ''
  #cleaning: Cleaning | undefined
  #turn = -1
  #isAsking = false
  /** Set while the connection to the queue's Redis has come back, and its run is asked for. */
  #checking: Promise<boolean> | undefined
  #isYoung = false
  #youngSinceMs = 0
  /** How much of the time since then has counted, and until when that is. */
  #countedMs = 0
  #countedUntilMs = 0
  #onChange = () => {}
  #isOpen = false

  constructor({ redisRunId, keptRunId, onQueueBack, times = PROTOCOL_TIMES.filter }: RedisRunOptions) {
    this.#times = times
    this.#onBack = onQueueBack
    const own = randomUUID()
    this.#runId = redisRunId ?? (() => own)
    this.#keptRunId = keptRunId ?? this.#runId
  }

  /**
   * A filter whose Redis takes no writes is opened again.
   *
   * @param onChange called when the queue's Redis has begun another run
   */
  async open(onChange: () => void): Promise<void> {
    this.#heard(await this.#ask())
    this.#onChange = onChange
    if (this.#isOpen) return
    this.#isOpen = true
    this.#onBack?.(() => this.#check())
  }

  /** True until it is known whether the queue's Redis has another run since the connection to it came back. */
  get isUnsure(): boolean {
    return this.#checking !== undefined
  }

  /** Resolves to true when that is known; to false when it cannot be: a Redis that does not answer now is asked again later. */
  async known(): Promise<boolean> {
    let isKnown = true
    while (this.#checking) isKnown = await this.#checking
    return isKnown
  }

  /** Returns true when the queue's Redis has, or may have, another run than that one; undefined: none was asked in. */
  mayDifferFrom(run: string | undefined): Awaitable<boolean> {
    if (run === undefined) return false
    const differs = () => run !== this.#current
    return this.isUnsure ? this.known().then((isKnown) => !isKnown || differs()) : differs()
  }

  /** The present run while it is young, and before how long at most (ms) what was settled in another run may have been lost. */
  get young(): { readonly run: string; readonly lostMs: number } | undefined {
    if (!this.#isYoung) return undefined
    const { lostCommitMs } = this.#times
    const sinceMs = performance.now() - this.#youngSinceMs
    this.#isYoung = this.#countedMs < lostCommitMs && sinceMs < YOUNG_MAX * lostCommitMs
    return this.#isYoung
      ? { run: this.#current, lostMs: lostCommitMs + sinceMs - this.#countedMs }
      : undefined
  }

  /** The run that was heard of last. If it is outdated, marks of an earlier run only stay longer. */
  get current(): string {
    return this.#current
  }

  /** Asks the queue's Redis for its run. Rejects when it does not answer. */
  async now(): Promise<string> {
    this.#heard(await this.#ask())
    return this.#current
  }

  /** Returns the marks that the next call to Redis may delete; undefined for most calls. */
  takeCleaning(): Cleaning | undefined {
    const cleaning = this.#cleaning
    this.#cleaning = undefined
    return cleaning
  }

  /** Called when the last cleaning has left some marks. */
  goOn(cleaning: Cleaning): void {
    this.#cleaning ??= cleaning
  }

  /** Called after each question, with the time of the filter's Redis (ms). Now and then this asks for the run id, in the background. */
  heardOf(now: number): void {
    this.#count()
    // By the clock of the process, so that the parts of one filter ask at about the same moment, and together.
    const turn = Math.floor(performance.now() / this.#times.runIdEveryMs)
    if (this.#isAsking || turn === this.#turn) return
    this.#turn = turn
    this.#isAsking = true
    this.#ask(this.#keptRunId)
      .then(
        (run) => {
          this.#heard(run)
          this.#cleaning = { run, before: now - this.#times.markKeptMs }
        },
        // The queue's Redis does not answer, or has no replica near: marks stay until it does, and has.
        () => {},
      )
      .finally(() => {
        this.#isAsking = false
      })
  }

  #check(): void {
    const checking = this.now()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        if (this.#checking === checking) this.#checking = undefined
      })
    this.#checking = checking
  }

  #count(): void {
    if (!this.#isYoung) return
    const nowMs = performance.now()
    this.#countedMs += Math.min(nowMs - this.#countedUntilMs, COUNTED_PART * this.#times.lostCommitMs)
    this.#countedUntilMs = nowMs
  }

  #heard(run: string): void {
    if (run === this.#current) return
    this.#current = run
    this.#isYoung = this.#onBack !== undefined
    this.#youngSinceMs = performance.now()
    this.#countedMs = 0
    this.#countedUntilMs = this.#youngSinceMs
    this.#onChange()
  }

  async #ask(runId = this.#runId): Promise<string> {
    // Lua parses it with %S+.
    return (await runId()).replace(/\s/g, '_') || '-'
  }
}
