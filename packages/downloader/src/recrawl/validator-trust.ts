/**
 * Whether a host's validators can be believed.
 *
 * A host that answers 304 for a page that has changed keeps a crawl from ever seeing the change. Two kinds are known:
 *
 *     a tag that does not change with the page       found by fetching the page whole: other content, same tag
 *     304 whatever is asked                          found by asking with a tag that is known to be outdated: 304
 *
 * So of the pages that could be asked for by their validators, some are fetched whole, to *check* them. When such a page has changed, and
 * its tag with it, the old tag is kept, and used once more: an honest host then sends the page. Or it says 304, as the page is again what it
 * was: then the page is fetched whole at once, and has the old tag and other content than it had meanwhile. Checks begin with the second
 * revisit of a host and become rarer, until one in 64 is left. One proven lie is enough: from then on the host's pages are fetched whole.
 */

import type { ValidatorRecord } from '@webloom/core'

/** How a page is asked for: `whole`, or only if it has changed. */
export type AskedFor = 'whole' | 'conditional'

/** What came of asking. */
export interface Revisit {
  readonly asked: AskedFor
  /** True when it was asked for by validators that were known to be outdated. */
  readonly wasOutdated: boolean
  /** True when it was asked for whole, as the answer to outdated validators was 304. */
  readonly isDoubted?: boolean
  /** The answer was 304. */
  readonly notModified: boolean
  /** The content is another one than at the last visit; false with 304. */
  readonly changed: boolean
  /** The answer has the validators that were known. */
  readonly sameValidators: boolean
}

/** Which validators a page goes on with. */
export type KeptValidators = 'new' | 'outdated'

const CHECKS_RARER = 2
const MAX_ASKS_PER_CHECK = 64
// So many proofs that changes are told make checks as rare as they become.
const PROOFS_MAX = 3
// A host whose tags change with each answer gives nothing by them, and a crawl asks in vain.
const USELESS_MAX = 20

const NOTHING_KNOWN: ValidatorRecord = {
  asksSinceCheck: 0,
  asksPerCheck: 2,
  proofs: 0,
  useless: 0,
  lied: false,
}

/** What is known of one host. It is told about each revisit of a page that had validators. */
export class ValidatorTrust {
  #record: ValidatorRecord

  constructor(record = NOTHING_KNOWN) {
    this.#record = record
  }

  /** With what was learned. */
  get record(): ValidatorRecord {
    return this.#record
  }

  /** True once a 304 for changed content is proven. */
  get lied(): boolean {
    return this.#record.lied
  }

  /** True when validators bring nothing: they need not be kept. */
  get isUseless(): boolean {
    return this.lied || this.#record.useless >= USELESS_MAX
  }

  /**
   * Called once for each page that is about to be asked for, and has validators.
   *
   * @param visits of the page until now: while little is known of a host, the second revisit of each page is a check. Of a host of two pages that
   * take turns every fourth request would be one and the same page
   */
  ask(isOutdated: boolean, visits = 1): AskedFor {
    if (this.isUseless) return 'whole'
    if (isOutdated) return 'conditional'
    const { asksSinceCheck, asksPerCheck } = this.#record
    const isEarly = visits === 2 && asksPerCheck < MAX_ASKS_PER_CHECK
    if (!isEarly && asksSinceCheck + 1 < asksPerCheck) {
      this.#learn({ asksSinceCheck: asksSinceCheck + 1 })
      return 'conditional'
    }
    this.#learn({
      asksSinceCheck: 0,
      asksPerCheck: Math.min(MAX_ASKS_PER_CHECK, asksPerCheck * CHECKS_RARER),
    })
    return 'whole'
  }

  /** Of a page that was asked for by outdated validators, a 304 is no answer to learn from: it is asked for whole (`isDoubted`). */
  learn({ asked, wasOutdated, isDoubted, notModified, changed, sameValidators }: Revisit): KeptValidators {
    if (wasOutdated) {
      if (isDoubted && (notModified || !changed || !sameValidators)) this.#learn({ lied: true })
      else if (asked === 'conditional') this.#prove()
      return 'new'
    }
    // The same validators for a page that is the same: a host that was of no use is asked by them again.
    if (notModified || (!changed && sameValidators)) this.#learn({ useless: 0 })
    else if (changed && sameValidators) this.#learn({ lied: true })
    else if (changed && asked === 'whole') return this.#record.proofs < PROOFS_MAX ? 'outdated' : 'new'
    else if (changed) this.#prove()
    else this.#learn({ useless: Math.min(USELESS_MAX, this.#record.useless + 1) })
    return 'new'
  }

  #prove(): void {
    const proofs = Math.min(PROOFS_MAX, this.#record.proofs + 1)
    this.#learn({ useless: 0, proofs, ...(proofs === PROOFS_MAX && { asksPerCheck: MAX_ASKS_PER_CHECK }) })
  }

  #learn(learned: Partial<ValidatorRecord>): void {
    this.#record = { ...this.#record, ...learned }
  }
}
