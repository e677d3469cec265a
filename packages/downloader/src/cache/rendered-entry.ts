/** Pages that a browser rendered, in the cache: each way to render a page has an entry of its own. */

import type { Rendered, Request } from '@webloom/core'

/** Returns what an entry's name has beside the request's fingerprint; nothing for a page that no browser renders. */
export function renderedAs(request: Request): string {
  const browser = request.hasMeta ? request.meta.browser : undefined
  return browser ? ` browser ${JSON.stringify(browser)}` : ''
}

export function writeRendered({ screenshot, pdf, ...rest }: Rendered): string {
  return JSON.stringify({
    ...rest,
    ...(screenshot && { screenshot: Buffer.from(screenshot).toString('base64') }),
    ...(pdf && { pdf: Buffer.from(pdf).toString('base64') }),
  })
}

/** Throws SyntaxError for what was not written by `writeRendered`. */
export function readRendered(text: string): Rendered {
  const { screenshot, pdf, ...rest } = JSON.parse(text) as Omit<Rendered, 'screenshot' | 'pdf'> & {
    screenshot?: string
    pdf?: string
  }
  return {
    ...rest,
    ...(screenshot !== undefined && { screenshot: Buffer.from(screenshot, 'base64') }),
    ...(pdf !== undefined && { pdf: Buffer.from(pdf, 'base64') }),
  }
}
