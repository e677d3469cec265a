/**
 * Pages follow FINGERPRINTER. It may make other fingerprints of some pages than those under which their visits are kept; two may have changed with each
 * other, so that one would be taken for the other. So all pages move before a run asks for any:
 *
 *     a run begins     with another FINGERPRINTER, by its text, or as some hundred pages show: all move, and what makes fingerprints is noted
 *     a page is due    under another fingerprint than it has now, as what FINGERPRINTER calls has changed: all move then
 *
 * A note says that pages are being moved: a worker that was killed as it did is followed by the next one.
 */

import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Fingerprinter,
  type KeptVisits,
  type Logger,
  type Request,
  SettingsError,
  type StatsCollector,
} from '@webloom/core'

export interface MovingPagesOptions {
  readonly visits: Pick<KeptVisits, 'notes' | 'note' | 'totals' | 'moveAll' | 'someMoved'>
  readonly fingerprinter: Fingerprinter
  /** Returns the fingerprint that a request has now; undefined where FINGERPRINTER throws. */
  readonly fingerprint: (request: Request) => string | undefined
  readonly stats: StatsCollector
  readonly logger: Logger
}

const NOTE = 'fingerprinter'
/** Before what they are moved to. */
const MOVING = 'moving to '
/** Another worker moves pages: for ten million it takes some minutes, and less than one for its successor to see that it was killed. */
const LOOK_EVERY_MS = 500
/** A FINGERPRINTER that never makes the same twice would have all pages move each time. */
const AGAIN_AFTER_MS = 600_000

export class MovingPages {
  readonly #options: MovingPagesOptions
  #movedMs = Number.NEGATIVE_INFINITY

  constructor(options: MovingPagesOptions) {
    this.#options = options
  }

  /** Called before pages are asked for. May be called again when a server was away. */
  async open(signal?: AbortSignal): Promise<void> {
    const { visits, fingerprint } = this.#options
    const noted = await this.#noted()
    if (noted === this.#made && !(await visits.someMoved(fingerprint))) return
    if (noted === undefined && (await visits.totals()).pages === 0) return this.#note(this.#made)
    await this.#moveAll(signal)
  }

  /** Called when pages are due under other fingerprints than they have now. Resolves to whether all were moved for that. */
  async due(): Promise<boolean> {
    const noted = await this.#noted()
    if (noted !== this.#made && noted !== MOVING + this.#made) throw anotherFingerprinter()
    if (performance.now() < this.#movedMs + AGAIN_AFTER_MS) return false
    await this.#moveAll()
    return true
  }

  async #moveAll(signal?: AbortSignal): Promise<void> {
    const { visits, fingerprint, stats, logger } = this.#options
    await this.#note(MOVING + this.#made)
    let moved = await visits.moveAll(fingerprint, signal)
    while (moved === undefined) {
      await sleep(LOOK_EVERY_MS, undefined, signal && { signal })
      if ((await this.#noted()) === this.#made) break
      moved = await visits.moveAll(fingerprint, signal)
    }
    await this.#note(this.#made)
    this.#movedMs = performance.now()
    if (!moved) return
    stats.inc('recrawl/moved_count', moved)
    logger.info(
      { pages: moved },
      'FINGERPRINTER makes other fingerprints of these pages than before: they are kept under these from now on, with their schedules and all that is known of them',
    )
  }

  async #noted(): Promise<string | undefined> {
    const [noted] = await this.#options.visits.notes([NOTE])
    return noted
  }

  async #note(text: string): Promise<void> {
    await this.#options.visits.note(new Map([[NOTE, text]]))
  }

  /** Its URL rules are known when the filter is open. */
  get #made(): string {
    const { name, source = '', urlRules } = this.#options.fingerprinter
    return hash('sha1', JSON.stringify([name, source, urlRules?.current ?? '']))
  }
}

function anotherFingerprinter(): SettingsError {
  return new SettingsError([
    'FINGERPRINTER is not that of another worker, which has moved the visits of this crawl to its own fingerprints. Workers of one crawl need the same one: start this worker again, with the newest',
  ])
}
