import type { FailedDoubt, LinkDoubts, QueuedRequest } from '@webloom/core'

/** As long as a link that was taken is kept from others. */
const HELD_MS = 5000

/** The links in doubt of all shards and of the home: each ends where it was set aside, looked for where it was not taken here. One that lies in two of them is taken from one at a time. */
export class ShardedDoubts implements LinkDoubts {
  readonly #parts: readonly LinkDoubts[]
  /** Where links were taken whose doubt has not ended. */
  readonly #takenFrom = new Map<string, { readonly part: LinkDoubts; readonly atMs: number }>()
  #first = 0

  constructor(parts: readonly LinkDoubts[]) {
    this.#parts = parts
  }

  async take(max: number): Promise<QueuedRequest[]> {
    const first = this.#first++
    const taken: QueuedRequest[] = []
    for (let n = 0; n < this.#parts.length && taken.length < max; n++) {
      const part = this.#parts[(first + n) % this.#parts.length]!
      for (const one of await part.take(max - taken.length)) {
        const nowMs = performance.now()
        const other = this.#takenFrom.get(one.id)
        if (other && other.part !== part && nowMs - other.atMs < HELD_MS) continue
        this.#takenFrom.set(one.id, { part, atMs: nowMs })
        taken.push(one)
      }
    }
    return taken
  }

  async end(
    fresh: readonly QueuedRequest[],
    seen: readonly string[],
    still: readonly string[] = [],
    failed: readonly FailedDoubt[] = [],
  ): Promise<string[]> {
    const ids = [...fresh, ...failed].map(({ id }) => id).concat(seen, still)
    const parts = new Set(ids.flatMap((id) => this.#takenFrom.get(id)?.part ?? []))
    const endIn = (part: LinkDoubts, isOf: (id: string) => boolean) =>
      part.end(
        fresh.filter(({ id }) => isOf(id)),
        seen.filter(isOf),
        still.filter(isOf),
        failed.filter(({ id }) => isOf(id)),
      )
    const taken = [...parts].map((part) => endIn(part, (id) => this.#takenFrom.get(id)?.part === part))
    const queued = new Set((await Promise.all(taken)).flat())
    const unknown = new Set(ids.filter((id) => !this.#takenFrom.has(id)))
    // One after the other: one that lies in two of them is queued once.
    if (unknown.size > 0)
      for (const part of this.#parts)
        for (const id of await endIn(part, (id) => unknown.has(id) && !queued.has(id))) queued.add(id)
    for (const id of ids) this.#takenFrom.delete(id)
    return [...queued]
  }
}
