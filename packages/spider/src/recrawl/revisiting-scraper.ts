import type { Response } from '../responses/response.ts'
import { CallbackOutput, type Failure, type HandOn } from '../scraping/callback-output.ts'
import { Scraper, type ScraperOptions } from '../scraping/scraper.ts'
import type { PageVisits } from './page-visits.ts'

/** Of statuses. */
const FIRST_ERROR = 400

/**
 * Runs callbacks on pages that have changed, and on unchanged ones that were sent whole: their links are followed, and their items are
 * not written again. A page that was not sent (304) has no callback.
 */
export class RevisitingScraper extends Scraper {
  readonly #visits: PageVisits
  readonly #stats: ScraperOptions['stats']

  constructor(options: ScraperOptions, visits: PageVisits) {
    super(options)
    this.#visits = visits
    this.#stats = options.stats
  }

  override async scrape(response: Response, handOn: HandOn): Promise<CallbackOutput> {
    const arrival = await this.#visits.arrived(response)
    const isForItems = arrival !== 'unchanged' && arrival !== 'not modified' && response.status < FIRST_ERROR
    // That there is a count says that not all items are written.
    if (!this.#visits.writesUnchanged) this.#stats.inc('recrawl/item_page_count', Number(isForItems))
    if (arrival === 'not modified') return new CallbackOutput()
    const isKnown = arrival === 'unchanged' && !this.#visits.writesUnchanged
    const output = await super.scrape(
      response,
      isKnown ? (early) => handOn(this.#withoutItems(early)) : handOn,
    )
    if (output.givenUp && !output.failure) this.#visits.spoiled(response.request)
    return isKnown ? this.#withoutItems(output) : output
  }

  override fail(failure: Failure, handOn: HandOn): Promise<CallbackOutput> {
    this.#visits.failed(failure)
    return super.fail(failure, handOn)
  }

  #withoutItems(output: CallbackOutput): CallbackOutput {
    const { length } = output.items.splice(0)
    if (length > 0) this.#stats.inc('recrawl/items_unchanged_count', length)
    return output
  }
}
