/** The pipeline `files` in whole crawls, judged by what the server was asked for and what lies in the store. */

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { type TempDir, tempDir } from '@webloom/testkit'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type CrawlResult, crawl, Request, type SettingsInput, Spider } from 'webloom'
import { FilesPipeline } from 'webloom/ports'

interface Hit {
  readonly path: string
  readonly atMs: number
  readonly headers: IncomingMessage['headers']
}

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

let store: TempDir
let server: Server
let answers: Record<string, Answer>
let hits: Hit[]
beforeEach(async () => {
  store = await tempDir()
  hits = []
  answers = {}
  server = createServer((request, response) => {
    const path = request.url!
    hits.push({ path, atMs: performance.now(), headers: request.headers })
    const answer = answers[path]
    if (answer) answer(request, response)
    else if (path === '/') response.end('<p>the page')
    else if (path.startsWith('/file')) response.end(`content of ${path}`)
    else response.writeHead(404).end('no such file')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(async () => {
  server.closeAllConnections()
  server.close()
  await store[Symbol.asyncDispose]()
})

const urlOf = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
const askedFor = (path: string) => hits.filter((hit) => hit.path === path).length
const sha1 = (text: string) => createHash('sha1').update(text).digest('hex')
const md5 = (text: string | Buffer) => createHash('md5').update(text).digest('hex')
const inStore = (path: string) => readFileSync(join(store.path, path))
const unfinished = () => readdirSync(join(store.path, '.unfinished'))

interface Lot {
  file_urls: string[]
  files: { url: string; path: string; checksum: string; status: string }[]
}

/** Crawls one page that yields these items, and answers what became of them. */
async function crawlItems(
  items: object[],
  settings: SettingsInput = {},
  Pipeline: typeof FilesPipeline | string = 'files',
  signal?: AbortSignal,
): Promise<CrawlResult & { items: Lot[] }> {
  const scraped: Lot[] = []
  class Lots extends Spider {
    override name = 'lots'
    override startUrls = [urlOf('/')]
    override *parse(): Generator<object> {
      this.crawler.signals.connect('itemScraped', ({ item }) => void scraped.push(item as Lot))
      yield* items
    }
  }
  const result = await crawl(Lots, {
    ...(signal && { signal }),
    settings: {
      ITEM_PIPELINES: [[Pipeline, 1]],
      FILES_STORE: store.path,
      RETRY_TIMES: 1,
      RETRY_BACKOFF: 0,
      LOG_LEVEL: 'CRITICAL',
      ...settings,
    },
  })
  return { ...result, items: scraped }
}

test('an item gets its files; one that cannot be fetched is left out and counted', async () => {
  const urls = ['/file1.pdf', '/gone.pdf', '/file2?x'].map(urlOf)
  const { items, stats } = await crawlItems([{ name: 'a', file_urls: urls }])
  const paths = [`full/${sha1(urls[0]!)}.pdf`, `full/${sha1(urls[2]!)}`]
  expect(items).toEqual([
    {
      name: 'a',
      file_urls: urls,
      files: [
        { url: urls[0], path: paths[0], checksum: md5('content of /file1.pdf'), status: 'downloaded' },
        { url: urls[2], path: paths[1], checksum: md5('content of /file2?x'), status: 'downloaded' },
      ],
    },
  ])
  expect(paths.map((path) => inStore(path).toString())).toEqual([
    'content of /file1.pdf',
    'content of /file2?x',
  ])
  expect(unfinished()).toEqual([])
  expect(stats).toMatchObject({ file_count: 2, 'file_status_count/downloaded': 2, file_error_count: 1 })
})

test('a file in the store is not fetched again while it is younger than FILES_EXPIRES', async () => {
  const item = { file_urls: [urlOf('/file.zip')] }
  const first = await crawlItems([item, { file_urls: [...item.file_urls] }])
  expect(first.items).toHaveLength(2)
  expect(askedFor('/file.zip')).toBe(1)
  const again = await crawlItems([{ file_urls: [...item.file_urls] }])
  expect(again.items[0]!.files).toEqual([{ ...first.items[0]!.files[0], status: 'uptodate' }])
  expect(askedFor('/file.zip')).toBe(1)
  const twoDaysAgo = Date.now() / 1000 - 2 * 86_400
  utimesSync(join(store.path, first.items[0]!.files[0]!.path), twoDaysAgo, twoDaysAgo)
  const later = await crawlItems([{ file_urls: [...item.file_urls] }], { FILES_EXPIRES: 1 })
  expect(later.items[0]!.files[0]!.status).toBe('downloaded')
  expect(askedFor('/file.zip')).toBe(2)
})

test('a body goes to the disk as it comes, past the memory', async () => {
  const half = Buffer.alloc(3_000_000, 'x')
  let seenBytes = 0
  answers['/file.bin'] = async (_, response) => {
    response.writeHead(200, { 'content-length': half.length * 2 })
    response.write(half)
    // The rest is sent when the first half is on the disk, so a body that is kept in memory would never end.
    while (seenBytes < half.length) {
      const [name] = unfinished()
      if (name) seenBytes = statSync(join(store.path, '.unfinished', name)).size
      // Waits: between two looks.
      await sleep(5)
    }
    response.end(half)
  }
  const { items } = await crawlItems([{ file_urls: [urlOf('/file.bin')] }], { DOWNLOAD_TIMEOUT: 10 })
  expect(items[0]!.files[0]!.checksum).toBe(md5(Buffer.concat([half, half])))
  expect(inStore(items[0]!.files[0]!.path).length).toBe(6_000_000)
})

test('an answer that breaks off leaves nothing behind, and is asked for again', async () => {
  let tries = 0
  answers['/file.iso'] = (request, response) => {
    if (++tries === 1) {
      response.writeHead(200, { 'content-length': 100 })
      response.write('half of it', () => request.socket.destroy())
    } else response.end('whole')
  }
  const { items } = await crawlItems([{ file_urls: [urlOf('/file.iso')] }])
  expect(items[0]!.files[0]!.checksum).toBe(md5('whole'))
  expect(inStore(items[0]!.files[0]!.path).toString()).toBe('whole')
  expect(unfinished()).toEqual([])
})

test('a crawl that is stopped gives up what is under way; the page counts as not done', async () => {
  const stopping = new AbortController()
  answers['/file.iso'] = (_, response) => {
    response.write('half of it', () => stopping.abort())
  }
  const { finishReason, stats, items } = await crawlItems(
    [{ file_urls: [urlOf('/file.iso')] }],
    { SHUTDOWN_GRACE: 0.2 },
    'files',
    stopping.signal,
  )
  expect({ finishReason, items }).toEqual({ finishReason: 'shutdown', items: [] })
  expect(stats.item_error_count).toBeUndefined()
  await vi.waitUntil(() => unfinished().length === 0)
  expect(readdirSync(store.path)).toEqual(['.unfinished'])
})

test('what a killed process left unfinished is removed a day later', async () => {
  mkdirSync(join(store.path, '.unfinished'))
  for (const [name, hours] of [
    ['old', 25],
    ['young', 1],
  ] as const) {
    const at = Date.now() / 1000 - hours * 3600
    writeFileSync(join(store.path, '.unfinished', name), 'half')
    utimesSync(join(store.path, '.unfinished', name), at, at)
  }
  await crawlItems([])
  expect(unfinished()).toEqual(['young'])
})

test('what is larger than DOWNLOAD_MAXSIZE is not a file', async () => {
  answers['/file.iso'] = (_, response) => {
    response.write('x'.repeat(600))
    response.end('x'.repeat(600))
  }
  const { items } = await crawlItems([{ file_urls: [urlOf('/file.iso')] }], { DOWNLOAD_MAXSIZE: 1000 })
  expect(items[0]!.files).toEqual([])
  expect(unfinished()).toEqual([])
})

test('what has a longer URL than URLLENGTH_LIMIT is not asked for', async () => {
  const [long, short] = [urlOf(`/file${'/'.repeat(300_000)}`), urlOf('/file')]
  const { items, stats } = await crawlItems([{ file_urls: [long, short] }])
  expect(items[0]!.files.map(({ url }) => url)).toEqual([short])
  expect(stats).toMatchObject({ 'urllength/request_ignored_count': 1, file_error_count: 1 })
  expect(hits.map(({ path }) => path)).toEqual(['/', '/file'])
})

test('an encoded answer is unfolded', async () => {
  answers['/file.txt'] = (_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('plain'))
  const { items } = await crawlItems([{ file_urls: [urlOf('/file.txt')] }])
  expect(inStore(items[0]!.files[0]!.path).toString()).toBe('plain')
  expect(hits.at(-1)!.headers['accept-encoding']).toBe('identity')
})

test('files keep to their host’s pace, and go by the crawl’s middlewares', async () => {
  const paths = [1, 2, 3, 4].map((n) => `/file${n}`)
  const { items } = await crawlItems([{ file_urls: paths.map(urlOf) }], {
    DOWNLOAD_DELAY: 0.15,
    RANDOMIZE_DOWNLOAD_DELAY: false,
    USER_AGENT: 'lots-bot',
  })
  expect(items[0]!.files).toHaveLength(4)
  const files = hits.filter(({ path }) => path.startsWith('/file'))
  const gaps = files.slice(1).map(({ atMs }, index) => atMs - files[index]!.atMs)
  expect(Math.min(...gaps)).toBeGreaterThan(125)
  expect(new Set(files.map(({ headers }) => headers['user-agent']))).toEqual(new Set(['lots-bot']))
})

test('robots.txt holds for files', async () => {
  answers['/robots.txt'] = (_, response) => response.end('User-agent: *\nDisallow: /file')
  const { items } = await crawlItems([{ file_urls: [urlOf('/file.pdf')] }], { ROBOTSTXT_OBEY: true })
  expect(items[0]!.files).toEqual([])
  expect(askedFor('/file.pdf')).toBe(0)
})

test('CONCURRENT_MEDIA bounds the downloads that are under way', async () => {
  let underWay = 0
  let most = 0
  const paths = [1, 2, 3, 4, 5, 6].map((n) => `/file${n}`)
  for (const path of paths)
    answers[path] = async (_, response) => {
      most = Math.max(most, ++underWay)
      // Waits: so long a file takes: long enough for a third to be asked for, if it may.
      await sleep(30)
      underWay--
      response.end('x')
    }
  await crawlItems([{ file_urls: paths.map(urlOf) }], { CONCURRENT_MEDIA: 2 })
  expect(most).toBe(2)
})

describe('a redirect', () => {
  beforeEach(() => {
    answers['/moved.pdf'] = (_, response) => response.writeHead(302, { location: '/file.pdf' }).end()
  })

  test('is not a file', async () => {
    const { items } = await crawlItems([{ file_urls: [urlOf('/moved.pdf')] }])
    expect(items[0]!.files).toEqual([])
    expect(askedFor('/file.pdf')).toBe(0)
  })

  test('is followed with MEDIA_ALLOW_REDIRECTS; the file has the name of what was asked for', async () => {
    const { items } = await crawlItems([{ file_urls: [urlOf('/moved.pdf')] }], {
      MEDIA_ALLOW_REDIRECTS: true,
    })
    expect(items[0]!.files).toMatchObject([
      { url: urlOf('/moved.pdf'), path: `full/${sha1(urlOf('/moved.pdf'))}.pdf` },
    ])
  })
})

test('a subclass says what is fetched, where it goes, and what becomes of the item', async () => {
  class Covers extends FilesPipeline {
    override *mediaRequests(item: unknown) {
      for (const [name, path] of Object.entries((item as { covers: Record<string, string> }).covers))
        yield new Request(urlOf(path), { cbKwargs: { name } })
    }
    override filePath({ cbKwargs }: Request) {
      return `covers/${cbKwargs.name}.jpg`
    }
    override itemCompleted(outcomes: Parameters<FilesPipeline['itemCompleted']>[0]) {
      return { paths: outcomes.map((outcome) => (outcome.ok ? outcome.file.path : outcome.error.message)) }
    }
  }
  const covers = { front: '/file1', '../../out': '/file2', gone: '/gone' }
  const { items } = await crawlItems([{ covers }], {}, Covers)
  expect(items).toEqual([
    {
      paths: [
        'covers/front.jpg',
        'the path "covers/../../out.jpg" leads out of FILES_STORE',
        'its server answered 404',
      ],
    },
  ])
  expect(existsSync(join(store.path, '../out.jpg'))).toBe(false)
})

test('a store that cannot be written ends the crawl before anything is fetched; none at all is a wrong setting', async () => {
  writeFileSync(join(store.path, 'file'), '')
  const settings = { FILES_STORE: join(store.path, 'file', 'folder') }
  await expect(crawlItems([], settings)).rejects.toMatchObject({ code: 'WL_OUTPUT_UNWRITABLE' })
  await expect(crawlItems([], { FILES_STORE: null })).rejects.toThrow('Set FILES_STORE=files')
  await expect(crawlItems([], { FILES_STORE: 's3://bucket' })).rejects.toThrow('kept in a folder')
  expect(hits).toEqual([])
})
