import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { zstdDecompressSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { type FakeWeb, type FakeWebOptions, startFakeWeb } from '../index.ts'

const opened: FakeWeb[] = []

async function open(options: FakeWebOptions = {}): Promise<FakeWeb> {
  const web = await startFakeWeb(options)
  opened.push(web)
  return web
}

afterEach(async () => {
  for (const web of opened.splice(0)) await web.close()
})

test('a naive crawl reaches exactly the pages that reachable() names', async () => {
  const web = await open({ seed: 7, hosts: 3, pagesPerHost: 40, crossHostLinks: 0.2 })
  const crawl = await naiveCrawl(web.seeds)
  expect(crawl.good).toEqual(web.reachable())
  expect(web.reachable().size).toBe(120)
  expect(web.hits).toHaveLength(120)
})

test.each([1, 2])('seed %i: so it does in a web with all that can go wrong', async (seed) => {
  const web = await open({
    seed,
    hosts: 4,
    pagesPerHost: 30,
    linksPerPage: 6,
    crossHostLinks: 0.15,
    seedHosts: 'first',
    errors: 0.1,
    flaky: 0.1,
    flakyWith: 'either',
    orphans: 0.1,
    redirects: 0.2,
    variedLinks: true,
    encoding: ['gzip', 'br', 'deflate', 'zstd', 'identity'],
  })
  const crawl = await naiveCrawl(web.seeds)
  expect(crawl.good).toEqual(web.reachable())
  expect(crawl.met).toEqual(web.linked())
  expect(web.hits.filter((hit) => hit.url.includes('/trap/'))).toEqual([])
  expect(web.reachable().size).toBeLessThan(web.linked().size)
})

test('with one seed every host is reached, even when no other link leaves its host', async () => {
  const web = await open({ hosts: 12, pagesPerHost: 10, seedHosts: 'first' })
  expect(web.seeds).toEqual([web.pageUrl(0, 0)])
  expect(web.reachable().size).toBe(120)
})

test('orphans are served and not reachable; nothing hangs from a broken page', async () => {
  const web = await open({ pagesPerHost: 200, orphans: 0.2, errors: 0.2 })
  const pages = Array.from({ length: 200 }, (_, page) => web.page(web.pageUrl(0, page))!)
  const good = pages.filter(({ status }) => status === 200)
  const orphans = good.filter(({ url }) => !web.reachable().has(url))
  expect(orphans.length).toBeGreaterThan(10)
  expect((await fetch(orphans[0]!.url)).status).toBe(200)
  const linked = new Set(pages.flatMap(({ links }) => links))
  expect(orphans.filter(({ url }) => linked.has(url))).toEqual([])
})

test('the truth about a page is what is served: status, bytes, title, item', async () => {
  const web = await open({ seed: 3, pagesPerHost: 30, errors: 0.3, pageBytes: [2_000, 20_000] })
  for (const url of web.linked()) {
    const truth = web.page(url)!
    const response = await fetch(url)
    const html = await response.text()
    expect(response.status).toBe(truth.status)
    expect(html).toBe(truth.html)
    expect(Buffer.byteLength(html)).toBe(truth.bytes)
    if (truth.item) expect(extract(html)).toEqual({ ...truth.item, head: truth.title })
  }
  expect(web.items()).toHaveLength(web.reachable().size)
})

test('a page has exactly the bytes asked for', async () => {
  const web = await open({ pageBytes: 7_400, variedLinks: true })
  const sizes = [...web.reachable()].map((url) => web.page(url)!.bytes)
  expect(new Set(sizes)).toEqual(new Set([7_400]))
})

test('another web of the same seed on the same ports serves the same bytes; another seed does not', async () => {
  // A fixed port lets a web return at its old URLs, as a resumed crawl needs it. This one is free a moment later.
  const web = await open()
  const port = Number(new URL(web.origins[0]!).port)
  await web.close()
  const options = { hosts: 2, variedLinks: true, crossHostLinks: 0.3, port } as const
  const [first, again, other] = [
    await servedBy({ ...options, seed: 5 }),
    await servedBy({ ...options, seed: 5 }),
    await servedBy({ ...options, seed: 6 }),
  ]
  expect(again).toEqual(first)
  expect(other).not.toEqual(first)
})

test('a flaky page fails as often as was said, then succeeds for good', async () => {
  const web = await open({ pagesPerHost: 100, flaky: 0.3, flakyTimes: 3 })
  const flaky = [...web.reachable()].find((url) => web.page(url)!.flakyTimes > 0)!
  const statuses = []
  for (let n = 0; n < 5; n++) statuses.push((await fetch(flaky)).status)
  expect(statuses).toEqual([503, 503, 503, 200, 200])
  expect(web.hitsOf(flaky).map((hit) => hit.status)).toEqual(statuses)
})

test('a flaky page that resets its connection is logged as aborted without a status', async () => {
  const web = await open({ pagesPerHost: 100, flaky: 0.3, flakyTimes: 1, flakyWith: 'reset' })
  const flaky = [...web.reachable()].find((url) => web.page(url)!.flakyTimes > 0)!
  await expect(fetch(flaky)).rejects.toThrow()
  expect((await fetch(flaky)).status).toBe(200)
  expect(web.hitsOf(flaky)).toMatchObject([
    { status: 0, aborted: true },
    { status: 200, aborted: false },
  ])
})

test('redirects lead to the page that the truth names', async () => {
  const web = await open({ pagesPerHost: 50, redirects: 0.5 })
  const hops = [...web.linked()].map((url) => web.page(url)!).filter(({ kind }) => kind === 'hop')
  expect(new Set(hops.map(({ status }) => status))).toEqual(new Set([301, 302]))
  for (const hop of hops) {
    const response = await fetch(hop.url, { redirect: 'manual' })
    expect([response.status, response.headers.get('location')]).toEqual([hop.status, hop.location])
  }
})

test.each(['gzip', 'br', 'deflate', 'zstd'] as const)('%s is served to whom accepts it', async (encoding) => {
  const web = await open({ encoding })
  const url = web.seeds[0]!
  const [coded, plain] = [await fetchAs(url, encoding), await fetchAs(url, `${encoding};q=0, *;q=0`)]
  expect(coded.headers.get('content-encoding')).toBe(encoding)
  expect(Number(coded.headers.get('content-length'))).toBeLessThan(web.page(url)!.bytes)
  expect(await decodedText(coded)).toBe(web.page(url)!.html)
  expect(plain.headers.get('content-encoding')).toBe(null)
  expect(await plain.text()).toBe(web.page(url)!.html)
})

test('a host that is down refuses connections and cuts those it has; up again it has its old port', async () => {
  const web = await open({ hosts: 2 })
  await (await fetch(web.seeds[0]!)).text()
  await web.hostDown(0)
  await expect(fetch(web.seeds[0]!)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
  expect((await fetch(web.seeds[1]!)).status).toBe(200)
  await web.hostUp(0)
  expect((await fetch(web.seeds[0]!)).status).toBe(200)
})

test('every host has an address of its own', async () => {
  const web = await open({ hosts: 300, pagesPerHost: 1 })
  expect(new Set(web.origins.map((origin) => new URL(origin).hostname)).size).toBe(300)
  expect((await fetch(web.seeds[299]!)).status).toBe(200)
})

test('a page hangs before, after its headers or halfway, until the client gives up', async () => {
  const hangs = [
    { host: 0, page: 1 },
    { host: 0, page: 2, after: 'headers' },
    { host: 0, page: 3, after: 'half-body' },
  ] as const
  const web = await open({ hangs })
  const read = async (page: number) => {
    const response = await fetch(web.pageUrl(0, page), { signal: AbortSignal.timeout(300) })
    return response.text()
  }
  for (const { page } of hangs) await expect(read(page)).rejects.toThrow(/timeout/)
  const given = hangs.map(({ page }) => web.hitsOf(web.pageUrl(0, page))[0]!)
  await expect
    .poll(() => given.map(({ status, aborted }) => [status, aborted]))
    .toEqual([
      [0, true],
      [200, true],
      [200, true],
    ])
  expect(web.reachable().size).toBe(17)
})

test('closing ends answers that hang or are late', async () => {
  const web = await open({ hangs: [{ host: 0, page: 1 }], slow: [{ host: 0, page: 2, ms: 60_000 }] })
  const asked = [1, 2].map((page) => fetch(web.pageUrl(0, page)).catch((error: Error) => error.message))
  await web.waitForHits(2)
  await web.close()
  expect(await Promise.all(asked)).toEqual(['fetch failed', 'fetch failed'])
})

test('latency is drawn per page and kept', async () => {
  const web = await open({ latencyMs: [40, 80] })
  const url = web.pageUrl(0, 4)
  await (await fetch(url)).text()
  const [hit] = web.hitsOf(url)
  expect(web.page(url)!.latencyMs).toBeGreaterThanOrEqual(40)
  // A timer may fire within the millisecond before.
  expect(hit!.endedAtMs! - hit!.atMs).toBeGreaterThanOrEqual(web.page(url)!.latencyMs - 1)
})

test('robots.txt is given for a host, and 404 without one', async () => {
  const web = await open({ hosts: 2, robotsTxt: { 1: 'User-agent: *\nDisallow: /s3/\n' } })
  const answers = await Promise.all(web.origins.map((origin) => fetch(`${origin}/robots.txt`)))
  expect(answers.map(({ status }) => status)).toEqual([404, 200])
  expect(await answers[1]!.text()).toContain('Disallow: /s3/')
})

test('a script answers for one path of one host or of all, and is logged', async () => {
  const web = await open({ hosts: 2 })
  web.route(null, '/odd', (_request, response) => response.end('any'))
  web.route(1, '/odd', (_request, response) => response.writeHead(418).end('one'))
  web.route(0, '/odd?exact=1', (request) => request.socket.end('HTTP/1.1 200 OK\r\nbroken'))
  const [first, second] = web.origins
  expect(await (await fetch(`${first}/odd?page=3`)).text()).toBe('any')
  expect((await fetch(`${second}/odd`)).status).toBe(418)
  await expect(fetch(`${first}/odd?exact=1`)).rejects.toThrow()
  expect(web.hits.map(({ url, status }) => [url, status])).toEqual([
    [`${first}/odd?page=3`, 200],
    [`${second}/odd`, 418],
    [`${first}/odd?exact=1`, 0],
  ])
})

test('requests over one connection share its id; a second connection is counted when it opens', async () => {
  const web = await open()
  const { hostname, port } = new URL(web.origins[0]!)
  const socket = connect(Number(port), hostname)
  for (const path of ['/', '/robots.txt']) {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\nX-Mine: ${path}\r\n\r\n`)
    await once(socket, 'data')
  }
  const silent = connect(Number(port), hostname)
  await expect.poll(() => web.connections(0)).toBe(2)
  expect(web.hits.map((hit) => [hit.connectionId, hit.headers['x-mine'], hit.method])).toEqual([
    [1, '/', 'GET'],
    [1, '/robots.txt', 'GET'],
  ])
  socket.destroy()
  silent.destroy()
})

test('a client may take a host for its proxy: the hit has the URL that was asked for', async () => {
  const web = await open()
  const { hostname, port } = new URL(web.origins[0]!)
  const socket = connect(Number(port), hostname)
  socket.write('GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n')
  await once(socket, 'data')
  socket.destroy()
  expect(web.countOf('http://example.com/')).toBe(1)
})

test('gaps and concurrency are measured as the client made them', async () => {
  const web = await open({ hosts: 2, latencyMs: 100 })
  const pages = [1, 2, 3].map((page) => web.pageUrl(0, page))
  await Promise.all(pages.map((url) => fetch(url).then((response) => response.text())))
  await (await fetch(web.pageUrl(1, 0))).text()
  expect(web.maxConcurrent(0)).toBe(3)
  expect(web.maxConcurrent(1)).toBe(1)
  expect(web.maxConcurrent()).toBe(3)
  expect(web.smallestGapMs(0)).toBeLessThan(100)
  expect(web.smallestGapMs(1)).toBe(Number.POSITIVE_INFINITY)
  expect(web.starts(0)).toHaveLength(3)
})

test('an option that cannot be is refused with what it may be', async () => {
  await expect(startFakeWeb({ errors: 5 })).rejects.toThrow('errors is 5; it must be between 0 and 1')
})

test('a web whose port is taken leaves no host behind', async () => {
  const web = await open()
  const port = Number(new URL(web.origins[0]!).port)
  await expect(startFakeWeb({ hosts: 2, port })).rejects.toThrow(`cannot listen on 127.0.0.1:${port}`)
  await expect(fetch(`http://127.0.0.2:${port}/`)).rejects.toThrow()
})

function fetchAs(url: string, acceptEncoding: string): Promise<Response> {
  return fetch(url, { headers: { 'accept-encoding': acceptEncoding }, redirect: 'manual' })
}

/** What a web of these options serves, page by page; over new connections, because its ports were another's before. */
async function servedBy(options: FakeWebOptions): Promise<string[]> {
  const web = await open(options)
  const bodies: string[] = []
  for (const url of web.reachable()) {
    const [response] = (await once(get(url, { agent: false }), 'response')) as [IncomingMessage]
    bodies.push(await text(response))
  }
  await web.close()
  return bodies
}

/** Extraction as blunt as possible, so that it shares nothing with what makes the pages. */
function extract(html: string) {
  const all = (pattern: RegExp) => [...html.matchAll(pattern)].map((match) => match[1]!)
  return {
    head: all(/<title>(.*?)<\/title>/g)[0],
    title: all(/<h1 class="title">(.*?)<\/h1>/g)[0],
    price: all(/<p class="price">(.*?)<\/p>/g)[0],
    names: all(/<div class="item"><span class="name">(.*?)<\/span>/g),
  }
}

async function naiveCrawl(seeds: readonly string[]): Promise<{ good: Set<string>; met: Set<string> }> {
  const met = new Set(seeds)
  const good = new Set<string>()
  for (const url of met) {
    const response = await fetchPatiently(url)
    const isPage = response.status === 200 && response.headers.get('content-type')?.startsWith('text/html')
    if (isPage) good.add(url)
    for (const link of isPage ? linksIn(await decodedText(response), url) : locationOf(response, url)) {
      if (link.protocol === 'http:' && !link.pathname.endsWith('.png')) met.add(link.href)
    }
  }
  return { good, met }
}

async function fetchPatiently(url: string): Promise<Response> {
  for (let tries = 1; ; tries++) {
    const response = await fetchAs(url, 'gzip, br, deflate, zstd').catch(() => undefined)
    if (response && (response.status !== 503 || tries > 2)) return response
    if (tries > 3) throw new Error(`${url} cannot be fetched`)
  }
}

/** The text of a page. The `fetch` of Node 22 leaves zstd as it came. */
async function decodedText(response: Response): Promise<string> {
  const body = Buffer.from(await response.arrayBuffer())
  const isStillCoded = body.length >= 4 && body.readUInt32LE(0) === ZSTD_MAGIC
  return (isStillCoded ? zstdDecompressSync(body) : body).toString()
}

const ZSTD_MAGIC = 0xfd2fb528

function locationOf(response: Response, url: string): URL[] {
  const location = response.headers.get('location')
  return location === null ? [] : [new URL(location, url)]
}

function linksIn(html: string, base: string): URL[] {
  const markup = html.replace(/<!--.*?-->|<script>.*?<\/script>/gs, '')
  const hrefs = markup.matchAll(/<(?:a|area)\s[^>]*?\bhref=(?:"([^"]*)"|'([^']*)'|([^\s>]+))/gi)
  return [...hrefs].map(([, double, single, bare]) => {
    const link = new URL((double ?? single ?? bare!).replaceAll('&amp;', '&'), base)
    link.hash = ''
    return link
  })
}
