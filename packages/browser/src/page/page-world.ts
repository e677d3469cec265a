/**
 * What is read from a page, in a world of its own, where no script of the page has changed what is called.
 *
 * Playwright brings a quarter of a megabyte of script into each page that it is asked about. Whoever only looks for an element and
 * takes the DOM needs none of it.
 */

import type { CDPSession } from 'playwright-core'

/** An element that comes later is left to Playwright, which waits better: past navigations, and in shadow trees. */
const LOOK_MS_MAX = 2000
/** How long a page that a meta tag redirects at once has to leave. */
const LEAD_MS_MAX = 3000

export class PageWorld {
  readonly #session: CDPSession
  readonly #mainFrame: () => string
  #context: number | undefined

  /** @param mainFrame the frame that the page is in */
  constructor(session: CDPSession, mainFrame: () => string) {
    this.#session = session
    this.#mainFrame = mainFrame
  }

  /**
   * Resolves to the page as HTML; undefined when it is longer than `charactersMax` (0: no bound). One with a meta tag that leads
   * elsewhere at once is given time to: on a busy machine it is still there when nothing is under way.
   */
  async html(charactersMax: number): Promise<string | undefined> {
    const html = await this.#evaluate(`(${HTML_OF})(${charactersMax}, ${LEAD_MS_MAX})`)
    return typeof html === 'string' ? html : undefined
  }

  /**
   * Resolves to whether the document has such an element at once, gets one in a moment, or does neither; so it is, too, where what is
   * asked for is no selector of CSS.
   */
  async look(selector: string): Promise<'there' | 'came' | 'missing'> {
    try {
      const seen = await this.#evaluate(`(${LOOK})(${JSON.stringify(selector)}, ${LOOK_MS_MAX})`)
      return seen === 'there' || seen === 'came' ? seen : 'missing'
    } catch {
      return 'missing' // The page went elsewhere meanwhile.
    }
  }

  async #evaluate(expression: string): Promise<unknown> {
    const known = this.#context
    const contextId = known ?? (await this.#enter())
    try {
      return await this.#evaluateIn(contextId, expression)
    } catch (error) {
      if (known === undefined) throw error
      // A document that came since has no such world yet.
      return this.#evaluateIn(await this.#enter(), expression)
    }
  }

  async #enter(): Promise<number> {
    const { executionContextId } = await this.#session.send('Page.createIsolatedWorld', {
      frameId: this.#mainFrame(),
      worldName: 'webloom',
    })
    this.#context = executionContextId
    return executionContextId
  }

  async #evaluateIn(contextId: number, expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.#session.send('Runtime.evaluate', {
      contextId,
      expression,
      returnByValue: true,
      awaitPromise: true,
    })
    if (exceptionDetails) throw new Error(`the DOM cannot be read: ${exceptionDetails.text}`)
    return result.value
  }
}

/** These run in the page, and are texts here: our types know no `document`. */
const HTML_OF = `async (charactersMax, msMax) => {
  const [, seconds, url] = /^\\s*([\\d.]+)\\s*[;,]\\s*url\\s*=\\s*['"]?([^'"]*)/i.exec(document.querySelector('meta[http-equiv="refresh" i]')?.content ?? '') ?? []
  const bare = (href) => new URL(href, document.baseURI).href.replace(/#.*/, '')
  if (seconds <= 1 && bare(url) !== bare(location.href)) await new Promise((resolve) => setTimeout(resolve, msMax))
  const { doctype, documentElement } = document
  const html = (doctype ? new XMLSerializer().serializeToString(doctype) : '') + (documentElement?.outerHTML ?? '')
  return charactersMax > 0 && html.length > charactersMax ? html.length : html
}`

const LOOK = `(selector, msMax) => {
  const isThere = () => document.querySelector(selector) !== null
  if (isThere()) return 'there'
  return new Promise((resolve) => {
    const end = (seen) => {
      observer.disconnect()
      clearTimeout(timer)
      resolve(seen)
    }
    const observer = new MutationObserver(() => isThere() && end('came'))
    observer.observe(document, { subtree: true, childList: true, attributes: true })
    const timer = setTimeout(end, msMax, 'missing')
  })
}`
