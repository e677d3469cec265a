import type { HostOrder, HostOrders, HostPace } from '@webloom/core'

/** So much more urgent a request of a boosted host is: more than any priority that BullMQ tells apart. */
export const BOOST = 1_000_000

/** What is ordered for hosts at this moment, as one worker knows it. */
export class OrderedHosts {
  #orders: HostOrders = new Map()

  /** Takes the orders that there are now. Returns each slot whose order has changed, with what it was before. */
  take(orders: HostOrders): Map<string, HostOrder | undefined> {
    const before = this.#orders
    this.#orders = orders
    const changed = [...new Set([...before.keys(), ...orders.keys()])].filter(
      (slot) => before.get(slot)?.at !== orders.get(slot)?.at,
    )
    return new Map(changed.map((slot) => [slot, before.get(slot)]))
  }

  /** The slots that have an order for their delay. */
  get paced(): string[] {
    return [...this.#orders].filter(([, { delayMs }]) => delayMs !== undefined).map(([slot]) => slot)
  }

  get(slot: string): HostOrder | undefined {
    return this.#orders.get(slot)
  }

  /** The pace of a slot, where `usual` is that of the settings. */
  pace(slot: string, usual: HostPace): HostPace {
    const delayMs = this.#orders.size === 0 ? undefined : this.#orders.get(slot)?.delayMs
    return delayMs === undefined ? usual : { ...usual, delayMs, randomize: false, isOrdered: true }
  }

  boostOf(slot: string): number {
    return this.#orders.size > 0 && this.#orders.get(slot)?.isBoosted ? BOOST : 0
  }
}

/** Returns how long a slot is paused by its new order; undefined: as long as it was, by whatever it learned. */
export function newPauseMs(before: HostOrder | undefined, now: HostOrder | undefined): number | undefined {
  return now?.pauseMs ?? (before?.pauseMs ? 0 : undefined)
}
