/** `npm run soak`: two workers crawl a site whose items lose a field, for a while as what is sold out does, or as its layout has changed. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { silentLogger } from '@webloom/core'
import { type Monitors, type Response, Spider } from '@webloom/spider'
import { startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { Request } from 'webloom'
import { assemble } from '../../packages/webloom/src/assembly/assemble.ts'

const TOLD_MS_MAX = 60_000
/** Together some 200 pages a second. */
const ANSWER_MS = 10
const CHANGES_AT = 5000

interface Told {
  readonly atMs: number
  readonly alerts: readonly {
    readonly id: string
    readonly words: string
    readonly pages?: readonly string[]
  }[]
  readonly resolved?: readonly { readonly id: string }[]
  readonly finishReason?: string
}

/** Pages with a price, but for those that `lacks` names by their place in the order in which they are sent. */
async function shop(lacks: (sent: number) => boolean) {
  const told: Told[] = []
  const lacking = new Set<string>()
  let sent = 0
  let changedAtMs = 0
  const server = createServer((request, response) => {
    if (request.method === 'POST') {
      let text = ''
      request.setEncoding('utf8').on('data', (part: string) => (text += part))
      request.on('end', () => {
        told.push({ ...(JSON.parse(text) as Omit<Told, 'atMs'>), atMs: performance.now() })
        response.end()
      })
      return
    }
    const isLacking = lacks(sent++)
    if (isLacking) {
      changedAtMs ||= performance.now()
      lacking.add(`http://${request.headers.host}${request.url}`)
    }
    const price = isLacking ? '<p class="cost">1.90</p>' : '<p class="price">1.90</p>'
    setTimeout(() => response.end(`<html><body>${price}</body></html>`), ANSWER_MS)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    told,
    lacking,
    changedAtMs: () => changedAtMs,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function run(redisUrl: string, pages: number, lacks: (sent: number) => boolean) {
  await using site = await shop(lacks)
  class Shop extends Spider {
    static override monitors: Monitors = { coverage: { price: 0.6 } }
    override name = 'shop'
    override *start() {
      for (let n = 0; n < pages; n++) yield new Request(`${site.url}/${n}`)
    }
    override *parse(response: Response) {
      yield { url: response.url, price: response.css('.price::text').get() }
    }
  }
  const crawls = await Promise.all(
    [1, 2].map(() =>
      assemble(Shop, {
        layers: {
          command: {
            REDIS_URL: redisUrl,
            MONITOR_WEBHOOKS: [`${site.url}/told`],
            PRIVATE_ADDRESSES_ALLOWED: ['127.0.0.0/8'],
            CONCURRENT_REQUESTS_PER_DOMAIN: 4,
            DOWNLOAD_DELAY: 0,
          },
        },
        folder: process.cwd(),
        createLogger: () => silentLogger,
      }),
    ),
  )
  await Promise.all(crawls.map((crawl) => crawl.run()))
  return { ...site, changedAtMs: site.changedAtMs() }
}

test('a dip is told of once, and the same in the next run is not', async () => {
  await using server = await startRedis()
  const isDip = (from: number, count: number) => (n: number) => n >= from && n < from + count
  const first = await run(server.url, 8000, isDip(2000, 2000))
  expect(first.told.flatMap(({ alerts }) => alerts.map(({ id }) => id))).toEqual(['coverage/price'])
  expect(first.told.flatMap(({ resolved = [] }) => resolved.map(({ id }) => id))).toEqual(['coverage/price'])
  const second = await run(server.url, 8000, isDip(3500, 1800))
  expect(second.told).toEqual([])
})

test('a layout that changes at page 5 000 is told within a minute, with its share and with pages', async () => {
  await using server = await startRedis()
  const { told, changedAtMs, lacking } = await run(server.url, CHANGES_AT + 6000, (n) => n >= CHANGES_AT)
  const lateMs = told[0]!.atMs - changedAtMs
  console.log(`told ${Math.round(lateMs / 1000)} s after the change: ${told[0]!.alerts[0]!.words}`)
  expect(lateMs).toBeLessThan(TOLD_MS_MAX)
  expect(told[0]!.finishReason).toBeUndefined()
  expect(told[0]!.alerts).toHaveLength(1)
  const [{ id, words, pages = [] }] = told[0]!.alerts as [Told['alerts'][number]]
  expect(id).toBe('coverage/price')
  expect(words).toMatch(
    /^price: [\d.]+ % of the last [\d,]+ items have it, and [\d.]+ % of the [\d,]+ before; at least 60 % must$/,
  )
  expect(pages.length).toBeGreaterThan(0)
  for (const page of pages) expect(lacking).toContain(page)
})
