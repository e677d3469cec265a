/** Whole crawls with monitors: what a receiver is told, and what it is not. */

import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '@webloom/core'
import { type Monitors, type Response, Spider, type SpiderClass } from '@webloom/spider'
import { startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { assemble } from '../../packages/webloom/src/assembly/assemble.ts'
import { commandName } from '../../packages/webloom/src/terminal/resume-line.ts'

interface Told {
  readonly signature: string | undefined
  readonly text: string
}

/** Takes POSTs, the first of which it refuses for now. */
async function receiver() {
  const told: Told[] = []
  let asked = 0
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (part: string) => (text += part))
    request.on('end', () => {
      response.statusCode = ++asked === 1 ? 503 : 204
      if (asked > 1) told.push({ signature: request.headers['x-webloom-signature'] as string, text })
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    told,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=hush`,
    asked: () => asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

class Shop extends Spider {
  static override monitors: Monitors = { items: { min: 3 }, coverage: { price: 0.9 } }
  override name = 'shop'
  override startUrls = ['data:text/html,<p>1', 'data:text/html,<p>2']
  override *parse(response: Response) {
    yield { url: response.url }
  }
}

class LargeShop extends Shop {
  override startUrls = Array.from({ length: 30 }, (_, n) => `data:text/html,<p>${n}`)
}

async function run(settings: object, Class: SpiderClass = Shop) {
  const crawl = await assemble(Class, {
    layers: { command: { COMPONENT_TIMEOUT: 5, ...settings } },
    folder: process.cwd(),
    createLogger: () => silentLogger,
  })
  await crawl.run()
  return crawl
}

test('a crawl that brings too little tells a webhook in one signed message, tried again, without secrets', async () => {
  await using hook = await receiver()
  const { alerts, stats } = await run({
    MONITOR_WEBHOOKS: [hook.url],
    MONITOR_WEBHOOK_SECRET: 'key',
    PRIVATE_ADDRESSES_ALLOWED: ['127.0.0.1'],
  })
  expect(alerts.map(({ id }) => id)).toEqual(['items/min', 'coverage/price'])
  expect(hook.told).toHaveLength(1)
  expect(hook.told[0]!.signature).toMatch(/^t=\d+,v1=/)
  expect(hook.told[0]!.text).not.toContain('hush')
  expect(JSON.parse(hook.told[0]!.text)).toMatchObject({
    spider: 'shop',
    more: `${commandName()} runs shop --compare`,
    items: 2,
    finishReason: 'finished',
    alerts,
  })
  expect(stats.get('monitors/notification_count/sent')).toBe(1)
})

test('a webhook on a private address is told nothing unless settings allow it', async () => {
  await using hook = await receiver()
  const { alerts, stats } = await run({ MONITOR_WEBHOOKS: [hook.url], PRIVATE_ADDRESSES_ALLOWED: [] })
  expect([alerts.length, hook.asked(), stats.get('monitors/notification_count/lost')]).toEqual([2, 0, 1])
})

test('an address that is none, and a monitor that is none, are told before anything is fetched', async () => {
  await expect(run({ MONITOR_WEBHOOKS: ['hooks.example/x'] })).rejects.toThrow(
    /MONITOR_WEBHOOKS\[0\] is no address/,
  )
  await expect(run({ MONITORS: { itms: 1 } })).rejects.toThrow(
    /MONITORS has no "itms"\. Did you mean items\?/,
  )
})

test('a crawl that a limit has ended is judged again when it has gone on in its JOBDIR, by all that it brought', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'webloom-monitors-'))
  const settings = {
    JOBDIR: join(folder, 'job'),
    RUNS_DIR: join(folder, 'runs'),
    CONCURRENT_REQUESTS: 1,
    MONITORS: { items: { min: 30 } },
  }
  try {
    const first = await run({ ...settings, CLOSESPIDER_ITEMCOUNT: 1 }, LargeShop)
    expect(first.stats.get('finish_reason')).toBe('closespider_itemcount')
    expect(first.alerts.map(({ id }) => id)).toEqual(['items/min', 'coverage/price'])
    const second = await run(settings, LargeShop)
    expect(second.stats.get('finish_reason')).toBe('finished')
    expect(second.alerts.map(({ id }) => id)).toEqual(['coverage/price'])
    expect(second.stats.get('monitors/alert_count/coverage')).toBe(1)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a field that items have had in the runs before and have no more is told with its share and with pages that show it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'webloom-monitors-'))
  let layout = 'old'
  class Sold extends LargeShop {
    static override monitors: Monitors = { coverageDrop: 0.1 }
    override *parse(response: Response) {
      yield { url: response.url, seller: { ...(layout === 'old' && { name: 'a' }), town: 'b' } }
    }
  }
  try {
    const settings = { RUNS_DIR: folder, CONCURRENT_REQUESTS: 2 }
    expect((await run(settings, Sold)).alerts).toEqual([])
    layout = 'new'
    const [alert, ...others] = (await run(settings, Sold)).alerts
    expect(others).toEqual([])
    expect(alert).toMatchObject({
      id: 'coverage/seller.name',
      words: 'seller.name: 0 % of 30 items have it; at least 90 % must',
    })
    expect(alert?.pages?.length).toBeGreaterThan(0)
    expect(alert?.pages?.every((page) => page.startsWith('data:text/html,'))).toBe(true)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('two workers on Redis: one judges the totals of both, one message is sent, and both know what was found', async () => {
  await using server = await startRedis()
  await using hook = await receiver()
  const settings = {
    REDIS_URL: server.url,
    MONITOR_WEBHOOKS: [hook.url],
    PRIVATE_ADDRESSES_ALLOWED: ['127.0.0.0/8'],
  }
  const crawls = await Promise.all([run(settings), run(settings)])
  expect(crawls.map(({ alerts }) => alerts.map(({ id }) => id))).toEqual([
    ['items/min', 'coverage/price'],
    ['items/min', 'coverage/price'],
  ])
  expect(hook.told.map(({ text }) => (JSON.parse(text) as { items: number }).items)).toEqual([2])
})
