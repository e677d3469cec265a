/** Hosts that have names: requests wait for them without holding up others, and no name is asked for twice. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type JsonObject, silentLogger } from '@webloom/core'
import { type DnsServer, startDnsServer, tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { CloseSpider, crawl, Request, type Response, type SettingsInput, Spider } from 'webloom'
import { listeningLogger } from './crawl-web.ts'

interface Visit {
  readonly host: string
  readonly path: string
  readonly atMs: number
}

/** One server that is all hosts, on 127.0.0.1. */
async function startHosts() {
  const visits: Visit[] = []
  const underWay = { now: 0, most: 0 }
  const server = createServer(({ headers, url }, response) => {
    const [host] = headers.host!.split(':')
    visits.push({ host: host!, path: url!, atMs: performance.now() })
    underWay.most = Math.max(underWay.most, ++underWay.now)
    setTimeout(() => {
      underWay.now--
      response.writeHead(url === '/robots.txt' ? 404 : 200, { 'content-type': 'text/html' }).end('<p>here')
    }, 5)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    visits,
    underWay,
    port: (server.address() as AddressInfo).port,
    pages: () => visits.filter(({ path }) => path !== '/robots.txt'),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function settingsWith(dns: DnsServer, settings: SettingsInput): SettingsInput {
  return { DNS_SERVERS: [dns.address], PRIVATE_ADDRESSES_ALLOWED: ['127.0.0.0/8'], ...settings }
}

function spiderOf(
  requests: readonly { readonly url: string; readonly meta?: JsonObject }[],
  failed: string[] = [],
) {
  return class extends Spider {
    override name = 'named'
    override *start() {
      for (const { url, meta = {} } of requests) yield new Request(url, { meta, errback: 'failed' })
    }
    override *parse(_: Response): Generator<unknown> {}
    failed({ request, error }: { request: Request; error: Error }): void {
      failed.push(`${new URL(request.url).hostname}: ${error.message}`)
    }
  }
}

const atUrls = (...urls: string[]) => urls.map((url) => ({ url }))

test('names that are not answered hold up no other host, and its robots.txt neither', async () => {
  await using hosts = await startHosts()
  const quick = Array.from({ length: 40 }, (_, n) => `quick-${n}.test`)
  const late = Array.from({ length: 20 }, (_, n) => `late-${n}.test`)
  const isAllSeen = () => new Set(hosts.pages().map(({ host }) => host)).size >= quick.length
  // A question that got no answer is asked again.
  await using dns = await startDnsServer({
    answer: (name) => (name.startsWith('late') && !isAllSeen() ? 'silent' : { addresses: ['127.0.0.1'] }),
  })
  const requests = [...late, ...quick].flatMap((host, n) =>
    ['/', '/more'].map((path) => ({
      url: `http://${host}:${hosts.port}${path}`,
      meta: { dont_obey_robotstxt: n % 2 === 0 },
    })),
  )
  const { stats } = await crawl(spiderOf(requests), {
    settings: settingsWith(dns, { CONCURRENT_REQUESTS: 4, ROBOTSTXT_OBEY: true, DNS_TIMEOUT: 20 }),
    logger: silentLogger,
  })
  const order = hosts.pages().map(({ host }) => host.split('-')[0])
  expect(order.slice(0, quick.length)).toEqual(Array(quick.length).fill('quick'))
  expect(order.length).toBe(requests.length)
  expect(hosts.underWay.most).toBeLessThanOrEqual(4)
  expect(stats['retry/count']).toBeUndefined()
  const asked = dns.asked.filter((question) => question.startsWith('A quick'))
  expect(asked.toSorted()).toEqual(quick.map((name) => `A ${name}`).toSorted())
})

test.each([true, false])(
  'a crawl that ends sends nothing of what waits for names, and its queue keeps it (ROBOTSTXT_OBEY=%s)',
  async (obeys) => {
    await using hosts = await startHosts()
    await using folder = await tempDir()
    let isEnding = false
    await using dns = await startDnsServer({
      answer: (name) => (name.startsWith('late') && !isEnding ? 'silent' : { addresses: ['127.0.0.1'] }),
    })
    // Without robots.txt more than are asked for at a time.
    const late = obeys ? 40 : 140
    const names = ['quick', ...Array.from({ length: late }, (_, n) => `late-${n}`)]
    const urls = names.flatMap((name) =>
      ['a', 'b'].map((path) => `http://${name}.test:${hosts.port}/${path}`),
    )
    class Named extends spiderOf(atUrls(...urls)) {
      override *parse(response: Response) {
        yield* super.parse(response)
        if (!response.url.includes('quick')) return
        isEnding = true
        if (hosts.pages().length >= 2 && !isAgain) throw new CloseSpider('enough')
      }
    }
    let isAgain = false
    const options = {
      settings: settingsWith(dns, {
        CONCURRENT_REQUESTS: 4,
        ROBOTSTXT_OBEY: obeys,
        DNS_TIMEOUT: 20,
        JOBDIR: folder.path,
      }),
      logger: silentLogger,
    }
    const { finishReason } = await crawl(Named, options)
    expect(finishReason).toBe('enough')
    expect(hosts.pages().length).toBeLessThanOrEqual(2 + 4)
    isAgain = true
    await crawl(Named, options)
    const fetched = hosts.pages().map(({ host, path }) => host + path)
    expect(fetched.toSorted()).toEqual(
      names.flatMap((name) => [`${name}.test/a`, `${name}.test/b`]).toSorted(),
    )
  },
)

test('a name without an answer fails its requests after DNS_TIMEOUT, and one that does not exist at once', async () => {
  await using dns = await startDnsServer({
    answer: (name) => (name === 'dead.test' ? 'silent' : undefined),
  })
  const failed: string[] = []
  const { stats } = await crawl(spiderOf(atUrls('http://dead.test/', 'http://nowhere.test/'), failed), {
    settings: settingsWith(dns, { DNS_TIMEOUT: 0.3, RETRY_TIMES: 1, RETRY_BACKOFF: 0 }),
    logger: silentLogger,
  })
  expect(failed).toEqual([
    expect.stringContaining('nowhere.test: queryA ENOTFOUND nowhere.test'),
    expect.stringContaining('dead.test: no answer within 0.3 s (DNS_TIMEOUT)'),
  ])
  expect(stats['retry/reason_count/CannotResolveHostError']).toBe(2)
})

test('the delay of a host is counted from when a request leaves, not from when its name was asked for', async () => {
  await using hosts = await startHosts()
  await using dns = await startDnsServer({ answer: () => ({ addresses: ['127.0.0.1'] }), delayMs: 200 })
  const urls = [1, 2, 3].map((n) => `http://slow.test:${hosts.port}/${n}`)
  await crawl(spiderOf(atUrls(...urls)), {
    settings: settingsWith(dns, {
      DOWNLOAD_DELAY: 0.25,
      RANDOMIZE_DOWNLOAD_DELAY: false,
      ROBOTSTXT_OBEY: false,
    }),
    logger: silentLogger,
  })
  const moments = hosts.visits.map(({ atMs }) => atMs)
  expect(moments.length).toBe(3)
  // Counted from the question it would be 50; the site, which shares a busy event loop, may see the one before late.
  for (const n of [1, 2]) expect(moments[n]! - moments[n - 1]!).toBeGreaterThan(150)
})

test('a name that leads inside is refused, whoever asked for it first', async () => {
  await using dns = await startDnsServer({ answer: () => ({ addresses: ['169.254.169.254'] }) })
  const { logger, lines } = listeningLogger()
  const { stats } = await crawl(spiderOf(atUrls('http://inside.test/a', 'http://inside.test/b')), {
    settings: settingsWith(dns, { ROBOTSTXT_OBEY: false }),
    logger,
  })
  expect(stats['downloader/protection/metadata_address']).toBe(2)
  expect(stats['downloader/response_count']).toBeUndefined()
  expect(lines.some(({ fields }) => fields?.address === '169.254.169.254')).toBe(true)
  expect(dns.asked.filter((question) => question.startsWith('A '))).toEqual(['A inside.test'])
})

test('once a crawl is over nothing is asked of name servers any more, which would keep its process from ending', async () => {
  await using dns = await startDnsServer({ answer: () => 'silent' })
  await crawl(spiderOf(atUrls('http://silent.test/')), {
    settings: settingsWith(dns, { DNS_TIMEOUT: 0.5, RETRY_ENABLED: false }),
    logger: silentLogger,
  })
  const asked = dns.asked.length
  expect(asked).toBeGreaterThan(0)
  // Waits: longer than it takes until a question without an answer is asked again.
  await sleep(2500)
  expect(dns.asked.length).toBe(asked)
})
