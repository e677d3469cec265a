/**
 * Hosts that have nothing in flight: what was learned of them, and when they may be asked again, in 20 bytes each.
 *
 *     of 32 bits   failures in a row: 12 | the delay's unit: 1 | floor of the delay: 19, in ms, from 8.7 minutes on in s
 *
 * Past the bound those go first that might have been asked for the longest time. No delay is broken by that. Until the last
 * forgotten host may be asked, no host that is unknown is (`unknownFromMs`). And where the floor of a delay is forgotten, the
 * clock lets a single request to an unknown host go, until that has brought the delay again (`hasForgottenDelays`).
 */

import { type HostState, type SiteAnswer, SiteTable } from '@webloom/core'

export interface RestingHost {
  readonly learned: HostState
  /** No request starts before this moment, by the clock that the caller uses. Rounded up to a second. */
  readonly nextAtMs: number
}

const DELAY_UNITS = 2 ** 19
const FAILURES_MAX = 2 ** 12 - 2
const FOR_EVER_S = 2 ** 32 - 1

export class RestingHosts {
  readonly #table: SiteTable
  #isUsed = false
  /** No host that is unknown may be asked before this moment: it may be a forgotten one that has to wait so long. */
  unknownFromMs = 0
  /** Whether an unknown host may be one whose delay was known. */
  hasForgottenDelays = false

  constructor(bytesMax: number) {
    this.#table = new SiteTable(bytesMax, (host) => this.#forgotten(host))
  }

  /** The memory that they take now. */
  get bytes(): number {
    return this.#table.bytes
  }

  get(slot: string): RestingHost | undefined {
    // Asked for each request, mostly in crawls in which nothing is learned of any host.
    const found = this.#isUsed ? this.#table.get(slot) : undefined
    if (!found || found.untilS === 0) return undefined
    return { learned: unpacked(found.answer), nextAtMs: found.askAgainAtS * 1000 }
  }

  set(slot: string, { learned, nextAtMs }: RestingHost, nowMs: number): void {
    const askAgainAtS = Math.max(1, Math.ceil(nextAtMs / 1000))
    const isLearned = learned.delayMs > 0 || learned.failures > 0
    this.#isUsed = true
    const untilS = isLearned ? FOR_EVER_S : askAgainAtS
    this.#table.set(slot, { answer: packed(learned), askAgainAtS, untilS }, nowMs / 1000)
  }

  delete(slot: string): void {
    this.#table.delete(slot)
  }

  #forgotten({ answer, askAgainAtS }: SiteAnswer): void {
    this.unknownFromMs = Math.max(this.unknownFromMs, askAgainAtS * 1000)
    if (unpacked(answer).delayMs > 0) this.hasForgottenDelays = true
  }
}

/** Returns the 32 bits as a number that is one more, as 0 is no answer. */
function packed({ delayMs, failures }: HostState): number {
  const isLong = delayMs >= DELAY_UNITS
  const units = Math.min(Math.ceil(isLong ? delayMs / 1000 : delayMs), DELAY_UNITS - 1)
  return 1 + units + (isLong ? DELAY_UNITS : 0) + 2 * DELAY_UNITS * Math.min(failures, FAILURES_MAX)
}

function unpacked(answer: number): HostState {
  const units = (answer - 1) % DELAY_UNITS
  const isLong = Math.floor((answer - 1) / DELAY_UNITS) % 2 === 1
  return { delayMs: isLong ? units * 1000 : units, failures: Math.floor((answer - 1) / (2 * DELAY_UNITS)) }
}
