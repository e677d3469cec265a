/** Components of one's own, named in settings: the examples of docs/own-components.md in crawls of the real command line. */

import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { runProcess, type TempDir } from '@webloom/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CommandLine } from '../projects/command-line.ts'
import { type OwnProject, ownExamples, ownProject } from './own-project.ts'

let project: OwnProject
let commands: CommandLine
let folder: TempDir
let origin: string
let asked: readonly string[]

beforeAll(() => {
  commands = new CommandLine()
})
afterAll(() => commands[Symbol.asyncDispose]())

beforeEach(async () => {
  project = await ownProject(commands)
  ;({ folder, origin, asked } = project)
})
afterEach(() => project[Symbol.asyncDispose]())

const crawled: OwnProject['crawled'] = (...given) => project.crawled(...given)

test('SPIDER_MIDDLEWARES takes a middleware of one’s own, which changes items and drops requests', async () => {
  const { items } = await crawled(
    `yield new Request('${origin}/'); yield new Request('${origin}/calendar/1')`,
    { SPIDER_MIDDLEWARES: { './dated-items.ts#DatedItems': 950 } },
  )
  expect(items).toEqual([{ url: `${origin}/`, title: 'of the site', readAt: expect.any(String) }])
  expect(asked).toEqual(['/'])
})

test('DOWNLOADER_MIDDLEWARES takes a middleware of one’s own, which drops requests before they are fetched', async () => {
  const { items } = await crawled(`yield new Request('${origin}/'); yield new Request('${origin}/print/1')`, {
    DOWNLOADER_MIDDLEWARES: { './no-print-pages.ts#NoPrintPages': 500 },
  })
  expect(items).toMatchObject([{ url: `${origin}/` }])
  expect(asked).toEqual(['/'])
})

test('each example of the page is a file that a test runs, or a part of a callback', () => {
  const tests = ['own-components.test.ts', 'own-dupefilters.test.ts']
  const texts = tests.map((name) => readFileSync(join(import.meta.dirname, name), 'utf8')).join('')
  const examples = ownExamples()
  const isRun = (name: string) =>
    texts.includes(`./${name}#`) || examples.some(({ code }) => code.includes(`'${name}'`))
  const notRun = examples.filter(({ name, part }) => (name === undefined ? part === undefined : !isRun(name)))
  expect(notRun).toEqual([])
  expect(examples.length).toBeGreaterThan(8)
})

describe('DOWNLOAD_HANDLERS', () => {
  beforeEach(() => {
    mkdirSync(folder.join('archive'))
    const page = `${encodeURIComponent(`${origin}/`)}.html`
    writeFileSync(folder.join('archive', page), '<title>of the archive</title>')
  })

  test('a handler of one’s own fetches what asks for it by name, and nothing else', async () => {
    const { items } = await crawled(
      `yield new Request('${origin}/', { meta: { download_handler: 'archive', dont_obey_robotstxt: true } })
       yield new Request('${origin}/live')`,
      { DOWNLOAD_HANDLERS: { archive: './archive.ts#Archive' } },
    )
    expect(items).toHaveLength(2)
    expect(items).toContainEqual({ url: `${origin}/`, title: 'of the archive' })
    expect(items).toContainEqual({ url: `${origin}/live`, title: 'of the site' })
    expect(asked).toEqual(['/live'])
  })

  test('a page that it makes by hand has the bounds of a page, as any other', async () => {
    const { stats } = await crawled(`yield new Request('${origin}/')`, {
      DOWNLOAD_HANDLERS: { http: './archive.ts#Archive' },
      PAGE_MAX_NODES: 1,
    })
    expect(stats['downloader/protection/page_nodes']).toBe(1)
  })

  test('it takes the place of the built-in one of a scheme, and answers for robots.txt, too', async () => {
    const { items, stats } = await crawled(
      `yield new Request('${origin}/'); yield new Request('${origin}/none')`,
      { DOWNLOAD_HANDLERS: { http: './archive.ts#Archive' }, ROBOTSTXT_OBEY: true },
    )
    expect(items).toEqual([{ url: `${origin}/`, title: 'of the archive' }])
    expect(stats['httperror/response_ignored_status_count/404']).toBe(1)
    expect(stats['robotstxt/response_status_count/404']).toBe(1)
    expect(asked).toEqual([])
  })

  test('one that extends the built-in handler leaves it what it does not fetch itself', async () => {
    const { items } = await crawled(`yield new Request('${origin}/'); yield new Request('${origin}/live')`, {
      DOWNLOAD_HANDLERS: { http: './saved-first.ts#SavedFirst', https: './saved-first.ts#SavedFirst' },
    })
    expect(items).toHaveLength(2)
    expect(items).toContainEqual({ url: `${origin}/`, title: 'of the archive' })
    expect(items).toContainEqual({ url: `${origin}/live`, title: 'of the site' })
    expect(asked).toEqual(['/live'])
  })

  test('Scrapy’s classes are refused before anything is fetched, with what to type instead', async () => {
    const { code, log } = await crawled(`yield new Request('${origin}/')`, {
      DOWNLOAD_HANDLERS: { https: 'scrapy.core.downloader.handlers.http.HTTPDownloadHandler' },
    })
    expect(code).toBe(2)
    expect(log).toContain("Scrapy's handlers are Python: leave https out, and the built-in one is used")
    expect(asked).toEqual([])
  })

  test('data: is read from the URL; file: where FILE_URLS_ALLOWED names its folder', async () => {
    writeFileSync(folder.join('archive', 'page.html'), '<title>of a file</title>')
    const file = pathToFileURL(folder.join('archive', 'page.html')).href
    const start = `yield new Request('data:text/html,<title>of%20the%20URL</title>'); yield new Request('${file}')`
    const refused = await crawled(start, {})
    expect(refused.items).toMatchObject([{ title: 'of the URL' }])
    expect(refused.code).toBe(0)
    const { items } = await crawled(start, {
      FILE_URLS_ALLOWED: [folder.join('archive')],
      ROBOTSTXT_OBEY: true,
    })
    expect(items).toContainEqual({ url: file, title: 'of a file' })
    expect(items).toHaveLength(2)
  })
})

test('a middleware with alsoForRobotsTxt chooses the proxy of pages and of robots.txt', async () => {
  const proxied: string[] = []
  const proxy = createServer((req, res) => {
    proxied.push(req.url!)
    if (req.url!.endsWith('/robots.txt')) res.writeHead(404).end()
    else res.writeHead(200, { 'content-type': 'text/html' }).end('<title>by the proxy</title>')
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { items } = await crawled(`yield new Request('${origin}/')`, {
    DOWNLOADER_MIDDLEWARES: { './one-proxy.ts#OneProxy': 740 },
    CUSTOM_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    ROBOTSTXT_OBEY: true,
  })
  expect(asked, 'nothing goes past the proxy').toEqual([])
  expect(proxied).toEqual([`${origin}/robots.txt`, `${origin}/`])
  expect(items).toMatchObject([{ title: 'by the proxy' }])
  await new Promise((resolve) => proxy.close(resolve))
})

describe('the HTTP cache', () => {
  const CACHE = { HTTPCACHE_ENABLED: true, HTTPCACHE_DIR: 'cache' }
  const once = () => `yield new Request('${origin}/')`
  const twice = () => `for (const n of [1, 2]) yield new Request('${origin}/', { dontFilter: true })`

  test('HTTPCACHE_POLICY takes a policy of one’s own, which holds on to what the built-in one lets go', async () => {
    const built = { ...CACHE, HTTPCACHE_POLICY: 'scrapy.extensions.httpcache.RFC2616Policy' }
    for (let n = 0; n < 2; n++) await crawled(once(), built)
    expect(asked).toHaveLength(2)
    const own = { ...CACHE, HTTPCACHE_POLICY: './day-policy.ts#DayPolicy' }
    await crawled(once(), own)
    const { stats, items } = await crawled(once(), own)
    expect(asked).toHaveLength(3)
    expect(stats['httpcache/hit']).toBe(1)
    expect(items).toMatchObject([{ title: 'of the site' }])
  })

  test('HTTPCACHE_STORAGE takes a storage of one’s own', async () => {
    const own = { ...CACHE, HTTPCACHE_STORAGE: './brief-storage.ts#BriefStorage', CONCURRENT_REQUESTS: 1 }
    const { stats, items } = await crawled(twice(), own)
    expect(items).toHaveLength(2)
    expect(asked).toHaveLength(1)
    expect(stats['httpcache/hit']).toBe(1)
    await crawled(once(), own)
    expect(asked).toHaveLength(2)
  })

  test('a storage of one’s own passes the suite of storages', async () => {
    // ./brief-storage.test.ts#, as a user runs it
    const { code, stdout } = await runProcess(process.execPath, ['--test', 'brief-storage.test.ts'], {
      cwd: folder.path,
    })
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('pass') })
  })

  test('a class of Python, and one that lacks a method, are refused before anything is fetched', async () => {
    const python = await crawled(once(), { ...CACHE, HTTPCACHE_STORAGE: 'myproject.cache.LeveldbStorage' })
    expect(python.code).toBe(2)
    expect(python.log).toContain("./file.ts#Export; myproject.cache.LeveldbStorage is Python's")
    writeFileSync(folder.join('half.ts'), 'export class Half { mayStore() { return true } }')
    const half = await crawled(once(), { ...CACHE, HTTPCACHE_POLICY: './half.ts#Half' })
    expect(half.code).not.toBe(0)
    expect(half.log).toContain('HTTP cache policy Half (HTTPCACHE_POLICY) has no mayCacheRequest')
    expect(asked).toEqual([])
  })
})

describe('FEED_STORAGES and FEED_EXPORTERS', () => {
  const files = new Map<string, string>()
  let status = 201
  let webFolder: Server
  let at: string

  beforeEach(async () => {
    files.clear()
    status = 201
    webFolder = createServer(async (req, res) => {
      if (req.method === 'HEAD') {
        res.writeHead(files.has(req.url!) ? 200 : 404).end()
        return
      }
      const sent = await text(req)
      if (status === 201) files.set(req.url!, sent)
      res.writeHead(status).end()
    })
    await new Promise<void>((resolve) => webFolder.listen(0, '127.0.0.1', resolve))
    at = `http://127.0.0.1:${(webFolder.address() as AddressInfo).port}`
  })
  afterEach(async () => {
    webFolder.closeAllConnections()
    await new Promise((resolve) => webFolder.close(resolve))
  })

  const once = () => `yield new Request('${origin}/')`
  const FEED_STORAGES = { http: './web-folder.ts#WebFolder' }
  const line = () => `${JSON.stringify({ url: `${origin}/`, title: 'of the site' })}\n`

  test('a storage of one’s own gets the whole output, in any format, and replaces only what it may', async () => {
    const own = { FEED_STORAGES, FEED_EXPORTERS: { md: './markdown.ts#Markdown' } }
    const withLogin = at.replace('://', '://bob:s3cr3tpw@')
    const outputs = ['-o', `${at}/%(name)s.jsonl`, '-o', `${withLogin}/out.md`]
    const { code, stats } = await crawled(once(), own, outputs)
    expect(code).toBe(0)
    const made = { '/reader.jsonl': line(), '/out.md': '* of the site\n' }
    expect(Object.fromEntries(files)).toEqual(made)
    expect(stats['feedexport/success_count/WebFolder']).toBe(2)
    const again = await crawled(once(), own, outputs)
    expect(again.code).toBe(2)
    expect(again.log).toContain('it holds something; use -O')
    expect(again.log).not.toContain('s3cr3tpw')
    expect(Object.fromEntries(files), 'nothing was touched').toEqual(made)
    expect(asked).toEqual(['/'])
  })

  test('what it cannot store stays on this machine, and the crawl fails', async () => {
    status = 507
    const { code, log } = await crawled(once(), { FEED_STORAGES }, ['-o', `${at}/out.jsonl`])
    expect(code).toBe(1)
    expect(log).toContain('the server answered PUT with 507')
    const spool = globSync('.webloom/feeds/http/**/out.jsonl.spool', { cwd: folder.path })
    expect(spool).toHaveLength(1)
    expect(readFileSync(folder.join(spool[0]!), 'utf8')).toBe(line())
  })

  test('Scrapy’s classes, a class without store, and a scheme that was taken out are refused before anything is fetched', async () => {
    const python = { ftp: 'scrapy.extensions.feedexport.FTPFeedStorage' }
    const refused = await crawled(once(), { FEED_STORAGES: python })
    expect(refused.code).toBe(2)
    expect(refused.log).toContain("Scrapy's storages are Python: write one with a method store(uri, output)")
    writeFileSync(folder.join('half.ts'), 'export class Half { put() {} }')
    const half = await crawled(once(), { FEED_STORAGES: { ftp: './half.ts#Half' } })
    expect(half.code).toBe(2)
    expect(half.log).toContain('feed storage Half (FEED_STORAGES) has no store')
    const out = await crawled(once(), { FEED_STORAGES: { s3: null } }, ['-o', 's3://bucket/out.jsonl'])
    expect(out.code).toBe(2)
    expect(out.log).toContain('FEED_STORAGES sets s3 to null')
    expect(asked).toEqual([])
  })
})

describe('STATS_CLASS', () => {
  test('takes a collector of one’s own', async () => {
    const { stats } = await crawled(`yield new Request('${origin}/')`, {
      STATS_CLASS: './noted-stats.ts#NotedStats',
    })
    expect(readFileSync(folder.join('crawls.txt'), 'utf8')).toBe('finished after 1 pages\n')
    expect(stats).toMatchObject({ finish_reason: 'finished', response_received_count: 1 })
  })

  test('EXTENSIONS: one that tells of slow hosts at the end', async () => {
    const { log } = await crawled(`yield new Request('${origin}/slow')`, {
      EXTENSIONS: [['./slow-hosts.ts#SlowHosts', 500]],
    })
    const told = log.split('\n').filter((line) => line.includes('a slow host'))
    expect(told.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ host: new URL(origin).host, latencyMs: expect.any(Number) }),
    ])
  })

  test('Scrapy’s memory collector is ours; its dummy one is refused', async () => {
    const start = `yield new Request('${origin}/')`
    const memory = await crawled(start, { STATS_CLASS: 'scrapy.statscollectors.MemoryStatsCollector' })
    expect(memory.code).toBe(0)
    const dummy = await crawled(start, { STATS_CLASS: 'scrapy.statscollectors.DummyStatsCollector' })
    expect(dummy.code).toBe(2)
    expect(dummy.log).toContain("scrapy.statscollectors.DummyStatsCollector is Python's")
    expect(asked).toEqual(['/'])
  })
})

describe('SPIDER_LOADER_CLASS', () => {
  const webloom = (...words: string[]) => commands.run(words, { cwd: folder.path })
  const withLoader = (loader: string) => {
    const settings = { SPIDER_LOADER_CLASS: loader, ROBOTSTXT_OBEY: false }
    writeFileSync(
      folder.join('webloom.config.mjs'),
      `export default { settings: ${JSON.stringify(settings)} }`,
    )
    writeFileSync(folder.join('shops.txt'), `shoes ${origin}/shoes\nhats ${origin}/hats\n`)
  }

  test('takes a loader of one’s own, which lists the spiders and finds one by its name', async () => {
    withLoader('./shop-loader.ts#ShopLoader')
    expect((await webloom('list')).stdout).toBe('shoes\nhats\n')
    const { code, stdout } = await webloom('crawl', 'hats', '-o', '-:jsonl', '--nolog')
    expect(code).toBe(0)
    expect(stdout).toContain('{"shop":"hats","title":"of the site"}')
    expect(asked).toEqual(['/hats'])
    const { stderr } = await webloom('crawl', 'shoe')
    expect(stderr).toContain('there is no spider "shoe". Did you mean shoes? Spiders here: shoes, hats.')
  })

  test('by the command line, too, and Scrapy’s own is that of the project', async () => {
    withLoader('scrapy.spiderloader.SpiderLoader')
    mkdirSync(folder.join('spiders'))
    const own = ['-s', 'SPIDER_LOADER_CLASS=./shop-loader.ts#ShopLoader']
    expect(await webloom('list')).toMatchObject({
      stdout: '',
      stderr: expect.stringMatching(/^There are no spiders in spiders, .*webloom genspider/),
    })
    expect((await webloom('list', ...own)).stdout).toBe('shoes\nhats\n')
    expect((await webloom('crawl', 'hats', '--nolog', ...own)).code).toBe(0)
    expect(asked).toEqual(['/hats'])
  })

  test('needs no webloom.config.ts', async () => {
    withLoader('project')
    rmSync(folder.join('webloom.config.mjs'))
    const own = ['-s', 'SPIDER_LOADER_CLASS=./shop-loader.ts#ShopLoader']
    expect((await webloom('list', ...own)).stdout).toBe('shoes\nhats\n')
    expect((await webloom('crawl', 'hats', '--nolog', '-s', 'ROBOTSTXT_OBEY=false', ...own)).code).toBe(0)
    expect(asked).toEqual(['/hats'])
  })

  test('a class of Python, one that lacks a method, and one that fails are refused with what to do', async () => {
    withLoader('./shop-loader.ts#ShopLoader')
    rmSync(folder.join('shops.txt'))
    const broken = await webloom('crawl', 'shoes')
    expect(broken.code).toBe(2)
    const loaders =
      'export class Half { list() { return [] } }\nexport class Old { static from_settings() {} }'
    writeFileSync(folder.join('loaders.ts'), loaders)
    const refused = async (loader: string, ...words: string[]) =>
      (await webloom(...words, '-s', `SPIDER_LOADER_CLASS=${loader}`)).stderr
    expect(await refused('myproject.loaders.ShopLoader', 'list')).toContain(
      "./file.ts#Export; myproject.loaders.ShopLoader is Python's",
    )
    expect(await refused('./loaders.ts#Half', 'crawl', 'hats')).toContain(
      'spider loader Half (SPIDER_LOADER_CLASS) has no load',
    )
    expect(await refused('./loaders.ts#Old', 'list')).toContain(
      'Old has static from_settings; here it is called fromSettings',
    )
    expect(broken.stderr).toContain('the spider loader ShopLoader (SPIDER_LOADER_CLASS) failed: ENOENT')
  })
})

test('wrong entries of several settings are told at once, each with its setting, its entry and what to write', async () => {
  await using project = await ownProject(commands)
  writeFileSync(project.folder.join('mine.ts'), 'export class Mine {}')
  const { code, log } = await project.crawled('', {
    DOWNLOAD_HANDLERS: { aa: './nope.ts#Mine', bb: './mine.ts' },
    FEED_EXPORTERS: { cc: './mine.ts#Min' },
  })
  expect(code).toBe(2)
  expect(log).toContain(
    'DOWNLOAD_HANDLERS["aa"] names "./nope.ts#Mine", which cannot be loaded: there is no file',
  )
  expect(log).toContain(
    'DOWNLOAD_HANDLERS["bb"] names the file "./mine.ts"; say which of its exports is meant',
  )
  expect(log).toContain('FEED_EXPORTERS["cc"] names "./mine.ts#Min", which cannot be loaded')
  expect(log).toContain('Did you mean Mine?')
})
