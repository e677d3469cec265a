import type { HostOrder, HostOrders, HostPace } from '@webloom/core'
import type { FrontierMachine, FrontierMachineOptions } from '../frontier/frontier-machine.ts'
import { bucketOf } from '../politeness/bucket-of.ts'
import { BOOST, newPauseMs, OrderedHosts } from '../politeness/ordered-hosts.ts'
import { fewestAtOnce, type OwnPacesOptions, ownDelays } from '../politeness/own-paces.ts'
import { slotKey } from '../politeness/slot-key.ts'
import type { BucketScripts } from './scripts/bucket-scripts.ts'
import type { TurnJobs } from './turn-jobs.ts'

/** As `webloom status` shows why a host is paused. */
const PAUSED_BY_HAND = 'paused by hand'
/** The pace of a slot that no setting names: no host has such a name. */
const NAMED_BY_NOBODY = ''

/** How fast slots may be asked, and how urgent they are: by the settings, and by what people have ordered since. */
export class OrderedSlots {
  readonly #paceOf: (slot: string) => HostPace
  readonly #named: readonly string[]
  readonly #buckets: () => number
  readonly #ordered = new OrderedHosts()
  /** The orders that what waits in Redis has been changed by. */
  readonly #told = new Map<string, HostOrder>()
  /** By bucket: slots with a longer delay than others. Absent until it is asked for. */
  #delays: ReturnType<typeof ownDelays> | undefined
  /** By bucket: see fewestAtOnce. Absent until it is asked for. */
  #fewest: ReturnType<typeof fewestAtOnce> | undefined

  /**
   * @param named slots whose pace is their own: those that DOWNLOAD_SLOTS names
   * @param buckets returns how many the queue has; asked when it is open, and not before
   */
  constructor(pace: (slot: string) => HostPace, named: readonly string[], buckets: () => number) {
    this.#paceOf = pace
    this.#named = named
    this.#buckets = buckets
  }

  /** What a machine asks of slots. */
  get forMachine(): Pick<
    FrontierMachineOptions,
    'pace' | 'boostOf' | 'usualPace' | 'bucketOf' | 'buckets' | 'eachMaxOf'
  > {
    return {
      eachMaxOf: (bucket) => this.#eachMaxOf(bucket),
      pace: (slot) => this.pace(slot),
      boostOf: (slot) => this.boostOf(slot),
      usualPace: this.pace(NAMED_BY_NOBODY),
      bucketOf: (slot) => this.#bucketOf(slot),
      buckets: this.#buckets,
    }
  }

  pace(slot: string): HostPace {
    return this.#ordered.pace(slot, this.#paceOf(slot))
  }

  boostOf(slot: string): number {
    return this.#ordered.boostOf(slot)
  }

  /** The delay of a unit's slots by the settings, milliseconds. */
  delayOf(unit: string): number {
    return this.pace(unit.startsWith('#') ? NAMED_BY_NOBODY : decodeURIComponent(unit)).delayMs
  }

  /** Slots of a bucket that have a longer delay, each with its own. */
  ownDelaysOf(unit: string): ReadonlyMap<string, number> | undefined {
    this.#delays ??= ownDelays(this.#owns())
    return this.#delays.get(unit)
  }

  /** Takes the orders that there are now: slots that this worker holds go by them from here on. */
  take(orders: HostOrders, machine: FrontierMachine): void {
    const changed = this.#ordered.take(orders)
    this.#delays = this.#fewest = undefined
    for (const [slot, before] of changed)
      machine.requests.ordered(slotKey(slot), newPauseMs(before, orders.get(slot)), performance.now())
  }

  /** Changes what waits in Redis by the orders that there are now. */
  async tell(orders: HostOrders, scripts: BucketScripts, jobs: TurnJobs): Promise<void> {
    for (const slot of new Set([...this.#told.keys(), ...orders.keys()])) {
      const [before, order] = [this.#told.get(slot), orders.get(slot)]
      if (before?.at === order?.at) continue
      jobs.changeJobs(await scripts.steer(this.#steered(slot, before, order)))
      if (order) this.#told.set(slot, order)
      else this.#told.delete(slot)
    }
  }

  #eachMaxOf(bucket: string): number {
    this.#fewest ??= fewestAtOnce(this.#owns())
    return this.#fewest.get(bucket) ?? Number.POSITIVE_INFINITY
  }

  #owns(): OwnPacesOptions {
    return {
      named: [...this.#named, ...this.#ordered.paced],
      pace: (slot) => this.pace(slot),
      usualPace: this.#paceOf(NAMED_BY_NOBODY),
      bucketOf: (slot) => this.#bucketOf(slot),
    }
  }

  #bucketOf(slot: string): string {
    return bucketOf(slot, this.#buckets())
  }

  #steered(slot: string, before: HostOrder | undefined, order: HostOrder | undefined) {
    const [key, pauseMs] = [slotKey(slot), newPauseMs(before, order)]
    return {
      bucket: this.#bucketOf(key),
      slot: key,
      ...(pauseMs !== undefined && { pauseMs, why: PAUSED_BY_HAND }),
      ...(order?.delayMs !== undefined && { delayMs: order.delayMs }),
      boost: BOOST,
      isBoosted: order?.isBoosted ?? false,
    }
  }
}
