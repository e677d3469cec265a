import type { Request } from '../requests/request.ts'

/** One start request from outside, not yet acknowledged. */
export interface Seed {
  /** `seed/<message id>`: the asker of its request. */
  readonly id: string
  readonly request: Request
}

/** Start URLs from outside: a Redis list, set or sorted set. This port is internal: no setting takes one of a user's own. */
export interface SeedSource {
  open(): Promise<void>
  /** Closes connections and timers. Messages that were taken and not acknowledged are handed out again, by any worker. */
  close(): Promise<void>
  /**
   * Resolves to up to `max` messages as requests, to none when no message is there; it never waits for one. A message that
   * makes no request goes to the `…:invalid` list with the reason. A message that makes several requests is one seed for
   * each.
   */
  next(max: number): Promise<Seed[]>
  /**
   * Called when the seed's request is queued. The message is deleted for good when a crash of the queue's Redis can no
   * longer lose the request; until then `pending` counts it.
   */
  acknowledge(seed: Seed): Promise<void>
  /** Called when this crawl can make no request of the seed: its message goes to the `…:invalid` list with the reason. */
  reject(seed: Seed, reason: string): Promise<void>
  /** Resolves to how many messages wait or are being worked on, by any worker. 0 lets the crawl finish. */
  pending(): Promise<number>
}
