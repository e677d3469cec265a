/** Pages that a browser renders, in crawls: the crawl's rules hold for them as for all others. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { ensureChromium, tempDir } from '@webloom/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { crawl, Request, type Response, type SettingsInput, Spider, type SpiderClass } from 'webloom'
import { recordCrawl, replayCrawl, runCallback } from 'webloom/testing'
import { Site } from '../../packages/browser/testing/browsing.ts'
import { browserPackage } from '../../packages/webloom/src/browser/browser-handler.ts'

let site: Site
let executable: string
beforeEach(async () => {
  executable = await ensureChromium()
  site = await Site.start()
})
afterEach(() => site[Symbol.asyncDispose]())

/** Asks for pages one after another, and yields what each shows. */
class Visits extends Spider {
  override name = 'visits'
  paths = ''

  override *start() {
    yield* this.#next(this.paths.split(' '))
  }

  *#next([path, ...rest]: string[]) {
    if (!path) return
    const [way, url] = path.split(':')
    const browser = { script: 'look', capture: ['/api'] }
    const meta = way === 'browser' ? { browser } : way === 'auto' ? { browser: 'auto' as const } : {}
    yield new Request(site.origin + url, { dontFilter: true, cbKwargs: { rest }, meta })
  }

  async look(page: { title(): Promise<string> }) {
    return { title: await page.title() }
  }

  override *parse(response: Response, { rest = [] }: { rest?: string[] }) {
    const { returned, captured } = response.browser ?? {}
    const text = response.css('p::text').get()
    yield { path: new URL(response.url).pathname, text, returned, api: captured?.[0]?.json }
    yield* this.#next(rest)
  }
}

const settings = (own: SettingsInput = {}): SettingsInput => ({
  BROWSER_EXECUTABLE: executable,
  BROWSER_SANDBOX: process.getuid?.() !== 0,
  LOG_LEVEL: 'CRITICAL',
  ...own,
})

async function visited(paths: string, own: SettingsInput = {}, Class: SpiderClass = Visits) {
  const items: Record<string, unknown>[] = []
  const result = await crawl(Class, {
    args: { paths },
    settings: settings(own),
    onItem: (item) => items.push(item as Record<string, unknown>),
  })
  return { ...result, items }
}

const DRAWN =
  '<title>A</title><p></p><script>fetch("/api").then((a) => a.json()).then((t) => { document.querySelector("p").textContent = t })</script>'

function drawnSite(): void {
  site.html('/drawn', DRAWN)
  site.page('/api', (_, answer) => answer.setHeader('content-type', 'application/json').end('"by script"'))
}

test('cookies of the jar go into the browser and come out of it, and robots.txt holds', async () => {
  drawnSite()
  site.html('/sets', '<p>in</p><script>document.cookie = "script=1"</script>', {
    'set-cookie': 'server=1; HttpOnly',
  })
  site.html('/http', '<p>http</p>')
  site.page('/robots.txt', (_, answer) => answer.end('User-agent: *\nDisallow: /private'))
  const { items, stats } = await visited('browser:/sets http:/http browser:/drawn browser:/private', {
    ROBOTSTXT_OBEY: true,
  })
  expect(items.map(({ path }) => path)).toEqual(['/sets', '/http', '/drawn'])
  expect(items[2]).toMatchObject({ text: 'by script', returned: { title: 'A' }, api: 'by script' })
  const cookiesAt = (path: string) => site.hits.find((hit) => hit.path === path)!.headers.cookie
  expect(cookiesAt('/http')!.split('; ').toSorted()).toEqual(['script=1', 'server=1'])
  expect(cookiesAt('/drawn')!.split('; ').toSorted()).toEqual(['script=1', 'server=1'])
  expect(stats['robotstxt/forbidden']).toBe(1)
  expect(site.asked('/private')).toBe(0)
})

/** Asks for pages all at once: those that open documents by themselves or by their steps, and others. */
class Crowd extends Spider {
  override name = 'crowd'

  override *start() {
    const popup = { script: 'opens' }
    const rendered = ['reload', 'refresh', 'leads', 'moved', 'pops'].map((kind) => [kind, true] as const)
    for (const [kind, browser] of [
      ...rendered,
      ['click', { click: 'a' }],
      ['popup', popup],
      ['auto', 'auto'],
    ] as const)
      yield new Request(`${site.origin}/${kind}`, { meta: { browser } })
    yield new Request(`${site.origin}/http`)
  }

  async opens(page: OpeningPage) {
    await Promise.all([page.waitForEvent('popup'), page.evaluate('void open("/popped")')])
  }

  override *parse(response: Response) {
    yield { text: response.css('p::text').get() }
  }
}

interface OpeningPage {
  evaluate(script: string): Promise<unknown>
  waitForEvent(name: string): Promise<unknown>
}

test('a host’s delay lies between all documents, those that pages open by themselves or by their steps among them', async () => {
  const again = (html: string) => (asked: IncomingMessage, answer: ServerResponse) => {
    const isFirst = site.asked(asked.url!) === 1
    answer.setHeader('content-type', 'text/html').end(isFirst ? html : '<p>again</p>')
  }
  site.html('/click', '<p></p><a href="/clicked">on</a>')
  site.page('/reload', again('<script>location.reload()</script>'))
  site.page('/refresh', again('<meta http-equiv=refresh content=0>'))
  site.html('/leads', '<script>location = "/led"</script>')
  site.page('/moved', (_, answer) => answer.writeHead(302, { location: '/target' }).end())
  site.html('/pops', '<p>pops</p><script>open("/unused")</script>')
  site.html('/auto', '<p></p><script>document.querySelector("p").textContent = "drawn"</script>')
  for (const path of ['/clicked', '/led', '/target', '/popup', '/popped', '/http'])
    site.html(path, `<p>${path}</p>`)
  const texts: unknown[] = []
  await crawl(Crowd, {
    settings: settings({ DOWNLOAD_DELAY: 0.25, RANDOMIZE_DOWNLOAD_DELAY: false, BROWSER_PAGES: 3 }),
    onItem: (item) => texts.push((item as { text: string }).text),
  })
  const shown = ['again', 'again', '/clicked', '/led', '/target', '/popup', 'drawn', '/http', 'pops']
  expect(texts.toSorted()).toEqual(shown.toSorted())
  // No method of the spider could see it.
  expect(site.asked('/unused')).toBe(0)
  expect(site.hits).toHaveLength(16)
  const gaps = site.hits.slice(1).map(({ atMs }, index) => atMs - site.hits[index]!.atMs)
  // A document leaves a moment after its request has; the next one may be quicker.
  expect(Math.min(...gaps)).toBeGreaterThan(190)
})

/** Leaves it to the crawl which pages are rendered. */
class Auto extends Spider {
  override name = 'auto'
  static = 0
  drawn = 0

  override *start() {
    for (const [kind, pages] of Object.entries({ static: this.static, drawn: this.drawn }))
      for (let n = 1; n <= pages; n++)
        yield new Request(`${site.origin}/${kind}/${n}`, { meta: { browser: 'auto', runs: 0 } })
  }

  override *parse(response: Response) {
    response.meta.runs = Number(response.meta.runs) + 1
    this.crawler.stats.inc('mine/pages')
    const text = response.css('p::text').get() ?? null
    yield { path: new URL(response.url).pathname, text, runs: response.meta.runs, at: new Date() }
  }
}

test('auto: pages are rendered where that changes what callbacks yield, and each is handed on in one form', async () => {
  for (let n = 1; n <= 20; n++) site.html(`/static/${n}`, `<p>static ${n}</p>`)
  for (let n = 1; n <= 5; n++)
    site.html(`/drawn/${n}`, `<p></p><script>document.querySelector("p").textContent = "drawn ${n}"</script>`)
  const items: { path: string; text: string; runs: number }[] = []
  const { stats } = await crawl(Auto, {
    args: { static: '20', drawn: '5' },
    settings: settings(),
    onItem: (item) => items.push(item as (typeof items)[number]),
  })
  const texts = (kind: string, pages: number) => Array.from({ length: pages }, (_, n) => `${kind} ${n + 1}`)
  expect(items.map(({ text }) => text).toSorted()).toEqual(
    [...texts('static', 20), ...texts('drawn', 5)].toSorted(),
  )
  expect(new Set(items.map(({ runs }) => runs))).toEqual(new Set([1]))
  const rendered = (kind: string) =>
    site.hits.filter(({ path, headers }) => path.startsWith(kind) && headers['sec-fetch-dest']).length
  expect([rendered('/static/'), rendered('/drawn/')]).toEqual([3, 5])
  expect(stats).toMatchObject({
    'browser/auto/http': 20,
    'browser/auto/rendered': 5,
    'browser/auto/probes': 6,
    item_scraped_count: 25,
    'mine/pages': 25,
  })
})

test('a recorded crawl replays rendered pages without a browser, and runCallback takes what one brought', async () => {
  drawnSite()
  await using folder = await tempDir()
  const options = { folder: folder.path, args: { paths: 'browser:/drawn http:/drawn' } }
  const recorded = await recordCrawl(Visits, { ...options, settings: settings() })
  const texts = (items: readonly unknown[]) =>
    items.map((item) => (item as { text: string | null }).text).toSorted()
  expect(texts(recorded.items)).toEqual(['by script', null])
  const asked = site.hits.length
  const replayed = await replayCrawl(Visits, {
    ...options,
    settings: { BROWSER_EXECUTABLE: '/no/such/chrome' },
  })
  expect(replayed.items).toEqual(expect.arrayContaining([...recorded.items]))
  expect(site.hits).toHaveLength(asked)

  const { items } = await runCallback(
    Visits,
    { url: 'http://a.example/', body: '<p>x', browser: { captured: [], returned: { title: 'B' } } },
    { args: { paths: 'http:/' } },
  )
  expect(items).toMatchObject([{ text: 'x', returned: { title: 'B' } }])
})

test('a recorded crawl replays the pages whose form was left to it, though they come in another order', async () => {
  for (let n = 1; n <= 10; n++)
    site.html(`/drawn/${n}`, `<p></p><script>document.querySelector("p").textContent = "drawn ${n}"</script>`)
  for (let n = 1; n <= 5; n++) site.html(`/static/${n}`, `<p>static ${n}</p>`)
  await using folder = await tempDir()
  const options = { folder: folder.path, args: { static: '5', drawn: '10' } }
  // One after another: most pages have one form only. The replay begins with many at once, before it knows a label.
  const recorded = await recordCrawl(Auto, { ...options, settings: settings({ CONCURRENT_REQUESTS: 1 }) })
  const asked = site.hits.length
  const replayed = await replayCrawl(Auto, {
    ...options,
    settings: settings({ CONCURRENT_REQUESTS: 15, CONCURRENT_REQUESTS_PER_DOMAIN: 15 }),
  })
  const texts = (items: readonly unknown[]) => items.map((item) => (item as { text: string }).text).toSorted()
  expect(recorded.items).toHaveLength(15)
  expect(texts(replayed.items)).toEqual(texts(recorded.items))
  expect(site.hits).toHaveLength(asked)
})

test('without a browser the crawl ends and says what to type; it goes on where it stopped', async () => {
  drawnSite()
  await using folder = await tempDir()
  const own = { JOBDIR: folder.join('job') }
  const first = await visited('browser:/drawn http:/drawn', {
    ...own,
    BROWSER_EXECUTABLE: '/no/such/chrome',
  })
  expect([first.finishReason, first.items, site.hits.length]).toEqual(['browser_unavailable', [], 0])
  const second = await visited('', own)
  expect(second.items).toMatchObject([{ text: 'by script' }, { text: null }])
  await expect(browserPackage('@webloom/browser-that-nobody-wrote')).rejects.toMatchObject({
    reason: 'browser_unavailable',
    message: expect.stringMatching(
      /npm install @webloom\/browser\n.*apt-get install chromium-headless-shell/,
    ),
  })
})
