/** Who looks at a crawl while it is measured: pages that are open, as their streams of events or in real browsers, and a scraper. */

import type { Browser } from 'playwright-core'

const SCRAPE_EVERY_MS = 5000

export interface Watchers extends AsyncDisposable {
  /** What the dashboard sent since they began. */
  readonly bytes: number
}

/** @param pages addresses of the pages that are open, behind the dashboard's own */
export function startWatchers(dashboard: string, pages: readonly string[], browser?: Browser): Watchers {
  const over = new AbortController()
  const { signal } = over
  const watchers = { bytes: 0 }
  const running = [
    ...pages.map((page) =>
      browser
        ? openIn(browser, dashboard + page, signal)
        : readEvents(`${dashboard}${page}/events`, signal, watchers),
    ),
    scrape(`${dashboard}metrics`, signal, watchers),
  ]
  return Object.assign(watchers, {
    async [Symbol.asyncDispose]() {
      over.abort()
      await Promise.all(running)
    },
  })
}

async function readEvents(address: string, signal: AbortSignal, read: { bytes: number }): Promise<void> {
  try {
    const { body } = await fetch(address, { signal })
    for await (const chunk of body!) read.bytes += chunk.byteLength
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

async function openIn(browser: Browser, address: string, signal: AbortSignal): Promise<void> {
  const page = await browser.newPage()
  await page.goto(address)
  await aborted(signal)
  await page.close()
}

async function scrape(address: string, signal: AbortSignal, read: { bytes: number }): Promise<void> {
  const headers = { accept: 'application/openmetrics-text; version=1.0.0' }
  while (!signal.aborted) {
    const text = await (await fetch(address, { headers })).text()
    read.bytes += text.length
    await aborted(signal, SCRAPE_EVERY_MS)
  }
}

function aborted(signal: AbortSignal, afterMs?: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = afterMs === undefined ? undefined : setTimeout(resolve, afterMs)
  const end = () => {
    clearTimeout(timer)
    resolve()
  }
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  return promise
}
