import type { Request, Seed } from '@webloom/core'

/** What became of a message before it was taken this time; `delayed` and `due` have waited out a delay of their own. */
export type SeedPast = 'new' | 'held' | 'delayed' | 'due'

/** A message that this process holds, and what is still to be heard of its seeds. */
export class SeedMessage {
  readonly id: string
  readonly bytes: Buffer
  readonly past: SeedPast
  /** The run of the queue's Redis as it was before any of the seeds was queued. */
  run = ''
  /** When the last seed was answered, by the monotonic clock. */
  answeredAt = 0
  /** Of its seeds, as it was handed out last. */
  seedIds: readonly string[] = []
  #open = new Set<string>()
  #isQueued = false
  #reasons: string[] = []

  constructor(id: string, past: SeedPast, bytes: Buffer) {
    this.id = id
    this.past = past
    this.bytes = bytes
  }

  /** The message, or undefined when its bytes are not UTF-8. */
  get text(): string | undefined {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.bytes)
    } catch {
      return undefined
    }
  }

  get hasWaited(): boolean {
    return this.past === 'delayed' || this.past === 'due'
  }

  /** True when a request of it is queued. */
  get isQueued(): boolean {
    return this.#isQueued
  }

  /** Why it goes to the invalid list; empty for a message that is good. */
  get reason(): string {
    return this.#reasons.join('; ')
  }

  /** One seed a request. What was heard before is void: the message is handed out anew. */
  seeds(requests: readonly Request[]): Seed[] {
    const seeds = requests.map((request, n) => ({ id: seedId(this.id, n, requests.length), request }))
    this.seedIds = seeds.map(({ id }) => id)
    this.#open = new Set(this.seedIds)
    this.#isQueued = false
    this.#reasons = []
    return seeds
  }

  /** True when nothing more is to be heard of it. */
  queued({ id }: Seed): boolean {
    if (!this.#open.delete(id)) return false
    this.#isQueued = true
    return this.#answered()
  }

  /** True when nothing more is to be heard of it. */
  rejected({ id }: Seed, reason: string): boolean {
    if (!this.#open.delete(id)) return false
    this.#reasons.push(reason)
    return this.#answered()
  }

  /** The message makes no request at all. */
  isInvalid(reason: string): void {
    this.#open.clear()
    this.#reasons = [reason]
    this.answeredAt = performance.now()
  }

  #answered(): boolean {
    this.answeredAt = performance.now()
    return this.#open.size === 0
  }
}

/** Each request has an asker of its own. With one asker for both, the second request would count as the first one sent twice. */
function seedId(messageId: string, n: number, count: number): string {
  return `seed/${messageId}${count === 1 ? '' : `+${n}`}`
}

/** Returns the id of the message that brought this seed. */
export function messageIdOf({ id }: Seed): string {
  return id.replace(/^seed\//, '').replace(/\+\d+$/, '')
}
