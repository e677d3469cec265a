/**
 * Pages of which FINGERPRINTER makes other fingerprints than before move to these, on Redis, in two walks over all entries:
 *
 *     take out     a page whose name is another now: its record goes into its entry, which has the new name from then on
 *     put back     when none is left: records go from their entries to where they are found by their new names
 *
 * So two pages may change names with each other, and there is no second copy of anything. Each step is a script that leaves a page in one place; a worker that
 * is killed leaves the rest to the next one, which begins anew: what was done is passed over. Two that walk at once do not harm each other.
 */

import { type Request, withRedisCodes } from '@webloom/core'
import { luaScript } from '../redis/lua.ts'
import { nameOf } from './redis-visit-records.ts'
import { ENTRIES_PER_READ, isMoved, RedisWheel } from './redis-wheel.ts'
import { renamedEntry, type WheelEntry, wheelEntry } from './wheel-entry.ts'

export type { RedisVisitsOptions } from './redis-wheel.ts'

const takeOutScript = luaScript(
  'redis/args.lua',
  'visits/wheel.lua',
  'visits/places.lua',
  'visits/take-out.lua',
)
const putBackScript = luaScript(
  'redis/args.lua',
  'visits/wheel.lua',
  'visits/places.lua',
  'visits/put-back.lua',
)

type MakeFingerprint = (request: Request) => string | undefined

/** Whoever was killed as it moved pages is followed after this time. */
const MOVING_MS = 30_000
/** Pages that are looked at when a run begins. */
const LOOKED_AT_MAX = 1000

const NOTHING = Buffer.alloc(0)

export class RedisVisits extends RedisWheel {
  async someMoved(fingerprint: MakeFingerprint): Promise<boolean> {
    const spans = await this.spans()
    const step = Math.max(1, spans.length / 100)
    const some = spans.filter((_, n) => Math.floor(n / step) > Math.floor((n - 1) / step))
    const each = Math.ceil(LOOKED_AT_MAX / Math.max(1, some.length))
    const replies = await this.pipelined(
      some.map((span) => ['lrangeBuffer', `${this.base}:due:${span}`, '0', `${each - 1}`]),
    )
    const entries = (replies as Buffer[][]).flat().map(wheelEntry)
    return (
      entries.some(({ carried }) => carried) ||
      (await this.#renamed(entries, fingerprint)).some(({ entry }) => isMoved(entry))
    )
  }

  async moveAll(fingerprint: MakeFingerprint, signal?: AbortSignal): Promise<number | undefined> {
    const key = `${this.base}:moving`
    if (!(await withRedisCodes(this.redis.set(key, '1', 'PX', MOVING_MS, 'NX')))) return undefined
    try {
      const [moved, spans] = await this.#takeOut(fingerprint, signal)
      for (const span of spans) await this.#putBack(span, signal)
      return moved
    } finally {
      // Where that fails the key goes by itself; where another worker has it by now, one more may walk.
      await this.redis.del(key).catch(() => {})
    }
  }

  /** Resolves to how many records were taken, and to the times of entries that carry one. */
  async #takeOut(
    fingerprint: MakeFingerprint,
    signal: AbortSignal | undefined,
  ): Promise<[taken: number, carrying: ReadonlySet<string>]> {
    let taken = 0
    const carrying = new Set<string>()
    for (const span of await this.spans())
      await this.#walk(span, signal, async (whole, from) => {
        const entries = whole.map(wheelEntry)
        if (entries.some(({ carried }) => carried)) carrying.add(span)
        const places = (await this.#renamed(entries, fingerprint)).flatMap(({ entry, at }) =>
          isMoved(entry)
            ? [[from + at, entry.whole, renamedEntry(entry, entry.now), entry.carried ? NOTHING : entry.name]]
            : [],
        )
        if (places.length === 0) return true
        const count = await this.run(takeOutScript, ['', span, places.length, ...places.flat()])
        if (Number(count) > 0) carrying.add(span)
        taken += Math.max(0, Number(count))
        return Number(count) >= 0
      })
    return [taken, carrying]
  }

  async #putBack(span: string, signal: AbortSignal | undefined): Promise<void> {
    await this.#walk(span, signal, async (whole, from) => {
      const places = whole.map(wheelEntry).flatMap(({ whole, packed, name, carried }, at) => {
        return carried && packed && name ? [[from + at, whole, packed, name, carried]] : []
      })
      if (places.length === 0) return true
      return Number(await this.run(putBackScript, ['', span, places.length, ...places.flat()])) >= 0
    })
  }

  /**
   * Calls `act` with all entries of a time, some hundred at a time, from the last to the first: other workers take some off the front meanwhile, so
   * that each of the others comes nearer to it, and none is passed over. Those are read again of which `act` says that they were no more where they were.
   */
  async #walk(
    span: string,
    signal: AbortSignal | undefined,
    act: (whole: readonly Buffer[], from: number) => Promise<boolean>,
  ): Promise<void> {
    let to = await withRedisCodes(this.redis.llen(`${this.base}:due:${span}`))
    while (to > 0) {
      signal?.throwIfAborted()
      const from = Math.max(0, to - ENTRIES_PER_READ)
      await this.pipelined([['pexpire', `${this.base}:moving`, `${MOVING_MS}`]])
      const whole = await this.entriesAt(span, from, to - 1)
      if (await act(whole, from)) to = from
    }
  }

  /** Returns the entries of which it can be told what names their pages have now. */
  async #renamed(entries: readonly WheelEntry[], fingerprint: MakeFingerprint) {
    const requests = await this.requestsOf(entries)
    return entries.flatMap((entry, at) => {
      const request = requests[at]
      const made = !request || 'unreadable' in request ? undefined : fingerprint(request)
      if (made === undefined) return []
      const now = nameOf(made)
      return [{ at, entry: { ...entry, name: entry.name ?? now, now } }]
    })
  }
}
