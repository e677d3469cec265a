/** Pages that a browser rendered, in the cache: each way to render a page has an entry of its own. */

import { type DownloadOptions, isForBrowser, type Rendered, type Request } from '@webloom/core'

/** Returns what an entry's name has beside the request's fingerprint; nothing for a page that no browser renders. */
export function renderedAs(request: Request, options?: Pick<DownloadOptions, 'isRendered'>): string {
  if (!request.hasMeta || !isForBrowser(request, options)) return ''
  const { browser } = request.meta
  // What `auto` renders is the same as `true` does.
  return ` browser ${JSON.stringify(browser === 'auto' ? true : browser)}`
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
