import type { FailedDoubt, LinkDoubts, QueuedRequest } from '@webloom/core'

/** The links in doubt of all shards and of the home: each ends where it was set aside. */
export class ShardedDoubts implements LinkDoubts {
  readonly #parts: readonly LinkDoubts[]
  /** Where links were taken whose doubt has not ended. */
  readonly #takenFrom = new Map<string, LinkDoubts>()
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
        this.#takenFrom.set(one.id, part)
        taken.push(one)
      }
    }
    return taken
  }

  async end(
    fresh: readonly QueuedRequest[],
    met: readonly string[],
    still: readonly string[] = [],
    failed: readonly FailedDoubt[] = [],
  ): Promise<string[]> {
    const ids = [...fresh, ...failed].map(({ id }) => id).concat(met, still)
    const parts = new Set(ids.map((id) => this.#takenFrom.get(id)!).filter(Boolean))
    const of = (part: LinkDoubts) => (id: string) => this.#takenFrom.get(id) === part
    const queued = await Promise.all(
      [...parts].map((part) => {
        const isOf = of(part)
        return part.end(
          fresh.filter(({ id }) => isOf(id)),
          met.filter(isOf),
          still.filter(isOf),
          failed.filter(({ id }) => isOf(id)),
        )
      }),
    )
    for (const id of ids) this.#takenFrom.delete(id)
    return queued.flat()
  }
}
