import type { JsonValue } from '@webloom/url'

/**
 * How a page is rendered: `meta: { browser: { waitFor: '.price', block: ['image', 'font'] } }`. It travels with the request, so it
 * is JSON. `true` is the same as `{}`: the page is loaded, and its DOM is taken once its scripts have no more requests under way.
 *
 * What is asked for happens in this order: `fill`, `click`, `waitFor`, `scroll`, `script`, `screenshot` and `pdf`. Then the DOM is
 * taken, and the page is closed. A type and no interface, as only such a one counts as JSON to the compiler.
 */
export type BrowserOptions = {
  /**
   * A CSS selector: waits until the page has such an element, and for what its scripts have under way then. A number: waits so many
   * milliseconds. When the element does not come within DOWNLOAD_TIMEOUT, the request fails with `DownloadTimeoutError`, and is tried
   * again.
   */
  waitFor?: string | number
  /**
   * Scrolls down for pages that load more then: as long as they become longer, 20 times at the most; or as often as this number
   * says.
   */
  scroll?: boolean | number
  /** What is clicked, in order. Each is waited for; one with `times` is clicked until it is gone, so many times at the most. */
  click?: string | BrowserClick | (string | BrowserClick)[]
  /** What is typed into fields before anything is clicked: values by CSS selector. */
  fill?: { [selector: string]: string }
  /**
   * What is not loaded: kinds (`image`, `media`, `font`, `stylesheet`, `script`, `xhr`, `fetch`, `websocket`, `other`), and hosts
   * with their subdomains (`doubleclick.net`).
   */
  block?: string[]
  /** The size of the window in CSS pixels, each side 16 384 at the most. Default 1280 × 720. */
  viewport?: { width: number; height: number }
  /** The language of page and browser, such as `de-DE`. Default: the browser's. */
  locale?: string
  /** True: the window as a PNG in `response.browser.screenshot`; `full`: the whole page. */
  screenshot?: boolean | 'full'
  /** True: the page printed, in `response.browser.pdf`. */
  pdf?: boolean
  /**
   * Answers to keep in `response.browser.captured`, by their URLs: `/api/**` for paths of any host, or whole URLs. `*` is any text
   * without a slash, `**` any text. URLs of more than 65 536 characters are not among them.
   */
  capture?: string[]
  /**
   * The name of a method of the spider, `async method(page, request)`, that gets Playwright's `Page`. The page is closed when the
   * method has ended, or its time is over. What it returns must be JSON, and is `response.browser.returned`.
   */
  script?: string
}

/** What is clicked, and how often. */
export type BrowserClick = {
  /** A CSS selector. */
  selector: string
  /** The most clicks; it is clicked until it is gone. Default 1. */
  times?: number
}

/** What a browser has brought beside the page itself: `response.browser`. */
export interface Rendered {
  /** The page as PNG, where `screenshot` asks for it. */
  readonly screenshot?: Uint8Array
  /** The page as PDF, where `pdf` asks for it. */
  readonly pdf?: Uint8Array
  /** Answers that `capture` asks for, in the order in which they came: 100 at the most. */
  readonly captured: readonly CapturedAnswer[]
  /** What the page wrote as errors, and errors that nobody caught: 50 at the most. */
  readonly errors: readonly string[]
  /** What was not loaded, and why: 100 entries at the most. */
  readonly blocked: readonly BlockedLoad[]
  /** What the method that `script` names returned. */
  readonly returned?: JsonValue
}

/** An answer to a script of the page. */
export interface CapturedAnswer {
  /** The URL that was asked for. */
  readonly url: string
  /** The request's method. */
  readonly method: string
  /** The HTTP status. */
  readonly status: number
  /** The Content-Type header; empty when there was none. */
  readonly contentType: string
  /** The body as text. */
  readonly text: string
  /** The body as JSON; absent when it is none. */
  readonly json?: JsonValue
}

/** Something that a page was not allowed to load. */
export interface BlockedLoad {
  /** A URL; where a connection was refused, `host:port`. */
  readonly url: string
  /** The kind or host that `block` names, or why the address guard refused the address. */
  readonly why: string
}
