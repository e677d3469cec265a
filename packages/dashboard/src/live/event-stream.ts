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
/** Each is an open connection, and a look a second. */
const STREAMS_MAX = 200

export class EventStreams {
  #open = 0
  readonly #closing: AbortSignal

  /** @param closing ends them all */
  constructor(closing: AbortSignal) {
    this.#closing = closing
  }

  /** @param read the regions of the page as they are now; rejects with what is wrong */
  answer(c: Context, read: () => Promise<readonly Region[]>): Response {
    if (this.#open >= STREAMS_MAX) return c.text('too many pages are open', 503)
    const response = streamSSE(c, async (stream) => {
      this.#open++
      try {
        await this.#run(stream, read)
      } finally {
        this.#open--
      }
    })
    // A proxy that gathers an answer before it hands it on would show nothing.
    response.headers.set('X-Accel-Buffering', 'no')
    response.headers.set('Cache-Control', 'no-store')
    return response
  }

  async #run(stream: SSEStreamingApi, read: () => Promise<readonly Region[]>): Promise<void> {
    const sent = new Map<string, string>()
    const isOver = () => stream.aborted || stream.closed || this.#closing.aborted
    while (!isOver()) {
      await stream.writeSSE(await nextEvent(sent, read))
      await stream.sleep(EVERY_MS)
    }
  }
}

async function nextEvent(sent: Map<string, string>, read: () => Promise<readonly Region[]>) {
  try {
    const changed: Record<string, string> = {}
    for (const { id, node, isStill } of await read()) {
      if (isStill) continue
      const html = await htmlOf(node)
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
