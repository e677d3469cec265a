/**
 * Proxies that are chosen by how well they do.
 *
 * Each proxy has a score between 0 and 1: a success raises it a fifth of the way to 1, a failure halves it. The next
 * request goes to one of them at random, in proportion to the scores, so that a bad proxy still gets a request now and then
 * and can recover. A proxy that failed several times in a row rests for a while. When all rest, the one with the best score
 * is used all the same: a crawl that only waits is worse.
 */

import type { StatsCollector } from '@webloom/core'
import type { ProxyAddress } from './proxy-address.ts'

export interface ProxyRotationOptions {
  /** How many failures in a row send a proxy to rest. */
  readonly failuresMax: number
  readonly banMs: number
  readonly stats: StatsCollector
  /** A number from 0 to 1, exclusive. Tests give their own. */
  readonly random?: () => number
  /** Milliseconds of a monotonic clock. Tests give their own. */
  readonly now?: () => number
}

/** One proxy of the rotation and its score. */
export interface RotatedProxy {
  readonly address: ProxyAddress
  score: number
  failuresInARow: number
  bannedUntilMs: number
}

const GAIN = 0.2
const LOSS = 0.5
// A floor, so that every proxy gets another chance.
const SCORE_MIN = 0.01

export class ProxyRotation {
  readonly #proxies: readonly RotatedProxy[]
  readonly #options: ProxyRotationOptions
  readonly #random: () => number
  readonly #now: () => number

  /** @param addresses at least one */
  constructor(addresses: readonly ProxyAddress[], options: ProxyRotationOptions) {
    this.#proxies = addresses.map((address) => ({ address, score: 1, failuresInARow: 0, bannedUntilMs: 0 }))
    this.#options = options
    this.#random = options.random ?? Math.random
    this.#now = options.now ?? (() => performance.now())
  }

  next(): RotatedProxy {
    const now = this.#now()
    const awake = this.#proxies.filter(({ bannedUntilMs }) => bannedUntilMs <= now)
    if (awake.length > 0) return this.#byChance(awake)
    this.#options.stats.inc('proxy/all_banned')
    return this.#proxies.reduce((best, one) => (one.score > best.score ? one : best))
  }

  succeeded(proxy: RotatedProxy): void {
    this.#options.stats.inc('proxy/successes')
    proxy.failuresInARow = 0
    proxy.bannedUntilMs = 0
    proxy.score += (1 - proxy.score) * GAIN
  }

  /** Returns true when this failure was one too many: the proxy rests from now on. */
  failed(proxy: RotatedProxy): boolean {
    const { failuresMax, banMs, stats } = this.#options
    proxy.score = Math.max(SCORE_MIN, proxy.score * LOSS)
    proxy.failuresInARow++
    stats.inc('proxy/failures')
    const now = this.#now()
    if (proxy.failuresInARow < failuresMax || proxy.bannedUntilMs > now) return false
    proxy.bannedUntilMs = now + banMs
    stats.inc('proxy/banned')
    return true
  }

  #byChance(proxies: readonly RotatedProxy[]): RotatedProxy {
    let point = this.#random() * proxies.reduce((sum, { score }) => sum + score, 0)
    for (const proxy of proxies) {
      point -= proxy.score
      if (point < 0) return proxy
    }
    // Reached only when the sum was rounded.
    return proxies.at(-1)!
  }
}
