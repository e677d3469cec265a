import {
  type BrowserOptions,
  type JsonValue,
  jsonCopy,
  methodNamed,
  type Request,
  type SpiderLike,
  WebloomError,
} from '@webloom/core'
import type { Page } from 'playwright-core'

/** The spider's method that `meta.browser.script` names, bound to its request. What it resolves to is `response.browser.returned`. */
export type PageScript = (page: Page) => Promise<JsonValue | undefined>

/** Returns undefined where the request names none. Throws WL_CALLBACK_UNKNOWN, with those that there are, when the spider has no such method. */
export function pageScriptOf(
  spider: SpiderLike,
  request: Request,
  { script }: BrowserOptions,
): PageScript | undefined {
  if (script === undefined) return undefined
  const method = scriptNamed(spider, request, script)
  return async (page) => {
    let copy: JsonValue | undefined
    try {
      const returned = await method.call(spider, page, request)
      // As the cache and a recorded crawl bring it back.
      copy = returned === undefined ? undefined : jsonCopy(returned, (path) => `what it returned${path}`)
    } catch (cause) {
      // What the page did not do in time may go better the next time.
      if (page.isClosed() || (cause as Error)?.name === 'TimeoutError') throw cause
      throw new WebloomError(
        'WL_MIDDLEWARE_MISUSE',
        `${script}() of spider ${spider.name}, as meta.browser.script names it, failed for ${request}: ${String(cause)}`,
        { cause },
      )
    }
    if (page.isClosed())
      throw new WebloomError(
        'WL_MIDDLEWARE_MISUSE',
        `${script}() of spider ${spider.name} closed the page of ${request}; leave that out: it is closed when the method has ended`,
      )
    return copy
  }
}

function scriptNamed(spider: SpiderLike, request: Request, script: string) {
  try {
    return methodNamed(spider, script, 'script')
  } catch (cause) {
    throw new WebloomError(
      'WL_CALLBACK_UNKNOWN',
      `meta.browser of ${request}: ${(cause as Error).message}; write  async ${script}(page, request) { … }`,
      { cause },
    )
  }
}
