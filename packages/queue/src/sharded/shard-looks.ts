import { waitAtMost } from '@webloom/core'
import type { ShardScripts } from '../buckets/scripts/shard-scripts.ts'
import type { Round, ShardState } from '../shards/shard-state.ts'

/** A server that is well answers in milliseconds. */
const ANSWER_MS_MAX = 1500

/** Reads how all shards stand. */
export class ShardLooks {
  readonly #scripts: ReadonlyMap<string, Pick<ShardScripts, 'shardState'>>
  readonly #answerMsMax: number
  /** Those of `answering` that have not been answered. */
  readonly #asked = new Map<string, Promise<void>>()

  /** @param scripts of all shards and of the home, by name */
  constructor(scripts: ReadonlyMap<string, Pick<ShardScripts, 'shardState'>>, answerMsMax = ANSWER_MS_MAX) {
    this.#scripts = scripts
    this.#answerMsMax = answerMsMax
  }

  /** Waits for each, also for one whose server is away. */
  async all(): Promise<Round> {
    const states = [...this.#scripts].map(async ([name, one]) => [name, await one.shardState()] as const)
    return new Map(await Promise.all(states))
  }

  /** Leaves out those that do not answer soon; none of them is asked again before it has answered. */
  async answering(): Promise<Round> {
    const answered = new Map<string, ShardState>()
    for (const [name, one] of this.#scripts) {
      if (this.#asked.has(name)) continue
      const asking = one
        .shardState()
        .then((state) => void answered.set(name, state))
        .catch(() => {})
        .finally(() => this.#asked.delete(name))
      this.#asked.set(name, asking)
    }
    await waitAtMost(this.#answerMsMax, Promise.all(this.#asked.values()))
    return new Map(answered)
  }
}
