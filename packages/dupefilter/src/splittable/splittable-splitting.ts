/**
 * Splits full leaves, one after the other, in the background.
 *
 *     freeze    the leaf takes no more requests; workers ask it and its children, and new requests go to the children
 *     put in    some of its marks at a time go to its children; how many have gone is stored in the same step
 *     flip      the leaf becomes an inner node; its bits and marks are deleted
 *
 * The splitter holds a lease, which each step renews. When it dies, another worker goes on from what is stored. The lease
 * only saves double work: a step that was done already, or is sent twice, changes nothing.
 */

import { randomUUID } from 'node:crypto'
import { type Logger, WebloomError, withDeadline } from '@webloom/core'
import { MAX_BITS_PER_CALL } from '../bloom/bit-strings.ts'
import type { FilterKeys } from '../redis/filter-keys.ts'
import { luaScript, type RedisConnection } from '../redis/redis-script.ts'
import { type LeafSurroundings, splitQuestion } from './splittable-leaves.ts'
import { MARK_BYTES } from './splittable-tree.ts'

const SPLIT = luaScript(
  'redis/owners.lua',
  'bloom/store.lua',
  'splittable/leaves.lua',
  'bloom/set-bits.lua',
  'splittable/put.lua',
  'splittable/split.lua',
)
const FLIP = luaScript('splittable/flip.lua')

/** After how long a silent splitter loses its lease. A step takes milliseconds. */
const LEASE_MS = 5000
/** How soon a leaf is checked again that another worker splits: questions may wait for it. */
const LOOK_EVERY_MS = 50
/** How soon a step that Redis did not take is tried again. */
const AGAIN_MS = 500
/** How long a question waits for a leaf to be split. After that the scheduler waits, and asks again. */
const WAIT_MS = 10_000
/** Steps on their way to Redis at a time. Others' questions come between them. */
const CONCURRENT_STEPS_MAX = 8

export interface SplittingOptions extends LeafSurroundings {
  readonly redis: RedisConnection
  readonly filterKeys: FilterKeys
  readonly leaseMs?: number
  /** Called with children that have reached their limit by what their parent had. */
  readonly onRipe: (leaves: readonly string[]) => void
  readonly logger: Logger
}

export class LeafSplitting {
  readonly #options: SplittingOptions
  readonly #leaseMs: number
  readonly #holder = randomUUID()
  readonly #leaves = new Map<string, Splitting>()
  #working: Promise<void> | undefined
  #isClosed = false
  #wake = () => {}

  constructor(options: SplittingOptions) {
    this.#options = options
    this.#leaseMs = options.leaseMs ?? LEASE_MS
  }

  /** Freezes a full leaf, unless that is done. The splitting follows. */
  async begin(leaf: string): Promise<void> {
    // Takes no lease: whichever worker is free splits it.
    const [state] = await this.#step(leaf, { from: 0, marks: [], leaseMs: 0 })
    if (state === 'mine' || state === 'held') this.goOn(leaf)
  }

  /** Waits until a frozen leaf is split, before any that is only due. Throws WL_REDIS_AWAY when that takes too long. */
  async untilSplit(leaf: string): Promise<void> {
    const splitting = this.goOn(leaf)
    splitting.lookAt = Math.min(splitting.lookAt, 0)
    // The scheduler waits and tries again.
    const late = () => new WebloomError('WL_REDIS_AWAY', `a leaf is still being split after ${WAIT_MS} ms`)
    await withDeadline(WAIT_MS, splitting.promise, late)
  }

  /** Has a frozen leaf split, by this worker or by the one that has begun. */
  goOn(leaf: string): Splitting {
    const known = this.#leaves.get(leaf)
    if (known) return known
    const splitting = { ...Promise.withResolvers<void>(), lookAt: performance.now() }
    this.#leaves.set(leaf, splitting)
    if (!this.#isClosed) this.#working ??= this.#work()
    return splitting
  }

  open(): void {
    this.#isClosed = false
  }

  /** Ends after the present step; another worker, or this one later, goes on. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#wake()
    await this.#working
    for (const { resolve } of this.#leaves.values()) resolve()
    this.#leaves.clear()
  }

  async #work(): Promise<void> {
    while (!this.#isClosed && this.#leaves.size > 0) {
      const [leaf, splitting] = [...this.#leaves].reduce((a, b) => (b[1].lookAt < a[1].lookAt ? b : a))
      await this.#sleepUntil(splitting.lookAt)
      if (this.#isClosed) break
      try {
        if (await this.#split(leaf)) {
          this.#leaves.delete(leaf)
          splitting.resolve()
        } else splitting.lookAt = performance.now() + LOOK_EVERY_MS
      } catch (error) {
        this.#options.logger.debug({ err: error, leaf }, 'a leaf could not be split any further for now')
        splitting.lookAt = performance.now() + AGAIN_MS
      }
    }
    this.#working = undefined
  }

  /** Resolves to false when another worker splits the leaf. */
  async #split(leaf: string): Promise<boolean> {
    const { redis, keys, filterKeys } = this.#options
    let [state, done] = await this.#step(leaf, { from: 0, marks: [] })
    while (state === 'mine' && !this.#isClosed) {
      const marks = await this.#marksFrom(leaf, done)
      if (marks.length === 0) {
        const places = [keys.tree, keys.leaves, keys.bits(leaf), keys.marks(leaf)]
        await FLIP.run(redis, places, [leaf, MARK_BYTES])
        this.#options.logger.debug(
          { key: filterKeys.main, leaf, requests: done },
          'a leaf was full and is split',
        )
        return true
      }
      // Of several steps under way, each changes something only when those before it did.
      const steps: Promise<[string, number]>[] = []
      for (let at = 0; at < marks.length; at += this.#maxMarksPerStep) {
        steps.push(this.#step(leaf, { from: done + at, marks: marks.slice(at, at + this.#maxMarksPerStep) }))
      }
      ;[state, done] = (await Promise.all(steps)).at(-1)!
    }
    return state !== 'held'
  }

  /** Resolves to the reply of splittable/split.lua: a state, and how many members are in the children. */
  async #step(
    leaf: string,
    { from, marks, leaseMs = this.#leaseMs }: Step,
  ): Promise<[state: string, done: number]> {
    const { redis, filterKeys } = this.#options
    const { members, keys = [], header, args = [] } = splitQuestion(this.#options, leaf, marks)
    const { main, pending, owners, settled, record } = filterKeys
    const lease = { holder: this.#holder, leaseMs, from, count: marks.length }
    const reply = (await SPLIT.run(
      redis,
      [main, pending, owners, settled, record, ...keys],
      [JSON.stringify({ ...header, ...lease }), ...members, ...args],
    )) as [string, number?, ...string[]]
    const [state, done = 0, ...ripe] = reply
    this.#options.onRipe(ripe)
    return [state, done]
  }

  async #marksFrom(leaf: string, done: number): Promise<Buffer[]> {
    const from = done * MARK_BYTES
    const key = this.#options.keys.marks(leaf)
    const bytes = await this.#options.redis.getrangeBuffer(
      key,
      from,
      from + CONCURRENT_STEPS_MAX * this.#maxMarksPerStep * MARK_BYTES - 1,
    )
    return Array.from({ length: bytes.length / MARK_BYTES }, (_, n) =>
      bytes.subarray(n * MARK_BYTES, (n + 1) * MARK_BYTES),
    )
  }

  get #maxMarksPerStep(): number {
    return Math.max(1, Math.floor(MAX_BITS_PER_CALL / this.#options.parameters.size.hashes))
  }

  async #sleepUntil(time: number): Promise<void> {
    const ms = time - performance.now()
    if (ms <= 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const timer = setTimeout(resolve, ms).unref()
    await promise
    clearTimeout(timer)
  }
}

interface Step {
  /** How many of the leaf's members are known to be in its children. */
  readonly from: number
  /** The next members' marks. */
  readonly marks: readonly Buffer[]
  readonly leaseMs?: number
}

/** A leaf that must be split. */
interface Splitting {
  /** Resolves when it is split, or when this process stops splitting. */
  readonly promise: Promise<void>
  readonly resolve: () => void
  /** When the leaf is checked next, by the clock of this process (ms). */
  lookAt: number
}
