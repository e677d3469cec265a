import {
  DropItem,
  type GonePage,
  type ItemContext,
  type ItemFeed,
  type ItemPipeline,
  type Logger,
  logLevel,
  opened,
  requireMethods,
  type Signals,
  type SpiderLike,
  type StatsCollector,
  thrownBy,
} from '@webloom/core'
import pLimit, { type LimitFunction } from 'p-limit'
import type { FieldCoverage } from '../items/field-coverage.ts'
import { InvalidItem } from '../items/item.ts'
import type { Response } from '../responses/response.ts'
import { isOutputFailure } from './error-kinds.ts'
import { inTime } from './in-time.ts'
import { UnwritableItem, writtenItem } from './written-item.ts'

export interface ItemProcessorOptions {
  /** In order: the first pipeline gets the item as the spider yielded it. */
  readonly pipelines: readonly { name: string; component: ItemPipeline }[]
  readonly feeds: readonly ItemFeed[]
  /** CONCURRENT_ITEMS: how many items of this worker are in pipelines at once. */
  readonly concurrency: number
  /** ITEM_ID_FIELD: the field in which an item may hold an id of its own. */
  readonly idField?: string | null
  /** DEFAULT_DROPITEM_LOG_LEVEL. */
  readonly dropLogLevel: string
  /** COMPONENT_TIMEOUT in milliseconds, for each pipeline; feeds keep to it themselves. Default: no bound. */
  readonly timeoutMs?: number
  /** Counts which fields the items have. Absent: nobody does. */
  readonly coverage?: Pick<FieldCoverage, 'count'>
  /** Sees each item that was written, for monitors. Absent: none needs to. */
  readonly watched?: { look(item: unknown, response: Response | null): void }
  readonly spider: SpiderLike
  readonly stats: StatsCollector
  readonly signals: Signals
  readonly logger: Logger
}

// Stands for an item that a pipeline dropped or failed on: it goes no further.
const GONE = Symbol('gone')

/** Passes items through the pipelines in order, then to every feed. A page's items reach the feeds together, in order. */
export class ItemProcessor {
  readonly #options: ItemProcessorOptions
  readonly #limit: LimitFunction

  constructor(options: ItemProcessorOptions) {
    for (const { component } of options.pipelines)
      requireMethods(component, ['processItem'], 'item pipeline', 'ITEM_PIPELINES')
    this.#options = options
    this.#limit = pLimit(options.concurrency)
  }

  /** Opens feeds first: an output that cannot be written must stop the crawl before any page is fetched. */
  async open(): Promise<void> {
    const { feeds, pipelines } = this.#options
    for (const feed of feeds) await feed.open()
    for (const { name, component } of pipelines)
      await opened(`the item pipeline ${name} (ITEM_PIPELINES)`, 'openSpider', () =>
        this.#inTime(`opening pipeline ${name}`, () => component.openSpider?.()),
      )
  }

  /** Closes everything, whatever fails. One failure is thrown at the end, that of an output before others; the others are logged. */
  async close(reason: string): Promise<void> {
    const { feeds, pipelines, logger } = this.#options
    const failures: unknown[] = []
    for (const { name, component } of pipelines)
      await attempt(
        () => this.#inTime(`closing pipeline ${name}`, () => component.closeSpider?.(reason)),
        failures,
      )
    for (const feed of feeds) await attempt(() => feed.close(reason), failures)
    if (failures.length === 0) return
    const thrown = failures.find(isOutputFailure) ?? failures[0]
    for (const error of failures) if (error !== thrown) logger.error({ err: error }, 'closing failed')
    throw thrown
  }

  #inTime(what: string, step: () => unknown): Promise<unknown> {
    return inTime(what, step, this.#options.timeoutMs ?? Number.POSITIVE_INFINITY)
  }

  /**
   * Resolves when the items were written; rejects with WL_OUTPUT_FAILED when a feed cannot be written.
   *
   * @param sourceId id of the request that yielded the items, or of the start element
   * @param firstOrdinal how many items of the same source were handed on before
   */
  async process(
    items: readonly unknown[],
    sourceId: string,
    firstOrdinal: number,
    response: Response | null,
  ): Promise<void> {
    if (items.length === 0) return
    const done = await this.#throughPipelines(items, sourceId, firstOrdinal, response)
    if (done.length === 0) return
    for (const feed of this.#options.feeds) await feed.write(done, response)
    const { stats, signals, logger, spider, coverage, watched } = this.#options
    stats.inc('item_scraped_count', done.length)
    coverage?.count(done)
    if (watched) for (const item of done) watched.look(item, response)
    if (this.#areForNobody) for (const item of done) this.#tellIfUnwritable(item, response)
    for (const item of done) logger.debug({ source: sourceId, item }, 'scraped')
    if (!signals.listened('itemScraped')) return
    for (const item of done) await signals.send('itemScraped', { item, response, spider })
  }

  /** True when no output, pipeline or listener gets the items, so that they are only counted. */
  get #areForNobody(): boolean {
    const { feeds, pipelines, signals } = this.#options
    return feeds.length === 0 && pipelines.length === 0 && !signals.listened('itemScraped')
  }

  /** Warns of an item that an output would refuse, as a spider is first tried without one. */
  #tellIfUnwritable(item: unknown, response: Response | null): void {
    try {
      writtenItem(item, { takesBigInt: true })
    } catch (error) {
      this.#options.stats.inc('item_unwritable_count')
      const request = response?.hasRequest ? response.request : undefined
      this.#options.logger.error(
        {
          ...(request && { url: request.url, callback: request.callback ?? 'parse' }),
          ...(error instanceof UnwritableItem ? { reason: error.message } : { err: error }),
        },
        'no output could write this item; without one it is only counted',
      )
    }
  }

  /** Tells pipelines that a page is gone. One that throws is logged; the others are told all the same. */
  async gone(page: GonePage): Promise<void> {
    const { pipelines, logger, stats } = this.#options
    for (const { name, component } of pipelines) {
      try {
        await this.#inTime(`telling pipeline ${name} of a page that is gone`, () => component.gone?.(page))
      } catch (error) {
        if (isOutputFailure(error)) throw error
        stats.inc('recrawl/gone_error_count')
        logger.error({ pipeline: name, url: page.url, err: error }, 'the pipeline threw when a page was gone')
      }
    }
  }

  async #throughPipelines(
    items: readonly unknown[],
    sourceId: string,
    firstOrdinal: number,
    response: Response | null,
  ): Promise<unknown[]> {
    const { pipelines, idField } = this.#options
    if (pipelines.length === 0 && !items.some((item) => item instanceof InvalidItem)) return [...items]
    const results = await Promise.all(
      items.map((item, index) => {
        const id = ownId(item, idField) ?? `${sourceId}/${firstOrdinal + index}`
        return this.#limit(() => this.#one(item, { id, response }))
      }),
    )
    return results.filter((result) => result !== GONE)
  }

  async #one(yielded: unknown, context: ItemContext): Promise<unknown> {
    if (yielded instanceof InvalidItem) {
      await this.#gone(yielded.value, context, 'item()', yielded)
      return GONE
    }
    let item = yielded
    for (const { name, component } of this.#options.pipelines) {
      try {
        item = await component.processItem(item, context)
      } catch (error) {
        // Every further item would be lost as well: the crawl ends, and the page is crawled again by the next run.
        if (isOutputFailure(error)) throw error
        await this.#gone(item, context, name, thrownBy(error, `${name}.processItem`))
        return GONE
      }
      if (item === undefined || item === null) {
        await this.#gone(
          item,
          context,
          name,
          new TypeError(`${name}.processItem answered ${item}; return the item, or throw DropItem`),
        )
        return GONE
      }
    }
    return item
  }

  async #gone(item: unknown, context: ItemContext, pipeline: string, error: unknown): Promise<void> {
    const { stats, signals, logger, spider, dropLogLevel } = this.#options
    const response = context.response
    if (error instanceof DropItem) {
      stats.inc('item_dropped_count')
      stats.inc(`item_dropped_reasons_count/${error.name}`)
      logger[logLevel(error.logLevel ?? dropLogLevel, 'warn')](
        { pipeline, item: context.id, ...(response && { url: response.url }), reason: error.message },
        'item dropped',
      )
      await signals.send('itemDropped', { item, response, error, spider })
    } else {
      stats.inc('item_error_count')
      logger.error({ pipeline, item: context.id, err: error }, 'the pipeline threw; the item is lost')
      await signals.send('itemError', { item, response, error, spider })
    }
  }
}

/** Returns the id that the author gave the item. An empty one counts as none. */
function ownId(item: unknown, field: string | null | undefined): string | undefined {
  if (!field || typeof item !== 'object' || item === null) return undefined
  const id: unknown = Reflect.get(item, field)
  const isId = (typeof id === 'string' && id !== '') || typeof id === 'number' || typeof id === 'bigint'
  return isId ? String(id) : undefined
}

async function attempt(act: () => unknown, failures: unknown[]): Promise<void> {
  try {
    await act()
  } catch (error) {
    failures.push(error)
  }
}
