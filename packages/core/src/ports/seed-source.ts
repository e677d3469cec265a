import type { Request } from '../request.ts'

/** One start request from outside, not yet acknowledged. */
export interface Seed {
  /** `seed/<message id>`: the owner under which its request is asked about and queued. */
  readonly id: string
  readonly request: Request
}

/** Start URLs from outside: a Redis list, set or sorted set. */
export interface SeedSource {
  open(): Promise<void>
  close(): Promise<void>
  /** Up to `max` messages as requests; a message that makes none goes to the `…:invalid` list with the reason. */
  next(max: number): Promise<Seed[]>
  /** The seed's request is queued: the message is removed for good. */
  acknowledge(seed: Seed): Promise<void>
  /** Messages waiting or being worked on; 0 lets the crawl finish. */
  pending(): Promise<number>
}
