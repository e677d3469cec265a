/**
 * Tells by a POST. Slack and Discord want a text of their own form and no more; any other receiver gets the notice as JSON:
 *
 *     {"event": "monitors", "id": "…", "spider": "quotes", "run": "…", "text": "…", "alarms": [{"id": "items/min", "words": "…"}], …}
 *
 * `X-Webloom-Id` is the same when a message is sent again, as its sender died before it knew that the first had come: a receiver that must
 * act once keeps it. With MONITOR_WEBHOOK_SECRET a signature tells that the message is the crawl's, and is not an old one.
 */

import { createHmac } from 'node:crypto'
import { type DownloadHandler, IgnoreRequest, Request, withoutUrlSecrets } from '@webloom/core'
import { type Notice, type NoticeChannel, NoticeRefused, noticeText } from './notice.ts'

export interface WebhookOptions {
  readonly url: string
  /** Connects, through the crawl's address guard. Closed by whoever gives it. */
  readonly handler: DownloadHandler
  /** MONITOR_WEBHOOK_SECRET. */
  readonly secret?: string | undefined
}

/** Discord refuses longer texts. */
const DISCORD_CHARS_MAX = 2000
/** Their receivers refuse what is much longer. */
const TEXT_CHARS_MAX = 8000
const TOO_MANY = 429

export class Webhook implements NoticeChannel {
  readonly name: string
  readonly #options: WebhookOptions

  constructor(options: WebhookOptions) {
    this.#options = options
    this.name = `webhook of ${new URL(options.url).host}`
  }

  async send(notice: Notice, signal: AbortSignal): Promise<void> {
    const { url, handler, secret } = this.#options
    const body = webhookBody(url, notice)
    const seconds = String(Math.floor(Date.now() / 1000))
    const request = new Request(url, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'webloom-monitors',
        'x-webloom-id': notice.id,
        ...(secret && { 'x-webloom-signature': `t=${seconds},v1=${signature(secret, seconds, body)}` }),
      },
    })
    const { status } = await handler.download(request, { signal, onStart() {} }).catch((error: unknown) => {
      // What it says of the address is told; the path may hold a key.
      if (error instanceof IgnoreRequest) throw new NoticeRefused(withoutPath(error.message, url))
      throw new Error(withoutPath((error as Error).message, url))
    })
    if (status >= 200 && status < 300) return
    const passes = status >= 500 || status === TOO_MANY
    throw passes ? new Error(`it answers ${status}`) : new NoticeRefused(`it answers ${status}`)
  }

  async close(): Promise<void> {}
}

/** @internal For tests. */
export function webhookBody(url: string, notice: Notice): string {
  const { hostname, pathname } = new URL(url)
  const text = noticeText(notice)
  if (hostname === 'hooks.slack.com') return JSON.stringify({ text: text.slice(0, TEXT_CHARS_MAX) })
  if (/(?:^|\.)discord(?:app)?\.com$/.test(hostname) && pathname.startsWith('/api/webhooks/'))
    return JSON.stringify({ content: text.slice(0, DISCORD_CHARS_MAX), allowed_mentions: { parse: [] } })
  return JSON.stringify({ event: 'monitors', text: text.slice(0, TEXT_CHARS_MAX), ...notice })
}

/** What a receiver computes, too: of the time and the body, so that neither can be another's. */
export function signature(secret: string, seconds: string, body: string): string {
  return createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
}

function withoutPath(message: string, url: string): string {
  const { origin } = new URL(url)
  return withoutUrlSecrets(message).replaceAll(url, origin)
}
