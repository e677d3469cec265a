/** What the documentation shows an author, in a folder with nothing but our packed packages, zod and TypeScript. */

import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { runProcess, type TempDir } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Site, startSite } from '../../examples/quotes/site/site.ts'
import { npxWebloom, packedFolder } from './packed-folder.ts'

/** As a new user has it: robots.txt is asked for, and links into private networks are refused. */
const NEW_USER = { WEBLOOM_ROBOTSTXT_OBEY: undefined, WEBLOOM_PRIVATE_ADDRESSES_ALLOWED: undefined }

let folder: TempDir
let quotes: Site
let feeds: Site

beforeAll(async () => {
  quotes = await startSite()
  feeds = await startFeeds()
  folder = await packedFolder(['zod', 'typescript', '@types/node'])
  cpSync(join(import.meta.dirname, '../authoring/fixtures/author-project'), folder.path, { recursive: true })
  const packageJson = JSON.parse(readFileSync(folder.join('package.json'), 'utf8'))
  writeFileSync(folder.join('package.json'), JSON.stringify({ ...packageJson, type: 'module' }))
}, 180_000)

afterAll(async () => {
  await folder?.remove()
  await quotes?.close()
  await feeds?.close()
})

/** Pages that the site of quotes has not. */
async function startFeeds(): Promise<Site> {
  const server = createServer((request, response) => {
    const url = `http://${request.headers.host}/`
    const pages: Record<string, readonly [type: string, body: string]> = {
      '/robots.txt': ['text/plain', `Sitemap: ${url}sitemap.xml`],
      '/sitemap.xml': ['application/xml', `<urlset><url><loc>${url}form</loc></url></urlset>`],
      '/feed.xml': [
        'application/xml',
        '<rss><item><title>one</title></item><item><title>two</title></item></rss>',
      ],
      '/feed.csv': ['text/csv', 'name,price\nLamp,12\nLoom,30\n'],
      '/form': [
        'text/html',
        '<title>A form</title><form action="/sent"><input name="user"><input name="k" value="v"></form>',
      ],
      '/sent?k=v&user=me': ['application/json', '{"sent": "me"}'],
    }
    const [type, body] = pages[request.url ?? ''] ?? ['text/html', '']
    response.writeHead(body === '' ? 404 : 200, { 'content-type': type }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    close: async () => void server.close().closeAllConnections(),
  }
}

async function webloom(site: Site, ...args: readonly string[]): Promise<string> {
  const result = await npxWebloom(folder.path, args, { ...NEW_USER, SITE: site.url, BROWSER: 'true' })
  expect(result.code, result.stderr).toBe(0)
  return result.stdout
}

const linesOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line))

test.each(['--skipLibCheck', '--skipLibCheck false'])('the project passes tsc --strict %s', async (flag) => {
  const args = ['tsc', '-p', 'tsconfig.json', ...flag.split(' ')]
  const { code, stdout } = await runProcess('npx', args, { cwd: folder.path, env: { ...process.env } })
  expect(code, stdout).toBe(0)
})

test('a crawl with a loader, checked items, pipelines, files and SQL, into every format', async () => {
  const outputs = ['jsonl', 'json', 'csv', 'xml', 'jsonl.gz', 'csv.zst', 'md'].flatMap((end) => [
    '-O',
    `out/all.${end}`,
  ])
  const batches = ['-s', 'FEED_EXPORT_BATCH_ITEM_COUNT=20', '-O', 'out/part-%(batch_id)d.jsonl']
  await webloom(quotes, 'crawl', 'quotes', '-a', `site=${quotes.url}`, ...outputs)
  await webloom(quotes, 'crawl', 'quotes', '-a', `site=${quotes.url}`, ...batches)
  const text = (name: string) => readFileSync(folder.join('out', name))
  const items = linesOf(text('all.jsonl').toString()) as { text: string; asked?: string }[]
  expect(items.length).toBeGreaterThan(48)
  expect(items.map(({ asked }) => asked)).toEqual(expect.arrayContaining(['curl', 'form']))
  expect(items.filter(({ text }) => text.startsWith('Soup'))).toEqual([])
  expect(JSON.parse(text('all.json').toString())).toHaveLength(items.length)
  expect(linesOf(gunzipSync(text('all.jsonl.gz')).toString())).toHaveLength(items.length)
  expect(zstdDecompressSync(text('all.csv.zst')).toString().split('\r\n')).toHaveLength(items.length + 2)
  expect(
    text('all.xml')
      .toString()
      .match(/<item>/g),
  ).toHaveLength(items.length)
  expect(text('all.md').toString().match(/^- /gm)).toHaveLength(items.length)
  expect(linesOf(text('part-1.jsonl').toString())).toHaveLength(20)
  expect(readdirSync(folder.join('store/full'))).toHaveLength(1)
  using database = new DatabaseSync(folder.join('items.db'))
  expect(database.prepare('SELECT count(*) AS rows FROM quotes').get()).toEqual({ rows: items.length })
})

test.each([
  ['map', [{ title: 'A form' }]],
  ['xml', [{ title: 'one' }, { title: 'two' }]],
  [
    'csv',
    [
      { name: 'Lamp', price: '12' },
      { name: 'Loom', price: '30' },
    ],
  ],
  ['form', [{ title: 'me' }]],
])('the spider %s', async (name, items) => {
  const output = await webloom(feeds, 'crawl', name, '-O', '-:jsonl', '--nolog', '-s', 'ITEM_PIPELINES=[]')
  expect(linesOf(output)).toEqual(items)
})

test('a CrawlSpider walks the site of quotes', async () => {
  const output = await webloom(quotes, 'crawl', 'walk', '-O', '-:jsonl', '--nolog', '-s', 'ITEM_PIPELINES=[]')
  expect(linesOf(output)).toHaveLength(10)
})

test('shell, fetch, view, parse, check and list', async () => {
  const page = quotes.url
  const found = await webloom(
    quotes,
    'shell',
    page,
    '-c',
    "response.css('.quote .text::text').getall().length",
  )
  expect(Number(found)).toBeGreaterThan(5)
  const followed = `(await fetch(response.urljoin('/page/2/'))).xpath('//title/text()').get()`
  expect(await webloom(quotes, 'shell', page, '-c', followed)).toMatch(/\w/)
  expect(await webloom(quotes, 'fetch', page)).toContain('<article class="quote">')
  expect(readFileSync((await webloom(quotes, 'view', page)).trim(), 'utf8')).toContain(
    `<base href="${page}">`,
  )
  const parsed = [
    'parse',
    page,
    '--spider',
    'quotes',
    '-a',
    `site=${page}`,
    '-c',
    'parse',
    '-d',
    '2',
    '--json',
  ]
  expect(JSON.parse(await webloom(quotes, ...parsed)).items.length).toBeGreaterThan(10)
  expect(await webloom(quotes, 'check', 'quotes')).toContain('1 contracts, 0 broken')
  expect(await webloom(quotes, 'list')).toBe('csv\nform\nmap\nquotes\nwalk\nxml\n')
})

test('the helpers for tests, under node --test', async () => {
  const args = ['--test', 'quotes.test.ts']
  const env = { ...process.env, ...NEW_USER, SITE: quotes.url }
  const { code, stdout } = await runProcess(process.execPath, args, { cwd: folder.path, env })
  expect(code, stdout).toBe(0)
})
