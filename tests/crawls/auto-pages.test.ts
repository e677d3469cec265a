/** Pages whose form is left to the crawl (`meta.browser: 'auto'`): what counts of a page that was fetched in both. */

import { expect, test } from 'vitest'
import { CloseSpider, crawl, DownloadError, Request, Response, type SettingsInput, Spider } from 'webloom'
import { listeningLogger } from './crawl-web.ts'

type Answer = string | { html?: string; status?: number; headers?: Record<string, string> }

/** A page in both forms. What is no answer is an error. */
interface Page {
  readonly http: Answer
  readonly rendered?: Answer
}

/** Crawls pages that need no network, by a handler of each form. */
async function crawled(
  pages: Readonly<Record<string, Page>>,
  Class: typeof Spider,
  starts: readonly string[] = Object.keys(pages),
  own: SettingsInput = {},
) {
  const asked: string[] = []
  const handler = (form: keyof Page) =>
    class {
      async download(request: Request, { onStart }: { onStart(): void }) {
        onStart()
        const { pathname } = new URL(request.url)
        asked.push(`${form} ${pathname} ${request.headers.get('cookie') ?? ''}`.trim())
        const answer = pages[pathname]?.[form]
        if (answer === undefined) throw new DownloadError('DownloadFailedError', 'it cannot be fetched')
        const {
          html = '',
          status = 200,
          headers = {},
        } = typeof answer === 'string' ? { html: answer } : answer
        return new Response(request.url, {
          status,
          headers: { 'content-type': 'text/html', ...headers },
          body: html,
          request,
        })
      }
    }
  class OfPages extends Class {
    override *start() {
      for (const path of starts)
        yield new Request(`http://a.example${path}`, {
          meta: { browser: 'auto' },
          cbKwargs: { seen: [] },
          dontFilter: true,
        })
    }
  }
  const items: unknown[] = []
  const { logger, lines } = listeningLogger()
  const result = await crawl(OfPages as never, {
    settings: {
      DOWNLOAD_HANDLERS: { http: handler('http'), browser: handler('rendered') } as never,
      CONCURRENT_REQUESTS: 1,
      RETRY_ENABLED: false,
      ...own,
    },
    logger,
    onItem: (item) => items.push(item),
  })
  return { ...result, items, asked, lines }
}

class Texts extends Spider {
  override name = 'texts'

  override *parse(response: Response, { seen }: { seen?: number[] } = {}): Generator<unknown> {
    this.crawler.stats.inc('mine/pages')
    if (seen?.push(1) === 2) throw new Error('the other run has been here')
    const text = response.css('p::text').get()
    if (text === 'throws') throw new Error('as it was told')
    if (text === 'closes') throw new CloseSpider('told_to')
    if (text) yield { path: new URL(response.url).pathname, text }
    yield* response.followAll('a', { meta: { browser: 'auto' } })
  }
}

const drawn = (text: string): Page => ({ http: '<p>loading', rendered: `<p>${text}` })

test('only the run that is handed on has counted, logged and set cookies', async () => {
  const cookie = (form: string) => ({
    html: `<p>${form}</p><a href=/2>`,
    headers: { 'set-cookie': `form=${form}; Path=/` },
  })
  const { items, asked, stats } = await crawled(
    { '/1': { http: cookie('http'), rendered: cookie('rendered') }, '/2': drawn('two') },
    Texts,
    ['/1'],
  )
  expect(items).toEqual([
    { path: '/1', text: 'rendered' },
    { path: '/2', text: 'two' },
  ])
  // The second form is fetched with the cookies that the first one had.
  expect(asked).toEqual(['http /1', 'rendered /1', 'http /2 form=rendered', 'rendered /2 form=rendered'])
  expect(stats).toMatchObject({ 'mine/pages': 2, 'browser/auto/rendered': 2, 'browser/auto/probes': 2 })
  expect(stats['browser/auto/undecided']).toBeUndefined()
})

test('what fails is not a verdict: the browser, a callback that throws for one form, a status', async () => {
  const { items, stats, lines } = await crawled(
    {
      '/p/1': { http: '<p>no browser' },
      '/p/2': { http: '<p>throws', rendered: '<p>drawn' },
      '/p/3': { http: '<p>over HTTP', rendered: '<p>throws' },
      '/p/4': { http: { html: '<p>refused', status: 403 }, rendered: '<p>let in' },
      '/p/5': { http: '<p>throws', rendered: '<p>throws' },
      '/p/6': drawn('still probed'),
    },
    Texts,
  )
  expect(items.map((item) => (item as { text: string }).text)).toEqual([
    'no browser',
    'drawn',
    'over HTTP',
    'let in',
    'still probed',
  ])
  expect(stats).toMatchObject({
    'browser/auto/probes': 6,
    'browser/auto/undecided': 5,
    'spider_exceptions/count': 1,
    'mine/pages': 6,
  })
  expect(lines.filter(({ message }) => message.includes('the callback threw'))).toHaveLength(1)
})

test('a page that its browser leads elsewhere is that other page where HTTP brings nothing', async () => {
  const leads = { status: 302, headers: { location: '/target' } }
  const { items } = await crawled(
    {
      '/stub/1': { http: '', rendered: leads },
      '/full/1': { http: '<p>full', rendered: leads },
      '/target': { http: '<p>target', rendered: '<p>target' },
    },
    Texts,
    ['/stub/1', '/full/1'],
  )
  expect(items).toHaveLength(2)
  expect(items).toEqual(
    expect.arrayContaining([
      { path: '/full/1', text: 'full' },
      { path: '/target', text: 'target' },
    ]),
  )
})

test('a callback that ends the crawl ends it in the form that counts', async () => {
  const { finishReason, items } = await crawled({ '/1': { http: '<p>x', rendered: '<p>closes' } }, Texts)
  expect([finishReason, items]).toEqual(['told_to', []])
})

test('output that is too much to keep is handed on as it comes, once', async () => {
  class Many extends Texts {
    override *parse(response: Response) {
      const count = Number(response.css('p::text').get())
      for (let n = 0; n < count; n++) yield { n, path: new URL(response.url).pathname }
    }
  }
  const { items, stats } = await crawled(
    { '/1': { http: '<p>25', rendered: '<p>30' }, '/2': { http: '<p>5', rendered: '<p>25' } },
    Many,
    ['/1', '/2'],
    { CALLBACK_OUTPUT_MAX: 10 },
  )
  const of = (path: string) => items.filter((item) => (item as { path: string }).path === path)
  expect([of('/1').length, of('/2').length]).toEqual([25, 25])
  expect(stats).toMatchObject({ item_scraped_count: 50, 'browser/auto/http': 1, 'browser/auto/rendered': 1 })
})

test('what is not a page, and what is not a GET, is fetched once and over HTTP', async () => {
  const json = { html: '{}', headers: { 'content-type': 'application/json' } }
  class Sends extends Texts {
    override *parse(response: Response): Generator<unknown> {
      yield { path: new URL(response.url).pathname }
      if (response.url.endsWith('/data'))
        yield new Request('http://a.example/form', { method: 'POST', meta: { browser: 'auto' } })
    }
  }
  const { asked, stats } = await crawled(
    { '/data': { http: json, rendered: json }, '/form': { http: '<p>sent', rendered: '<p>sent' } },
    Sends,
    ['/data'],
  )
  expect(asked).toEqual(['http /data', 'http /form'])
  expect(stats['browser/auto/http']).toBe(2)
})
