import type { Request } from '../requests/request.ts'

/** One start request from outside, not yet acknowledged. */
export interface Seed {
  /** `seed/<message id>`: the asker under which its request is asked about and queued. */
  readonly id: string
  readonly request: Request
}

/** Start URLs from outside: a Redis list, set or sorted set. Ours alone: no setting takes one of a user's own. */
export interface SeedSource {
  open(): Promise<void>
  /** Lets go of connections and timers. What was taken and not acknowledged is handed out again, by any worker. */
  close(): Promise<void>
  /**
   * Up to `max` messages as requests, none when nothing waits; never waits for any. A message that makes no request goes
   * to the `…:invalid` list with the reason, and one that makes several is one seed for each.
   */
  next(max: number): Promise<Seed[]>
  /**
   * The seed's request is queued. Its message is removed for good once a crash of the queue's Redis can no longer take
   * the request back; until then `pending` counts it.
   */
  acknowledge(seed: Seed): Promise<void>
  /** No request of this crawl can be made of it: its message goes to the `…:invalid` list with the reason. */
  reject(seed: Seed, reason: string): Promise<void>
  /** Messages waiting or being worked on, by any worker; 0 lets the crawl finish. */
  pending(): Promise<number>
}
