import { createHmac } from 'node:crypto'
import { type DownloadHandler, IgnoreRequest, type Request, Response } from '@webloom/core'
import { expect, test } from 'vitest'
import { NotificationRefused } from './notification.ts'
import { Webhook, webhookBody } from './webhook.ts'

const NOTIFICATION = {
  id: 'n1',
  spider: 'quotes',
  run: 'r1',
  pages: 10,
  items: 9,
  alerts: [{ id: 'items/min', words: '9 items; at least 100 must be', at: '2026-11-26T00:00:00.000Z' }],
}

async function sent(
  status: number | Error,
  secret?: string,
  url = 'https://hooks.example/T1/secret',
): Promise<Request> {
  const asked: Request[] = []
  const handler: DownloadHandler = {
    download: async (request) => {
      asked.push(request)
      if (status instanceof Error) throw status
      return new Response(request.url, { status, request })
    },
  }
  await new Webhook({ url, handler, secret }).send(NOTIFICATION, AbortSignal.timeout(1000))
  return asked[0]!
}

test('a receiver can tell that a message is the crawl’s, and that it is the one of before', async () => {
  const request = await sent(200, 'key')
  const [, seconds, signed] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(request.headers.get('x-webloom-signature')!)!
  const body = Buffer.from(request.body!).toString()
  expect(createHmac('sha256', 'key').update(`${seconds}.${body}`).digest('hex')).toBe(signed)
  expect(Math.abs(Number(seconds) * 1000 - Date.now())).toBeLessThan(5000)
  expect(request.headers.get('x-webloom-id')).toBe('n1')
  expect(JSON.parse(body)).toMatchObject({ event: 'monitors', spider: 'quotes', alerts: NOTIFICATION.alerts })
  expect((await sent(200)).headers.get('x-webloom-signature')).toBeNull()
})

test('user and password of an address are sent as a header', async () => {
  const { url, headers } = await sent(200, undefined, 'https://me:hu%3Ash@hooks.example:8443/T1?a=%zz')
  expect(url).toBe('https://hooks.example:8443/T1?a=%zz')
  expect(headers.get('authorization')).toBe(`Basic ${Buffer.from('me:hu:sh').toString('base64')}`)
  expect((await sent(200)).headers.get('authorization')).toBeNull()
})

test('Slack and Discord get their own form', () => {
  const slack = JSON.parse(webhookBody('https://hooks.slack.com/services/T/B/x', NOTIFICATION)) as object
  const discord = JSON.parse(webhookBody('https://discord.com/api/webhooks/1/x', NOTIFICATION)) as {
    content: string
  }
  expect(Object.keys(slack)).toEqual(['text'])
  expect(discord.content).toContain('• 9 items; at least 100 must be')
  // What a page has written must call nobody.
  expect(discord).toMatchObject({ allowed_mentions: { parse: [] } })
})

test('what may pass is tried again, what will not is not; the address, which may be a key, is in no message', async () => {
  for (const passes of [500, 503, 429, new Error('https://hooks.example/T1/secret: no answer')])
    await expect(sent(passes)).rejects.not.toBeInstanceOf(NotificationRefused)
  for (const refuses of [
    400,
    404,
    301,
    new IgnoreRequest('https://hooks.example/T1/secret leads to 127.0.0.1'),
  ])
    await expect(sent(refuses)).rejects.toBeInstanceOf(NotificationRefused)
  await expect(sent(new Error('https://hooks.example/T1/secret: no answer'))).rejects.toThrow(
    /^https:\/\/hooks\.example: no answer$/,
  )
})

test.each([
  ['https://hooks.example/T1/secret?token=hush', 'https://hooks.example/T1/secret?token=hush: no answer'],
  ['https://hooks.example/T1/secret?token=hush', 'https://hooks.example/T1/secret?token=***: no answer'],
  [
    'https://me:hush@hooks.example:8443/T1/secret',
    'https://me:hush@hooks.example:8443/T1/secret cannot be read',
  ],
  [
    'https://me:hush@hooks.example:8443/T1/secret',
    'POST /T1/secret to https://***@hooks.example:8443/ failed',
  ],
])('of %s no key is in a message: %s', async (url, message) => {
  const error: Error = await sent(new Error(message), undefined, url).then(
    () => new Error('sent'),
    (reason: Error) => reason,
  )
  expect(error.message).toMatch(/https:\/\/hooks\.example(?::8443)?\b/)
  expect(error.message).not.toMatch(/hush|secret|T1/)
})

test('what a page has written calls nobody at Slack', () => {
  const alerts = [{ id: 'custom', words: '<!channel> & more', at: '' }]
  const { text } = JSON.parse(
    webhookBody('https://hooks.slack.com/services/T/B/x', { ...NOTIFICATION, alerts }),
  ) as {
    text: string
  }
  expect(text).toContain('• &lt;!channel&gt; &amp; more')
})

test('a text that would be too long says how much is left out', () => {
  const alerts = Array.from({ length: 40 }, (_, n) => ({
    id: `coverage/f${n}`,
    words: 'x'.repeat(100),
    at: '',
  }))
  const { content } = JSON.parse(
    webhookBody('https://discord.com/api/webhooks/1/x', { ...NOTIFICATION, alerts }),
  ) as {
    content: string
  }
  expect(content.length).toBeLessThanOrEqual(2000)
  expect(content).toMatch(/and 22 others\n10 pages, 9 items; run r1/)
})
