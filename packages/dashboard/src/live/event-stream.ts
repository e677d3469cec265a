/**
 * What moves on a page, as server-sent events: once a second those of its regions that have changed, and a heartbeat in any case. While
 * Redis is away the page is told so, and goes on when it is back.
 *
 *     event: regions   data: {"overview": "<html>", …}
 *     event: trouble   data: "Redis at … cannot be reached"
 *     event: beat      data: 1764086400000
 */

import type { Context } from 'hono'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import { htmlOf, type Region } from './region.ts'

const EVERY_MS = 1000
/** Those who look at the same page within this time get the same answer. */
const SHARED_MS = 900
/** Each is an open connection. One more takes the place of the one that is open longest: who still reads that comes back by himself. */
const STREAMS_MAX = 200

const EVENTS = {
  'Content-Type': 'text/event-stream',
  // A proxy that gathers an answer before it hands it on would show nothing.
  'X-Accel-Buffering': 'no',
  'Cache-Control': 'no-store',
}

type ReadRegions = () => Promise<readonly Region[]>

/** Of one page, as text: by the regions' names. */
type PageHtml = ReadonlyMap<string, string>

export class EventStreams {
  /** What ends each, those first that are open longest. */
  readonly #open = new Set<() => void>()
  readonly #pages = new Map<string, SharedPage>()
  readonly #closing: AbortSignal

  /** @param closing ends them all */
  constructor(closing: AbortSignal) {
    this.#closing = closing
  }

  /** @param read the regions of the page as they are now; rejects with what is wrong */
  answer(c: Context, read: ReadRegions): Response {
    // Nobody would read a stream, and what is not read is not ended either.
    if (c.req.method === 'HEAD') return c.body(null, 200, EVENTS)
    if (this.#open.size >= STREAMS_MAX) [...this.#open][0]!()
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const end = () => {
      this.#open.delete(end)
      resolve()
      // Whoever does not read would keep the connection.
      outgoingOf(c)?.destroy()
    }
    this.#open.add(end)
    const response = streamSSE(c, async (stream) => {
      const address = c.req.url
      const page = this.#pages.get(address) ?? new SharedPage(read)
      this.#pages.set(address, page)
      page.viewers++
      try {
        await Promise.race([this.#run(stream, page, () => this.#open.has(end)), ended])
      } finally {
        this.#open.delete(end)
        if (--page.viewers === 0) this.#pages.delete(address)
      }
    })
    for (const [name, value] of Object.entries(EVENTS)) response.headers.set(name, value)
    return response
  }

  async #run(stream: SSEStreamingApi, page: SharedPage, isOpen: () => boolean): Promise<void> {
    const sent = new Map<string, string>()
    const isOver = () => !isOpen() || stream.aborted || stream.closed || this.#closing.aborted
    while (!isOver()) {
      await stream.writeSSE(await nextEvent(sent, page))
      await stream.sleep(EVERY_MS)
    }
  }
}

/** The connection, where Node serves it. */
function outgoingOf(c: Context): { destroy(): void } | undefined {
  return (c.env as { readonly outgoing?: { destroy(): void } } | undefined)?.outgoing
}

/** A page that somebody has open, made once a second however many look at it. */
class SharedPage {
  viewers = 0
  readonly #read: ReadRegions
  #made: Promise<PageHtml> | undefined
  #freshUntil = 0

  constructor(read: ReadRegions) {
    this.#read = read
  }

  html(): Promise<PageHtml> {
    if (this.#made && performance.now() < this.#freshUntil) return this.#made
    this.#made = htmlOfRegions(this.#read)
    this.#freshUntil = performance.now() + SHARED_MS
    return this.#made
  }
}

async function htmlOfRegions(read: ReadRegions): Promise<PageHtml> {
  const html = new Map<string, string>()
  for (const { id, node, isStill } of await read()) if (!isStill) html.set(id, await htmlOf(node))
  return html
}

async function nextEvent(sent: Map<string, string>, page: SharedPage) {
  try {
    const changed: Record<string, string> = {}
    for (const [id, html] of await page.html()) {
      if (sent.get(id) !== html) changed[id] = html
      sent.set(id, html)
    }
    if (Object.keys(changed).length > 0) return { event: 'regions', data: JSON.stringify(changed) }
    return { event: 'beat', data: String(Date.now()) }
  } catch (error) {
    sent.clear()
    return { event: 'trouble', data: JSON.stringify((error as Error).message) }
  }
}
