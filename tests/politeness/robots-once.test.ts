import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { crawl, Request, Spider } from 'webloom'

/** A server that is at home at every loopback address, and notes when each host is asked for what. */
async function manyHosts(hosts: number, robotsTxt: string) {
  const hits = new Map<string, { path: string; atMs: number }[]>()
  const server = createServer(({ url: path = '', headers: { host = '' } }, response) => {
    const hit = { path, atMs: performance.now() }
    hits.set(host, [...(hits.get(host) ?? []), hit])
    response.end(path === '/robots.txt' ? robotsTxt : 'page')
  })
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    hits,
    origins: Array.from({ length: hosts }, (_, n) => `http://127.1.0.${n + 1}:${port}`),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A spider whose pages of one host come far apart: first one of each host, then the next. */
function spiderOf(origins: readonly string[], pagesPerHost: number) {
  return class Pages extends Spider {
    override name = 'pages'
    override *start() {
      for (let page = 0; page < pagesPerHost; page++)
        for (const origin of origins) yield new Request(`${origin}/${page}`)
    }
    override parse() {}
  }
}

const SETTINGS = { ROBOTSTXT_OBEY: true, RANDOMIZE_DOWNLOAD_DELAY: false, LOG_LEVEL: 'ERROR' } as const

test.each([
  ['that allows all', 'User-agent: *\nDisallow:'],
  ['with rules', 'User-agent: *\nDisallow: /private'],
])(
  'a robots.txt %s is asked for once a host, and no page goes twice through the queue for it',
  async (_, file) => {
    await using web = await manyHosts(40, file)
    const { stats } = await crawl(spiderOf(web.origins, 3), { settings: SETTINGS })
    expect(stats['scheduler/dequeued']).toBe(120)
    for (const hits of web.hits.values())
      expect(hits.map(({ path }) => path).sort()).toEqual(['/0', '/1', '/2', '/robots.txt'])
  },
)

test('with a delay the page that asked comes back once, a delay after robots.txt', async () => {
  await using web = await manyHosts(10, 'User-agent: *\nDisallow: /private')
  const settings = { ...SETTINGS, DOWNLOAD_DELAY: 0.3 }
  const { stats } = await crawl(spiderOf(web.origins, 2), { settings })
  expect(stats['scheduler/dequeued']).toBe(30)
  for (const hits of web.hits.values()) {
    expect(hits.map(({ path }) => path)).toEqual(['/robots.txt', '/0', '/1'])
    const gaps = hits.slice(1).map(({ atMs }, n) => atMs - hits[n]!.atMs)
    // A machine that is busy with other tests reads a connection late.
    expect(Math.min(...gaps)).toBeGreaterThan(200)
  }
})
