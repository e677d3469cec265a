/** Orders for hosts of a crawl in this process: they end with it. */

import { type HostChange, type HostOrder, type HostOrders, UsageError } from '@webloom/core'
import { HOST_ORDERS_MAX } from '@webloom/queue'
import { grouped } from '../../terminal/figures.ts'

interface KeptOrder extends Omit<HostOrder, 'pauseMs'> {
  readonly pausedUntilMs?: number
}

export class ProcessHostOrders {
  readonly #orders = new Map<string, KeptOrder>()
  /** Two orders of one moment would be taken for one. */
  #last = 0

  /** As they are at this moment: a pause that was ordered is what is left of it. */
  now(): HostOrders {
    return new Map([...this.#orders].map(([host, order]) => [host, orderAt(order, Date.now())]))
  }

  /** Throws WL_USAGE when it would be one host too many. */
  change(host: string, { delayMs, pauseMs, boost }: HostChange): void {
    const before = this.#orders.get(host)
    if (!before && this.#orders.size >= HOST_ORDERS_MAX)
      throw new UsageError('WL_USAGE', `${grouped(HOST_ORDERS_MAX)} hosts have orders, which is the most`)
    this.#last = Math.max(Date.now(), this.#last + 1)
    const delay = delayMs === undefined ? before?.delayMs : (delayMs ?? undefined)
    const until = pauseMs === undefined ? before?.pausedUntilMs : Date.now() + (pauseMs ?? 0)
    this.#orders.set(host, {
      at: this.#last,
      ...(delay !== undefined && { delayMs: delay }),
      ...(until !== undefined && { pausedUntilMs: until }),
      ...((boost ?? before?.isBoosted) && { isBoosted: true }),
    })
  }
}

function orderAt({ pausedUntilMs, ...order }: KeptOrder, nowMs: number): HostOrder {
  return pausedUntilMs === undefined ? order : { ...order, pauseMs: Math.max(0, pausedUntilMs - nowMs) }
}
