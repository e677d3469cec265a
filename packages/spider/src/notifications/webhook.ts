/**
 * Tells by a POST. Slack and Discord want a text of their own form and no more; any other receiver gets the notification as JSON:
 *
 *     {"event": "monitors", "id": "…", "spider": "quotes", "run": "…", "text": "…", "alerts": [{"id": "items/min", "words": "…"}], …}
 *
 * `X-Webloom-Id` is the same when a message is sent again, as its sender died before it knew that the first had come: a receiver that must
 * act once keeps it. With MONITOR_WEBHOOK_SECRET a signature tells that the message is the crawl's, and is not an old one.
 */

import { createHmac } from 'node:crypto'
import {
  type DownloadHandler,
  IgnoreRequest,
  type Notification,
  Request,
  withoutTextSecrets,
} from '@webloom/core'
import { type NotificationChannel, NotificationRefused, notificationText } from './notification.ts'

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

export class Webhook implements NotificationChannel {
  readonly name: string
  readonly #options: WebhookOptions

  constructor(options: WebhookOptions) {
    this.#options = options
    this.name = `webhook of ${new URL(options.url).host}`
  }

  async send(notification: Notification, signal: AbortSignal): Promise<string> {
    const { url, handler, secret } = this.#options
    const body = webhookBody(url, notification)
    const seconds = String(Math.floor(Date.now() / 1000))
    const { address, authorization } = withoutUser(url)
    const request = new Request(address, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'webloom-monitors',
        'x-webloom-id': notification.id,
        ...(authorization && { authorization }),
        ...(secret && { 'x-webloom-signature': `t=${seconds},v1=${signature(secret, seconds, body)}` }),
      },
    })
    const status = await statusOf(handler, request, signal).catch((error: unknown) => {
      // What it says of the address is told; the path may hold a key.
      if (error instanceof IgnoreRequest) throw new NotificationRefused(withoutPath(error.message, url))
      throw new Error(withoutPath((error as Error).message, url))
    })
    if (status >= 200 && status < 300) return `${status}`
    const answer = `it answers ${status}${status >= 300 && status < 400 ? '; redirects are not followed' : ''}`
    throw status >= 500 || status === TOO_MANY ? new Error(answer) : new NotificationRefused(answer)
  }

  async close(): Promise<void> {}
}

/** The body is not waited for: a message that was taken must not be sent again, however long a receiver talks. */
async function statusOf(handler: DownloadHandler, request: Request, signal: AbortSignal): Promise<number> {
  const body = new AbortController()
  let answered: number | undefined
  const bodyTo = (status: number) => {
    answered = status
    setImmediate(() => body.abort())
    return () => {}
  }
  try {
    const either = AbortSignal.any([signal, body.signal])
    const { status } = await handler.download(request, { signal: either, onStart() {}, bodyTo })
    return status
  } catch (error) {
    if (answered === undefined) throw error
    return answered
  }
}

/** @internal For tests. */
export function webhookBody(url: string, notification: Notification): string {
  const { hostname, pathname } = new URL(url)
  if (hostname === 'hooks.slack.com') return JSON.stringify({ text: slackText(notification) })
  if (/(?:^|\.)discord(?:app)?\.com$/.test(hostname) && pathname.startsWith('/api/webhooks/'))
    return JSON.stringify({
      content: notificationText(notification, DISCORD_CHARS_MAX),
      allowed_mentions: { parse: [] },
    })
  return JSON.stringify({
    event: notification.isTest ? 'test' : 'monitors',
    text: notificationText(notification, TEXT_CHARS_MAX),
    ...notification,
  })
}

/** User and password of an address are sent as a header, as by any client: they are no part of what is asked for. */
function withoutUser(url: string): { readonly address: string; readonly authorization?: string } {
  const address = new URL(url)
  const { username, password } = address
  if (username === '' && password === '') return { address: url }
  address.username = address.password = ''
  const both = `${decoded(username)}:${decoded(password)}`
  return { address: address.href, authorization: `Basic ${Buffer.from(both).toString('base64')}` }
}

/** A % that begins no byte stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** What a page has written must call nobody: `<!channel>` does. */
function slackText(notification: Notification): string {
  return notificationText(notification, TEXT_CHARS_MAX)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}

/** Signs a message as its receiver does, too: by the time and the body, so that neither can be another's. */
export function signature(secret: string, seconds: string, body: string): string {
  return createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
}

/** Of an address of this host its origin alone: path, query and user may be keys. */
function withoutPath(message: string, url: string): string {
  const { host, origin, pathname, search } = new URL(url)
  const address = new RegExp(
    `[a-z]+://(?:[^\\s/]*@)?${host.replaceAll(/[.[\]]/g, '\\$&')}(?:[/?#]\\S*?)?(?=[:;,.)>'"]*(?:\\s|$))`,
    'gi',
  )
  const keys = [pathname + search, pathname].filter((key) => key.length > 1)
  const shown = message.replaceAll(address, origin)
  return withoutTextSecrets(keys.reduce((text, key) => text.replaceAll(key, '/***'), shown))
}
