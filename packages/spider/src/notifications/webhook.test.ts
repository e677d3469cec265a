import { createHmac } from 'node:crypto'
import { type DownloadHandler, IgnoreRequest, type Request, Response } from '@webloom/core'
import { expect, test } from 'vitest'
import { NoticeRefused } from './notice.ts'
import { Webhook, webhookBody } from './webhook.ts'

const NOTICE = {
  id: 'n1',
  spider: 'quotes',
  run: 'r1',
  pages: 10,
  items: 9,
  alarms: [{ id: 'items/min', words: '9 items; at least 100 must be', at: '2026-11-26T00:00:00.000Z' }],
}

async function sent(status: number | Error, secret?: string): Promise<Request> {
  const asked: Request[] = []
  const handler: DownloadHandler = {
    download: async (request) => {
      asked.push(request)
      if (status instanceof Error) throw status
      return new Response(request.url, { status, request })
    },
  }
  await new Webhook({ url: 'https://hooks.example/T1/secret', handler, secret }).send(
    NOTICE,
    AbortSignal.timeout(1000),
  )
  return asked[0]!
}

test('a receiver can tell that a message is the crawl’s, and that it is the one of before', async () => {
  const request = await sent(200, 'key')
  const [, seconds, signed] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(request.headers.get('x-webloom-signature')!)!
  const body = Buffer.from(request.body!).toString()
  expect(createHmac('sha256', 'key').update(`${seconds}.${body}`).digest('hex')).toBe(signed)
  expect(Math.abs(Number(seconds) * 1000 - Date.now())).toBeLessThan(5000)
  expect(request.headers.get('x-webloom-id')).toBe('n1')
  expect(JSON.parse(body)).toMatchObject({ event: 'monitors', spider: 'quotes', alarms: NOTICE.alarms })
  expect((await sent(200)).headers.get('x-webloom-signature')).toBeNull()
})

test('Slack and Discord get their own form', () => {
  const slack = JSON.parse(webhookBody('https://hooks.slack.com/services/T/B/x', NOTICE)) as object
  const discord = JSON.parse(webhookBody('https://discord.com/api/webhooks/1/x', NOTICE)) as {
    content: string
  }
  expect(Object.keys(slack)).toEqual(['text'])
  expect(discord.content).toContain('• 9 items; at least 100 must be')
  // What a page has written must call nobody.
  expect(discord).toMatchObject({ allowed_mentions: { parse: [] } })
})

test('what may pass is tried again, what will not is not; the address, which may be a key, is in no message', async () => {
  for (const passes of [500, 503, 429, new Error('https://hooks.example/T1/secret: no answer')])
    await expect(sent(passes)).rejects.not.toBeInstanceOf(NoticeRefused)
  for (const refuses of [
    400,
    404,
    301,
    new IgnoreRequest('https://hooks.example/T1/secret leads to 127.0.0.1'),
  ])
    await expect(sent(refuses)).rejects.toBeInstanceOf(NoticeRefused)
  await expect(sent(new Error('https://hooks.example/T1/secret: no answer'))).rejects.toThrow(
    /^https:\/\/hooks\.example: no answer$/,
  )
})
