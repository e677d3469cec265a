/**
 * Fetches pages whose requests leave their form to the crawl (`meta.browser: 'auto'`): over HTTP, rendered, or both.
 *
 *     plan ─► HTTP ─► its gate ─► rendered, when the host may be asked again ─► both are compared by the page's callback
 *
 * Both forms are fetched under one lease. The request leaves with the first; the second is one more document of the page, which
 * waits for its host's delay as those do that a browser opens by itself (`Lease.documents`).
 *
 * Only pages are rendered: an answer that is not HTML counts as it is. A request that is not a GET is sent once, and over HTTP, as the
 * second time may not be the same as the first.
 *
 * In a replay pages come in another order than when they were recorded, so others are met before a label is known. A page of which only
 * the other form was recorded comes in that one.
 *
 * What fails in the browser here is not a failure of the page: there is HTTP's answer, which is then handed on without a verdict.
 */

import {
  type Awaitable,
  CloseSpider,
  type DownloadOptions,
  type DownloadResult,
  IgnoreRequest,
  isHtmlAnswer,
  type JsonObject,
  type Lease,
  type Logger,
  type PageForm,
  type PageForms,
  Request,
  RetryLater,
  type Signals,
  type StatsCollector,
} from '@webloom/core'
import type { Response } from '../responses/response.ts'
import type { CallbackOutput, HandOn } from '../scraping/callback-output.ts'
import type { Scraper } from '../scraping/scraper.ts'
import { FormChooser, type FormPlan, type ProbeGate } from './form-chooser.ts'
import { type FetchedForm, probeForms, remember } from './form-probe.ts'
import { EffectsHold } from './held-effects.ts'

export interface FormFetcherOptions {
  readonly forms: PageForms
  readonly scraper: Scraper
  readonly stats: StatsCollector
  readonly signals: Signals
  readonly logger: Logger
}

/** Fetches the request in one form. Resolves as the downloader does. */
export type FetchForm = (
  request: Request,
  options: Pick<DownloadOptions, 'isRendered' | 'onceItCounts'> & { readonly onStart: () => void },
) => Promise<DownloadResult>

/** What was fetched: one form, or two of which one will count. */
export type InForms = { readonly result: DownloadResult; readonly probe?: OpenProbe }

/** A page in both forms. */
export interface OpenProbe {
  /** Runs the callback on both, and resolves to the output that counts; its `response` is the form's. */
  scrape(handOn: HandOn): Promise<CallbackOutput>
}

export class FormFetcher {
  readonly #options: FormFetcherOptions
  readonly #chooser: FormChooser
  readonly #hold: EffectsHold
  #hasTold = false

  constructor(options: FormFetcherOptions) {
    this.#options = options
    this.#chooser = new FormChooser(options.forms, (error) => this.#trouble(error))
    this.#hold = new EffectsHold(options)
  }

  /** @param arrived called with each answer that is kept for what comes of it */
  async fetch(lease: Lease, fetch: FetchForm, arrived: (response: Response) => void): Promise<InForms> {
    const forms: PageForm[] = []
    const noting: FetchForm = (request, options) => {
      forms.push(options.isRendered ? 'rendered' : 'http')
      return fetch(request, options)
    }
    try {
      return await this.#fetch(lease, noting, arrived)
    } catch (error) {
      if (!isUnrecorded(error) || forms.length > 1) throw error
      const form: PageForm = forms[0] === 'http' ? 'rendered' : 'http'
      const result = await fetch(lease.request, {
        isRendered: form === 'rendered',
        onStart: () => lease.started(),
      })
      this.#count(result, form)
      return { result }
    }
  }

  async #fetch(lease: Lease, fetch: FetchForm, arrived: (response: Response) => void): Promise<InForms> {
    const { request } = lease
    const { form, gate }: FormPlan = isRenderable(request)
      ? await this.#chooser.plan(request)
      : { form: 'http' }
    const onStart = () => lease.started()
    if (!gate) {
      const result = await fetch(request, { isRendered: form === 'rendered', onStart })
      this.#count(result, form)
      return { result }
    }
    const http = await fetched((options) => fetch(request, { ...options, onStart }))
    const { result } = http
    if (result instanceof Request || result instanceof RetryLater) return this.#alone(http, 'http')
    const page = { ...http, result: result as Response }
    if (!isHtmlAnswer(page.result)) return this.#alone(http, 'http')
    arrived(page.result)
    return this.#open(lease, page, { gate, fetch, arrived })
  }

  async #open(
    lease: Lease,
    http: FetchedForm<Response>,
    { gate, fetch, arrived }: OpenPage,
  ): Promise<InForms> {
    const copy = lease.request.replace(copies(lease.request))
    const choice = await gate.begin()
    if (choice === 'http') return this.#alone(http, 'http')
    const render = async () => {
      // The lease may have been lost while the page waited for what other pages show.
      lease.signal.throwIfAborted()
      return fetched((options) =>
        fetch(copy, { ...options, isRendered: true, onStart: () => lease.started() }),
      )
    }
    if (choice === 'rendered') return this.#wanted(http, render)
    this.#options.stats.inc('browser/auto/probes')
    let rendered: FetchedForm<DownloadResult> | undefined
    try {
      rendered = await render()
    } catch (error) {
      if (error instanceof CloseSpider || lease.signal.aborted) {
        await this.#end(gate)
        throw error
      }
      this.#options.logger.debug({ url: lease.request.url, err: error }, 'a probe failed in the browser')
    }
    if (!rendered || rendered.result instanceof RetryLater) {
      await this.#end(gate)
      return this.#alone(http, 'http')
    }
    const result = rendered.result as Response | Request
    if (!(result instanceof Request)) arrived(result)
    return this.#both(http, { ...rendered, result }, gate)
  }

  async #wanted(
    http: FetchedForm<Response>,
    render: () => Promise<FetchedForm<DownloadResult>>,
  ): Promise<InForms> {
    try {
      return await this.#alone(await render(), 'rendered')
    } catch (error) {
      if (!isUnrecorded(error)) throw error
      return this.#alone(http, 'http')
    }
  }

  #both(http: FetchedForm<Response>, rendered: FetchedForm<Response | Request>, gate: ProbeGate): InForms {
    const { scraper } = this.#options
    const scrape = async (handOn: HandOn) => {
      let verdict: PageForm | undefined
      try {
        const outcome = await probeForms(http, rendered, { scraper, hold: this.#hold, handOn })
        verdict = outcome.verdict
        this.#options.stats.inc(`browser/auto/${outcome.form}`)
        return outcome.output
      } finally {
        await this.#end(gate, verdict)
      }
    }
    return { result: http.result, probe: { scrape } }
  }

  /** The one form counts. */
  async #alone(form: FetchedForm<DownloadResult>, name: PageForm): Promise<InForms> {
    await remember(form)
    this.#count(form.result, name)
    return { result: form.result }
  }

  #count(result: DownloadResult, form: PageForm): void {
    if (result instanceof Request || result instanceof RetryLater) return
    this.#options.stats.inc(`browser/auto/${form}`)
  }

  #trouble(err: unknown): void {
    const { stats, logger } = this.#options
    stats.inc('browser/auto/store_error')
    if (!this.#hasTold)
      logger.warn(
        { err },
        'which pages need a browser cannot be shared at the moment; each worker finds out by itself',
      )
    this.#hasTold = true
  }

  async #end(gate: ProbeGate, verdict?: PageForm): Promise<void> {
    if (!verdict) this.#options.stats.inc('browser/auto/undecided')
    await gate.end(verdict)
  }
}

function isRenderable({ url, method }: Request): boolean {
  return method === 'GET' && /^https?:/.test(url)
}

interface OpenPage {
  readonly gate: ProbeGate
  readonly fetch: FetchForm
  readonly arrived: (response: Response) => void
}

async function fetched(
  fetch: (options: Pick<DownloadOptions, 'onceItCounts'>) => Promise<DownloadResult>,
): Promise<FetchedForm<DownloadResult>> {
  const remembers: (() => Awaitable<void>)[] = []
  const result = await fetch({ onceItCounts: (one) => void remembers.push(one) })
  return { result, remembers }
}

/** HTTPCACHE_IGNORE_MISSING is true, and the cache has not this form of the page. */
function isUnrecorded(error: unknown): boolean {
  return error instanceof IgnoreRequest && error.code === 'WL_NOT_IN_CACHE'
}

/** Returns copies of meta and cbKwargs, so that the other run changes its own. */
function copies({ hasMeta, meta, hasCbKwargs, cbKwargs }: Request): {
  meta?: JsonObject
  cbKwargs?: JsonObject
} {
  return {
    ...(hasMeta && { meta: structuredClone(meta) }),
    ...(hasCbKwargs && { cbKwargs: structuredClone(cbKwargs) }),
  }
}
