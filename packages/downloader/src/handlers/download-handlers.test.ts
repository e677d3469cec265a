import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  type Crawler,
  DownloadError,
  type DownloadHandler,
  IgnoreRequest,
  Request,
  Response,
  type ResponseInit,
  Settings,
  SettingsError,
  silentLogger,
} from '@webloom/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { testCrawler } from '../../testing/fetching.ts'
import { LocalSite } from '../../testing/local-site.ts'
import { HttpDownloadHandler } from '../http/http-download-handler.ts'
import { downloadHandlersOf, handlerFor } from './download-handlers.ts'
import { FileDownloadHandler } from './file-download-handler.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'webloom-handlers-'))
})
afterEach(() => rm(folder, { recursive: true }))

class Named implements DownloadHandler {
  readonly name: string
  constructor(name = 'made by new') {
    this.name = name
  }
  async download(request: Request): Promise<Response> {
    return new Response(request.url, { body: this.name, request })
  }
}

class FromCrawler extends Named {
  static fromCrawler(crawler: Crawler) {
    return new FromCrawler(`of ${crawler.spider.name}`)
  }
}

/** The text of the answer, or the error. */
async function got(request: Request | string, settings: object = {}): Promise<unknown> {
  const asked = typeof request === 'string' ? new Request(request) : request
  try {
    const handlers = downloadHandlersOf(testCrawler(settings))
    const options = { signal: new AbortController().signal, onStart() {} }
    return (await handlerFor(asked, handlers).download(asked, options)).text
  } catch (error) {
    return error
  }
}

describe('DOWNLOAD_HANDLERS', () => {
  test('a scheme has its handler; a name is asked for by meta.download_handler', async () => {
    const settings = { DOWNLOAD_HANDLERS: { ftp: Named, browser: FromCrawler } }
    expect(await got('ftp://x.example/', settings)).toBe('made by new')
    const named = new Request('https://x.example/', { meta: { download_handler: 'browser' } })
    expect(await got(named, settings)).toBe('of test')
  })

  test('one handler of HTTP has http and https, and makes what callbacks expect', async () => {
    const made: string[] = []
    const createResponse = (url: string, init: ResponseInit) => {
      made.push(url)
      return new Response(url, init)
    }
    const { http, https } = downloadHandlersOf({
      ...testCrawler({ PRIVATE_ADDRESSES_ALLOWED: ['*'] }),
      createResponse,
    })
    expect(http).toBe(https)
    const site = await LocalSite.start()
    const { signal } = new AbortController()
    await http!.download(new Request(`${site.origin}/`), { signal, onStart() {} })
    expect(made).toEqual([`${site.origin}/`])
    await http!.close?.()
    await site.close()
  })

  test('a class that has several names is made once, and a built-in one that none has is not made', async () => {
    class Browser extends HttpDownloadHandler {}
    const settings = { DOWNLOAD_HANDLERS: { http: Browser, https: Browser }, DOWNLOAD_BIND_ADDRESS: null }
    const { http, https } = downloadHandlersOf(testCrawler(settings))
    expect(http).toBeInstanceOf(Browser)
    expect(http).toBe(https)
    const wrong = { DOWNLOAD_BIND_ADDRESS: 'nowhere' }
    expect(() => downloadHandlersOf(testCrawler(wrong))).toThrow('DOWNLOAD_BIND_ADDRESS')
    const without = { ...wrong, DOWNLOAD_HANDLERS: { http: null, https: Named } }
    expect(Object.keys(downloadHandlersOf(testCrawler(without)))).toEqual(['https', 'data', 'file'])
  })

  test('a class takes the place of a built-in handler, and null takes it out', async () => {
    const settings = { DOWNLOAD_HANDLERS: { https: Named, http: null } }
    expect(await got('https://x.example/', settings)).toBe('made by new')
    expect(await got('http://x.example/', settings)).toMatchObject({ kind: 'UnsupportedURLSchemeError' })
  })

  test('what has no handler says which there are, also for words that every object knows', async () => {
    for (const request of [
      'gopher://x.example/',
      'constructor://x/',
      new Request('http://x.example/', { meta: { download_handler: 'toString' } }),
    ]) {
      const error = await got(request)
      expect(error).toBeInstanceOf(DownloadError)
      expect((error as Error).message).toContain('there are http, https, data, file')
    }
  })

  test.each([
    ['ftp://', 'ftp'],
    ['mem:', 'mem'],
    ['HTTPS', 'https'],
    ['FTP:', 'ftp'],
  ])('%s would never be asked, and is refused with the name to write', (name, meant) => {
    expect(() => downloadHandlersOf(testCrawler({ DOWNLOAD_HANDLERS: { [name]: Named } }))).toThrow(
      `DOWNLOAD_HANDLERS names "${name}", which no URL begins with; write "${meant}"`,
    )
  })

  test('all that is not a handler is refused at once, with the line to type', () => {
    const DOWNLOAD_HANDLERS = {
      http: 'scrapy.core.downloader.handlers.http.HTTPDownloadHandler',
      ftp: 21,
      s3: 'scrapy.core.downloader.handlers.s3.S3DownloadHandler',
    }
    const refused = () => downloadHandlersOf(testCrawler({ DOWNLOAD_HANDLERS }))
    expect(refused).toThrow(SettingsError)
    expect(refused).toThrow("Scrapy's handlers are Python: leave http out")
    expect(refused).toThrow(
      "Scrapy's handlers are Python: write one with a method download(request, options)",
    )
    expect(refused).not.toThrow('leave s3 out')
    expect(refused).toThrow('DOWNLOAD_HANDLERS has 21 for ftp; expected a class, ./file.ts#Export, or null')
    expect(() => downloadHandlersOf(testCrawler({ DOWNLOAD_HANDLERS: { ftp: class Fetcher {} } }))).toThrow(
      'download handler Fetcher (DOWNLOAD_HANDLERS) has no download',
    )
  })
})

test.each([
  ['data:,a%20b', 'a b'],
  ['data:text/html;charset=utf-8,%3Ctitle%3Eé%3C/title%3E', '<title>é</title>'],
  ['data:text/html;base64,PGI+aGk8L2I+', '<b>hi</b>'],
  ['data:text/plain;charset=iso-8859-1,%E9', 'é'],
])('%s is %s', async (url, text) => {
  expect(await got(url)).toBe(text)
})

test('DOWNLOAD_MAXSIZE bounds what a data: URL holds, but not what meta.download_maxsize allows', async () => {
  const url = `data:,${'a'.repeat(1000)}`
  expect(await got(url, { DOWNLOAD_MAXSIZE: 1000 })).toHaveLength(1000)
  const error = await got(url, { DOWNLOAD_MAXSIZE: 999 })
  expect(error).toMatchObject({ kind: 'DownloadTooLargeError' })
  expect((error as Error).message.length).toBeLessThan(200)
  const wider = new Request(url, { meta: { download_maxsize: 2000 } })
  expect(await got(wider, { DOWNLOAD_MAXSIZE: 999 })).toHaveLength(1000)
})

test('a data: URL that is none is not tried again, and the message shows its beginning', async () => {
  const error = await got(`data:text/html${';a=b'.repeat(10_000)}`)
  const { kind } = error as DownloadError
  expect(kind).toBe('ResponseDecodeError')
  expect(Settings.fromLayers({}).getList('RETRY_EXCEPTIONS')).not.toContain(kind)
  expect((error as Error).message.length).toBeLessThan(200)
})

test.each([
  ['HTTP', '"HTTP"; there are .*Did you mean http or https\\?'],
  [['http'], '\\["http"\\]; there are '],
  [5, '5; there are '],
])(
  'meta.download_handler %j names no handler, and the message says what may be meant',
  async (name, told) => {
    const error = await got(new Request('http://127.0.0.1:1/', { meta: { download_handler: name } }))
    expect(error).toMatchObject({ kind: 'UnsupportedURLSchemeError' })
    expect((error as Error).message).toMatch(new RegExp(`meta.download_handler is ${told}`))
  },
)

test.each([
  ['data', 'http://127.0.0.1:1/'],
  ['data', 'file:///etc/hostname'],
  ['file', 'http://127.0.0.1:1/'],
])('the handler of %s: URLs refuses %s, to which meta.download_handler leads it', async (name, url) => {
  const request = new Request(url, { meta: { download_handler: name } })
  expect(await got(request)).toMatchObject({ kind: 'UnsupportedURLSchemeError' })
})

describe('file: URLs', () => {
  const urlOf = (...path: string[]) => pathToFileURL(join(folder, ...path)).href

  beforeEach(async () => {
    await mkdir(join(folder, 'in'))
    await mkdir(join(folder, 'inside'))
    for (const path of ['in/a b.html', 'inside/secret', 'secret']) await writeFile(join(folder, path), path)
    symlinkSync(join(folder, 'secret'), join(folder, 'in', 'link'))
  })

  test('are refused where FILE_URLS_ALLOWED is empty', async () => {
    const error = await got(urlOf('in', 'a b.html'))
    expect(error).toBeInstanceOf(IgnoreRequest)
    expect(error).toMatchObject({ code: 'WL_ADDRESS_REFUSED' })
    expect((error as Error).message).toContain('FILE_URLS_ALLOWED=')
  })

  test('are read from the folders that it names, and from nowhere else', async () => {
    const settings = { FILE_URLS_ALLOWED: [join(folder, 'in')] }
    expect(await got(urlOf('in', 'a b.html'), settings)).toBe('in/a b.html')
    for (const url of [
      urlOf('secret'),
      urlOf('inside', 'secret'),
      urlOf('in', 'link'),
      `${urlOf('in')}/../secret`,
      `${urlOf('in')}/%2e%2e/secret`,
      `${urlOf('in')}/..%2fsecret`,
      'file://other.example/etc/passwd',
      'file:///nowhere',
    ])
      expect(await got(url, settings), url).toBeInstanceOf(IgnoreRequest)
  })

  test('a refused one is counted, and told once', async () => {
    const lines: string[] = []
    const logger = { ...silentLogger, warn: (_: object, text: string) => void lines.push(text) }
    const crawler = { ...testCrawler(), logger }
    const handler = FileDownloadHandler.fromCrawler(crawler as never)
    const options = { signal: new AbortController().signal, onStart() {} }
    for (let n = 0; n < 3; n++)
      await expect(handler.download(new Request(urlOf('secret')), options)).rejects.toThrow(IgnoreRequest)
    expect(crawler.stats.get('downloader/protection/file_url')).toBe(3)
    expect(lines).toEqual([expect.stringContaining('a request leads to a file of this machine')])
  })

  test.each([
    ['/srv/pages,', '[1] is ""'],
    [['.', ' '], '[1] is " "'],
    ['/nowhere', '[0] is "/nowhere", which cannot be used: ENOENT'],
    ['/dev/null', '[0] is "/dev/null", which is neither'],
  ])('FILE_URLS_ALLOWED=%j is refused', async (FILE_URLS_ALLOWED, problem) => {
    const error = await got(urlOf('secret'), { FILE_URLS_ALLOWED })
    expect(error).toBeInstanceOf(SettingsError)
    expect((error as Error).message).toContain(`FILE_URLS_ALLOWED${problem}`)
  })

  test('a pipe is not a file, and nobody waits for its writer', async () => {
    execFileSync('mkfifo', [join(folder, 'in', 'pipe')])
    const error = await got(urlOf('in', 'pipe'), { FILE_URLS_ALLOWED: [folder] })
    expect(error).toMatchObject({ kind: 'DownloadFailedError' })
    expect((error as Error).message).toContain('it is not a file')
  })

  test('DOWNLOAD_MAXSIZE bounds what is read, also of a file that says it is empty', async () => {
    const url = 'file:///proc/self/maps'
    const settings = { FILE_URLS_ALLOWED: ['/proc'] }
    expect(await got(url, { ...settings, DOWNLOAD_MAXSIZE: 100 })).toMatchObject({
      kind: 'DownloadTooLargeError',
    })
    expect(await got(url, settings)).toContain('heap')
  })

  test('one file may be named; one that is missing, a folder and a large file are failed downloads', async () => {
    expect(await got(urlOf('secret'), { FILE_URLS_ALLOWED: [join(folder, 'secret')] })).toBe('secret')
    const settings = { FILE_URLS_ALLOWED: [folder], DOWNLOAD_MAXSIZE: 8 }
    expect(await got(urlOf('missing'), settings)).toMatchObject({ kind: 'DownloadFailedError' })
    expect(await got(urlOf('in'), settings)).toMatchObject({ kind: 'DownloadFailedError' })
    expect(await got(urlOf('in', 'a b.html'), settings)).toMatchObject({ kind: 'DownloadTooLargeError' })
    const wider = new Request(urlOf('in', 'a b.html'), { meta: { download_maxsize: 100 } })
    expect(await got(wider, settings)).toBe('in/a b.html')
  })
})
