/**
 * `npm run soak`: what pages in browsers open by themselves or by their steps, by the servers' logs, while two workers on a Redis crawl
 * three hosts with a delay of a second.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { ensureChromium, startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { Site } from '../../packages/browser/testing/browsing.ts'
import { ClusterFolder, freshCrawlId } from '../cluster/cluster-crawl.ts'

const HOSTS = ['127.0.0.1', '127.0.0.2', '127.0.0.3']
const ROUNDS = 3
const DELAY_MS = 1000
/** Of pages that open documents by themselves or by their steps, and of others: how many documents each has. */
const DOCUMENTS = { click: 2, reload: 2, refresh: 2, leads: 2, popup: 2, http: 1, auto: 1 }
const SLACK_MS = 25

const spiderOf = (origins: readonly string[]) => `import { Request, type Response, Spider } from 'webloom'

const kinds = { click: { click: 'a' }, reload: true, refresh: true, leads: true, popup: { script: 'opens' }, http: null, auto: 'auto' }

export default class Pages extends Spider {
  name = 'pages'

  async *start() {
    for (let round = 0; round < ${ROUNDS}; round++)
      for (const [kind, browser] of Object.entries(kinds))
        for (const origin of ${JSON.stringify(origins)})
          yield new Request(origin + '/' + kind + '?' + round, { meta: browser === null ? {} : { browser } })
  }

  async opens(page) {
    await Promise.all([page.waitForEvent('popup'), page.evaluate('void open("/popped")')])
  }

  async *parse(response: Response) {
    yield { url: response.url }
  }
}
`

async function startSite(host: string): Promise<Site> {
  const site = await Site.start(host)
  const again = (html: string) => (asked: IncomingMessage, answer: ServerResponse) => {
    const isFirst = site.asked(asked.url!) === 1
    answer.setHeader('content-type', 'text/html').end(isFirst ? html : '<p>again</p>')
  }
  site.html('/click', '<a href="/clicked">on</a>')
  site.page('/reload', again('<script>location.reload()</script>'))
  site.page('/refresh', again('<meta http-equiv=refresh content=0>'))
  site.page('/leads', (asked, answer) => {
    const script = `<script>location = ${JSON.stringify(asked.url!.replace('leads', 'led'))}</script>`
    answer.setHeader('content-type', 'text/html').end(script)
  })
  for (const path of ['/clicked', '/led', '/popup', '/popped', '/http', '/auto'])
    site.html(path, `<p>${path}</p>`)
  return site
}

test.each([
  ['turns', ['a', 'b']],
  // Each worker keeps a pace of its own.
  ['job', ['a']],
])(
  'QUEUE_MODE=%s, workers %j: no document of a host comes sooner than the delay after the one before',
  {
    timeout: 300_000,
  },
  async (QUEUE_MODE, names) => {
    await using redis = await startRedis()
    const sites = await Promise.all(HOSTS.map(startSite))
    try {
      const origins = sites.map(({ port }, host) => `http://${HOSTS[host]}:${port}`)
      await using folder = await ClusterFolder.of(
        { seeds: [] },
        {
          REDIS_URL: redis.url,
          CRAWL_ID: freshCrawlId(`rendered-pace-${QUEUE_MODE}`),
          QUEUE_MODE,
          BROWSER_EXECUTABLE: await ensureChromium(),
          BROWSER_SANDBOX: process.getuid?.() !== 0,
          BROWSER_PAGES: 3,
          DOWNLOAD_DELAY: DELAY_MS / 1000,
          RANDOMIZE_DOWNLOAD_DELAY: false,
          LOG_FORMAT: 'json',
        },
        spiderOf(origins),
      )
      const workers = names.map((name) => folder.worker(name))
      for (const { exited } of workers) {
        const { code, stderr } = await exited
        expect(code, stderr).toBe(0)
      }
      for (const [host, { hits }] of sites.entries()) {
        const gaps = hits
          .slice(1)
          .map(({ path, atMs }, n) => ({ gapMs: atMs - hits[n]!.atMs, after: hits[n]!.path, path }))
        const shortest = gaps.toSorted((a, b) => a.gapMs - b.gapMs).slice(0, 3)
        console.log({ QUEUE_MODE, host: HOSTS[host], documents: hits.length, shortest })
        const documents = Object.values(DOCUMENTS).reduce((sum, count) => sum + count)
        expect(hits.length).toBeGreaterThanOrEqual(ROUNDS * documents)
        expect(shortest[0]!.gapMs).toBeGreaterThan(DELAY_MS - SLACK_MS)
      }
    } finally {
      await Promise.all(sites.map((site) => site[Symbol.asyncDispose]()))
    }
  },
)
