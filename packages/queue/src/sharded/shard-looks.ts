import { waitAtMost } from '@webloom/core'
import type { ShardScripts } from '../buckets/scripts/shard-scripts.ts'
import type { Round } from '../shards/shard-state.ts'

/** A server that is well answers in milliseconds. */
const ANSWER_MS_MAX = 1500

type LookedAt = Pick<ShardScripts, 'quietIn' | 'shardState'>

/** Reads how shards stand. */
export class ShardLooks {
  readonly #scripts: ReadonlyMap<string, LookedAt>
  readonly #answerMsMax: number
  /** What was asked, and is not answered. */
  readonly #asked = new Map<string, Promise<void>>()

  /** @param scripts of all shards and of the home, by name */
  constructor(scripts: ReadonlyMap<string, LookedAt>, answerMsMax = ANSWER_MS_MAX) {
    this.#scripts = scripts
    this.#answerMsMax = answerMsMax
  }

  /** Waits for each, also for one whose server is away. */
  async all(): Promise<Round> {
    const states = [...this.#scripts].map(async ([name, one]) => [name, await one.shardState()] as const)
    return new Map(await Promise.all(states))
  }

  /**
   * Leaves out those that do not answer soon; none of them is asked again before it has answered.
   *
   * @param names default: all
   * @param tells which of them are to tell it when they have nothing for others
   */
  answering(
    names: Iterable<string> = this.#scripts.keys(),
    tells = (_name: string) => false,
  ): Promise<Round> {
    return this.#answers('', names, (one, name) => one.shardState(tells(name)))
  }

  /** Resolves to the run in which each of these is noted as quiet. Leaves out those that do not answer soon. */
  quietIn(names: Iterable<string>): Promise<ReadonlyMap<string, string | null>> {
    return this.#answers('quiet ', names, (one) => one.quietIn())
  }

  async #answers<Answer>(
    what: string,
    names: Iterable<string>,
    ask: (one: LookedAt, name: string) => Promise<Answer>,
  ): Promise<ReadonlyMap<string, Answer>> {
    const answered = new Map<string, Answer>()
    for (const name of names) {
      const key = what + name
      if (this.#asked.has(key)) continue
      const asking = ask(this.#scripts.get(name)!, name)
        .then((answer) => void answered.set(name, answer))
        .catch(() => {})
        .finally(() => this.#asked.delete(key))
      this.#asked.set(key, asking)
    }
    await waitAtMost(this.#answerMsMax, Promise.all(this.#asked.values()))
    return new Map(answered)
  }
}
