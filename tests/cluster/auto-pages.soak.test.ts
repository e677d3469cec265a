/** `meta.browser: 'auto'` with two workers and a real browser, on a site half static, half drawn, with a delay and without. */

import { readdirSync, readFileSync } from 'node:fs'
import { ensureChromium, startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { Site } from '../../packages/browser/testing/browsing.ts'
import { ClusterFolder } from './cluster-crawl.ts'

const KINDS = ['static/a', 'static/b', 'drawn/a', 'drawn/b']

const pathsOf = (kind: string, pages: number) => Array.from({ length: pages }, (_, n) => `/${kind}/${n + 1}`)

function halfDrawn(site: Site, pages: number): void {
  for (const kind of KINDS)
    for (const path of pathsOf(kind, pages))
      site.html(
        path,
        kind.startsWith('static')
          ? `<p>${path}</p>`
          : `<p>loading</p><script>document.querySelector("p").textContent = "${path}"</script>`,
      )
  const links = KINDS.flatMap((kind) => pathsOf(kind, pages).map((path) => `<a href="${path}">`))
  site.html('/', links.join(''))
}

const spider = (site: Site) => `import { type Response, Spider } from 'webloom'

export default class Pages extends Spider {
  name = 'pages'
  startUrls = [${JSON.stringify(`${site.origin}/`)}]

  async *parse(response: Response) {
    yield* response.followAll('a', { callback: 'page', meta: { browser: 'auto' } })
  }

  async *page(response: Response) {
    yield { url: response.url, text: response.css('p::text').get() }
  }
}
`

async function crawledByTwo(pages: number, own: Record<string, unknown>) {
  await using redis = await startRedis()
  await using site = await Site.start()
  halfDrawn(site, pages)
  const settings = {
    REDIS_URL: redis.url,
    BROWSER_EXECUTABLE: await ensureChromium(),
    BROWSER_SANDBOX: process.getuid?.() !== 0,
    CONCURRENT_REQUESTS_PER_DOMAIN: 8,
    ...own,
  }
  await using folder = await ClusterFolder.of({ seeds: [] }, settings, spider(site))
  const ended = await Promise.all(['a', 'b'].map((name) => folder.worker(name).exited))
  for (const { code, stderr } of ended) expect(code, stderr).toBe(0)
  const items = readdirSync(folder.path('.'))
    .filter((name) => name.startsWith('items-'))
    .flatMap((name) => readFileSync(folder.path(name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { url: string; text: string })
  const documents = site.hits.filter(({ path }) => KINDS.some((kind) => path.startsWith(`/${kind}`)))
  const rendered = (kind: string) =>
    documents.filter(({ path, headers }) => path.startsWith(`/${kind}`) && headers['sec-fetch-dest']).length
  const keys = await redis.command('KEYS', '*page-forms*')
  return { items, documents, rendered, keys }
}

test('each page is handed on once and right, few static ones are rendered, and what was learned goes with the crawl', async () => {
  const { items, rendered, keys } = await crawledByTwo(100, {})
  expect(items).toHaveLength(400)
  expect(new Set(items.map(({ url }) => url)).size).toBe(400)
  const wrong = items.filter(({ url, text }) => new URL(url).pathname !== text)
  expect(wrong).toEqual([])
  // Three probes by each worker at the most, and a recheck for each fifty.
  expect(rendered('static')).toBeLessThanOrEqual(20)
  expect(rendered('drawn')).toBe(200)
  expect(keys).toEqual([])
})

test('a delay lies between all documents of a host, whichever worker and browser asks for them', async () => {
  const delay = 0.3
  const { items, documents } = await crawledByTwo(10, {
    DOWNLOAD_DELAY: delay,
    RANDOMIZE_DOWNLOAD_DELAY: false,
  })
  expect(items).toHaveLength(40)
  const gaps = documents.slice(1).map(({ atMs }, n) => atMs - documents[n]!.atMs)
  expect(Math.min(...gaps)).toBeGreaterThan(delay * 1000 * 0.75)
})
