/** Takes links in doubt of a crawl on Redis, in either QUEUE_MODE, and ends their doubt. `lua/leasing/doubts.lua` keeps them. */

import { randomUUID } from 'node:crypto'
import type { FailedDoubt, LinkDoubts, Logger, ProtocolTimes, QueuedRequest } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { luaScript } from '../redis/lua.ts'
import { packRequest, unpackRequest } from './packed-request.ts'

const takeScript = luaScript('redis/now.lua', 'leasing/doubts-take.lua')

export interface DoubtsOptions {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  readonly times: ProtocolTimes
  readonly logger: Logger
  /** Returns false when no other worker has a link in doubt, so that Redis need not be asked. Default: always true. */
  readonly mayDoubt?: () => boolean
  /** Sends the script of the queue's mode; `args` as leasing/doubts-end.lua has them. Returns the ids that were queued. */
  readonly end: (args: readonly (string | number)[], fresh: readonly QueuedRequest[]) => Promise<string[]>
}

/** A link that goes to quarantine: this release cannot read it, or the filter throws for it. */
interface Quarantined {
  readonly id: string
  readonly text: string
  readonly reason: string
}

/** What both queues on Redis have as `doubts`. */
export class Doubts implements LinkDoubts {
  readonly #options: DoubtsOptions
  /** Until this moment `mayDoubt` may not know yet of links that this worker itself has set aside. */
  #ownUntilMs = Number.NEGATIVE_INFINITY

  constructor(options: DoubtsOptions) {
    this.#options = options
  }

  /** Called when this worker has queued these requests, or has set them aside. */
  noted(found: readonly QueuedRequest[]): void {
    if (!found.some(({ inDoubt }) => inDoubt !== undefined)) return
    this.#ownUntilMs = performance.now() + 2 * this.#options.times.members.beatEveryMs
  }

  async take(max: number): Promise<QueuedRequest[]> {
    const { redis, keys, times, logger, mayDoubt } = this.#options
    if (mayDoubt && !mayDoubt() && performance.now() > this.#ownUntilMs) return []
    const args = [max, times.doubts.waitMs, times.doubts.heldMs]
    const texts = await takeScript.run(redis, [keys.doubts, `${keys.doubts}:since`], args)
    const readable: QueuedRequest[] = []
    const others: Quarantined[] = []
    for (const text of (texts as (string | null)[]).filter((text) => text !== null)) {
      const { id, request, inDoubt = '', unreadable } = unpackRequest(text)
      if (request) readable.push({ id, request, inDoubt })
      else others.push({ id, text, reason: unreadable })
    }
    for (const { id, reason } of others)
      logger.warn(
        { id, reason },
        'this release cannot read a request; it is quarantined: webloom quarantine list',
      )
    if (others.length > 0) await this.#end([], { away: others })
    return readable
  }

  end(
    fresh: readonly QueuedRequest[],
    seen: readonly string[],
    still: readonly string[] = [],
    failed: readonly FailedDoubt[] = [],
  ): Promise<string[]> {
    // Packed as any other request, so that `webloom quarantine retry` queues it.
    const away = failed.map(({ id, request, reason }) => ({ id, text: packRequest({ id, request }), reason }))
    return this.#end(fresh, { seen, still, away })
  }

  #end(
    fresh: readonly QueuedRequest[],
    {
      seen = [],
      still = [],
      away = [],
    }: { seen?: readonly string[]; still?: readonly string[]; away?: readonly Quarantined[] },
  ): Promise<string[]> {
    const parts = away.flatMap(({ id, text, reason }) => [id, text, reason])
    const token = randomUUID()
    return this.#options.end(
      [token, seen.length, ...seen, still.length, ...still, away.length, ...parts],
      // Taken as they were set aside, they still say whose doubt it was, and would be set aside again, in no line.
      fresh.map(({ id, request }) => ({ id, request })),
    )
  }
}

/** Splits a reply of Redis: one id a line. */
export function idsOf(text: string): string[] {
  return text === '' ? [] : text.split('\n')
}
