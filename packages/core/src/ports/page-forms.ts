/**
 * Which pages change when a browser renders them, as a crawl has learned it (`meta.browser: 'auto'`).
 *
 * A page has two forms: the answer over HTTP, and what a browser makes of it. Most pages of a site that have one *shape* (host and
 * form of the path: `shop.example/products/#`) are alike in that, so the crawl learns it by shape. A *probe* is a page that was
 * fetched in both forms and went through its callback in both; its verdict is the form that such a page needs:
 *
 *     http        the callback yields the same for both
 *     rendered    it yields something else for the rendered page
 *
 * What is known of a shape is its last verdict, and how many verdicts in a row have been that one. A verdict that disagrees begins
 * anew with 1: doubt costs some pages a probe, and a wrong form costs items. A probe that failed, in the browser or in the
 * callback, has no verdict: a site that is down must not be taken for one that needs no browser.
 *
 * It is kept where the crawl is kept, so that workers learn from each other. That is bounded, and what is not kept any more is
 * probed again: nothing here is needed for a right crawl, only for a cheap one.
 */

import type { Headers } from '../requests/headers.ts'
import type { Request } from '../requests/request.ts'
import type { Awaitable } from '../waiting/awaitable.ts'
import type { DownloadOptions } from './downloader.ts'

/** How a page is fetched. */
export type PageForm = 'http' | 'rendered'

/** What is known of the pages of one shape. */
export interface FormVerdicts {
  /** The form that the last probe spoke for. */
  readonly form: PageForm
  /** How many probes in a row had this verdict: 1 to VERDICTS_MAX, where counting stops. */
  readonly agreeing: number
}

/** After this many equal verdicts in a row, the form is taken for certain. */
export const VERDICTS_MAX = 3

/** The verdicts of a crawl, by shape; of all its workers. */
export interface PageForms {
  /** Resolves to what is known of a shape; undefined: nothing, and whoever has not learned it by itself must probe its pages. */
  of(shape: string): Awaitable<FormVerdicts | undefined>
  /** Adds a verdict. Resolves to what is known now, those of other workers included. A store that is full forgets another shape. */
  learn(shape: string, form: PageForm): Awaitable<FormVerdicts>
}

/** Returns what is known with one verdict more. */
export function withVerdict(before: FormVerdicts | undefined, form: PageForm): FormVerdicts {
  return { form, agreeing: before?.form === form ? Math.min(VERDICTS_MAX, before.agreeing + 1) : 1 }
}

/**
 * Returns whether the request leaves it to the crawl in which form its page is fetched. Reading `meta` creates that object: ask
 * `hasMeta` first.
 */
export function isFormOpen({ meta }: Request): boolean {
  return meta.browser === 'auto'
}

/** Returns whether a browser fetches the request. Reading `meta` creates that object: ask `hasMeta` first. */
export function isForBrowser(request: Request, options?: Pick<DownloadOptions, 'isRendered'>): boolean {
  return isFormOpen(request) ? options?.isRendered === true : Boolean(request.meta.browser)
}

/** Returns whether an answer is HTML, which alone has two forms. What comes without a type counts as HTML, as in browsers. */
export function isHtmlAnswer({ headers }: { readonly headers: Headers }): boolean {
  return /^\s*(?:$|text\/html|application\/xhtml\+xml)/i.test(headers.get('content-type') ?? '')
}
