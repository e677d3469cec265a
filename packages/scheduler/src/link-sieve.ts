/** Sorts the requests that a page brought: those to queue, those seen before, those in doubt. */

import { hash } from 'node:crypto'
import {
  type DupeFilter,
  type Fingerprinter,
  InvalidUrl,
  type Logger,
  type ProtocolTimes,
  putUnderRules,
  type QueuedRequest,
  type Request,
  type Seen,
  type Signals,
  type SpiderLike,
  type StatsCollector,
  type UrlRules,
  urlRulesOf,
} from '@webloom/core'
import { patiently } from './patience.ts'

export interface LinkSieveOptions {
  readonly filter: DupeFilter
  readonly fingerprinter: Fingerprinter
  readonly stats: StatsCollector
  readonly signals: Signals
  readonly logger: Logger
  readonly spider: SpiderLike
  readonly times: ProtocolTimes['scheduler']
  readonly logEveryDuplicate: boolean
  /** Resolves to those whose pages come back by themselves: a link to one is never queued, whatever the filter says. */
  readonly comingBack?: ((requests: readonly Request[]) => Promise<ReadonlySet<Request>>) | undefined
}

export class LinkSieve {
  readonly #options: LinkSieveOptions
  #duplicateLogged = false

  constructor(options: LinkSieveOptions) {
    this.#options = options
  }

  /** The URL rules of this crawl: its filter may have been begun with older ones. */
  get urlRules(): UrlRules {
    return this.#options.fingerprinter.urlRules?.current ?? urlRulesOf(undefined)
  }

  /**
   * Resolves to those the filter has not seen, those in doubt, and those that go past it (`dontFilter`), with their ids, in order.
   *
   * @param options `marksAll`: those with `dontFilter` leave their mark in the filter, too
   */
  async fresh(
    found: readonly Request[],
    asker: string,
    {
      marksAll = false,
      idOf = derivedId,
      signal,
    }: { marksAll?: boolean; idOf?: typeof derivedId; signal?: AbortSignal } = {},
  ): Promise<QueuedRequest[]> {
    const { filter, fingerprinter, stats } = this.#options
    const requests = this.#withFingerprint(found)
    const asked = marksAll ? requests : requests.filter(({ dontFilter }) => !dontFilter)
    // Asks even about no request; `DupeFilter.requestsSeen` says why.
    const seen = await this.#seen(asked, asker, signal)
    let fresh: QueuedRequest[] = []
    const duplicates: Request[] = []
    let inDoubt = 0
    let next = 0
    for (let ordinal = 0; ordinal < requests.length; ordinal++) {
      const request = requests[ordinal]!
      const answer = marksAll || !request.dontFilter ? seen[next++] : false
      if (request.dontFilter || filter.letsAllPass) fresh.push({ id: idOf(asker, ordinal), request })
      else if (answer === true) duplicates.push(request)
      else if (answer === 'in doubt') {
        inDoubt++
        fresh.push({ id: fingerprinter.fingerprint(request), request, inDoubt: asker })
      } else fresh.push({ id: fingerprinter.fingerprint(request), request })
    }
    if (duplicates.length > 0) this.drop(duplicates)
    if (this.#options.comingBack) fresh = await this.#withoutComingBack(fresh, signal)
    if (inDoubt > 0) stats.inc('dupefilter/in_doubt', inDoubt)
    if (fresh.length > 0) await this.scheduled(fresh)
    return fresh
  }

  /**
   * Asks once more about what `fresh` was asked. Returns those that are new or in doubt now, without those that were so then.
   * One that was in doubt then, and is new now, is returned: who had it has given it back, and only this asker can queue it.
   *
   * @param before what `fresh` returned then
   */
  async freshSince(
    found: readonly Request[],
    asker: string,
    before: readonly QueuedRequest[],
    { marksAll = false }: { marksAll?: boolean } = {},
  ): Promise<QueuedRequest[]> {
    const { fingerprinter } = this.#options
    const requests = this.#withFingerprint(marksAll ? found : found.filter(({ dontFilter }) => !dontFilter))
    const seen = await this.#seen(requests, asker, undefined)
    const queued = new Set(before.filter(({ inDoubt }) => !inDoubt).map(({ id }) => id))
    const setAside = new Set(before.filter(({ inDoubt }) => inDoubt).map(({ id }) => id))
    let fresh = requests.flatMap((request, n): QueuedRequest[] => {
      if (seen[n] === true || request.dontFilter) return []
      const id = fingerprinter.fingerprint(request)
      if (queued.has(id)) return []
      if (seen[n] === false) return [{ id, request }]
      return setAside.has(id) ? [] : [{ id, request, inDoubt: asker }]
    })
    if (this.#options.comingBack) fresh = await this.#withoutComingBack(fresh)
    await this.scheduled(fresh)
    return fresh
  }

  async #withoutComingBack(fresh: readonly QueuedRequest[], signal?: AbortSignal): Promise<QueuedRequest[]> {
    const { comingBack, logger, times } = this.#options
    const links = fresh.flatMap(({ request, inDoubt }) => (request.dontFilter || inDoubt ? [] : [request]))
    const back =
      links.length === 0
        ? new Set<Request>()
        : await patiently(() => comingBack!(links), {
            ...{ logger, times, what: 'asking which pages were visited' },
            ...(signal && { signal }),
          })
    if (back.size > 0) this.drop([...back])
    return fresh.filter(({ request }) => !back.has(request))
  }

  /**
   * A batch whose elements ask at the same moment, each as an asker of its own, without those that stand in it before: they would
   * be told that the first one is in doubt, and wait for what is known here. The first one is queued, or was seen.
   */
  distinct(batch: readonly (Request | undefined)[]): readonly (Request | undefined)[] {
    const { filter, fingerprinter } = this.#options
    if (filter.letsAllPass) return batch
    const { urlRules } = this
    const ids = new Set<string>()
    const again: Request[] = []
    const distinct = batch.map((request) => {
      if (!request || request.dontFilter) return request
      if (!this.#hasFingerprint(request, urlRules)) return undefined
      const { size } = ids
      if (ids.add(fingerprinter.fingerprint(request)).size > size) return request
      again.push(request)
      return undefined
    })
    if (again.length > 0) this.drop(again)
    return distinct
  }

  /** Sends `requestScheduled` for each request that was queued, but not for links in doubt. */
  async scheduled(fresh: readonly QueuedRequest[]): Promise<void> {
    const { signals, spider } = this.#options
    if (!signals.listened('requestScheduled')) return
    for (const { request, inDoubt } of fresh)
      if (!inDoubt) await signals.send('requestScheduled', { request, spider })
  }

  /** Counts requests that were seen before, and sends `requestDropped` for each. */
  drop(duplicates: readonly Request[]): void {
    const { stats, signals, spider, logger, logEveryDuplicate } = this.#options
    stats.inc('dupefilter/filtered', duplicates.length)
    if (signals.listened('requestDropped')) {
      for (const request of duplicates) void signals.send('requestDropped', { request, spider })
    }
    if (logEveryDuplicate) {
      for (const { url, method } of duplicates) logger.debug({ url, method }, 'filtered duplicate request')
    } else if (!this.#duplicateLogged) {
      this.#duplicateLogged = true
      const { url, method } = duplicates[0]!
      logger.debug(
        { url, method },
        'filtered duplicate request; further ones are only counted (DUPEFILTER_DEBUG=true shows all)',
      )
    }
  }

  #seen(requests: readonly Request[], asker: string, signal: AbortSignal | undefined): Promise<Seen[]> {
    const { filter, logger, times } = this.#options
    return patiently(() => filter.requestsSeen(requests, asker), {
      logger,
      times,
      what: 'asking the dupefilter',
      ...(signal && { signal }),
    })
  }

  #withFingerprint(found: readonly Request[]): Request[] {
    const { urlRules } = this
    return found.filter((request) => this.#hasFingerprint(request, urlRules))
  }

  /**
   * False for a request on which a FINGERPRINTER of the user's own throws, or whose URL the crawl's rules refuse: it is
   * given up, the others are not. One by the URL alone throws on none, and is left to be made for those that are new: nine links in
   * ten are not, and the filter may name them by fingerprints of its own.
   */
  #hasFingerprint(request: Request, urlRules: UrlRules): boolean {
    const { fingerprinter, stats, logger } = this.#options
    try {
      putUnderRules(request, urlRules)
      if (fingerprinter.known?.(request) === undefined) fingerprinter.fingerprint(request)
      return true
    } catch (error) {
      stats.inc('scheduler/no_fingerprint_count')
      const why = error instanceof InvalidUrl ? 'URL_RULES refuse this URL' : 'FINGERPRINTER threw'
      logger.error({ url: request.url, err: error }, `${why}; the request is not made`)
      return false
    }
  }
}

/** Returns the id of a request that goes past the filter. It is the same when the parent's callback runs again. */
function derivedId(asker: string, ordinal: number): string {
  return hash('sha1', `${asker}#${ordinal}`)
}
