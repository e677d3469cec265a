import { downloadHandlerContract } from '@webloom/core/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Browsing, Site } from '../testing/browsing.ts'

let site: Site
let browsing: Browsing
let spider: Steps

beforeAll(async () => {
  site = await Site.start()
  spider = new Steps()
  browsing = await Browsing.open({ spider })
})
afterAll(async () => {
  await browsing[Symbol.asyncDispose]()
  await site[Symbol.asyncDispose]()
})

/** A spider, as far as the handler knows it. */
class Steps {
  readonly name = 'steps'
  async title(page: { title(): Promise<string> }, request: { url: string }) {
    return { title: await page.title(), url: request.url }
  }
  *start() {}
  async fails() {
    throw new TypeError('no such thing')
  }
  async closes(page: { close(): Promise<void> }) {
    await page.close()
  }
  async circle() {
    const circle: { self?: object } = {}
    circle.self = circle
    return circle
  }
  async dated() {
    return { at: new Date() }
  }
  leave = async () => {}
  /** Waits in vain, after the site has gone. */
  async waits(page: WaitingPage) {
    await this.leave()
    await page.evaluate('fetch("/more").catch(() => {})')
    await page.waitForSelector('.never', { timeout: 300 })
  }
}

interface WaitingPage {
  evaluate(script: string): Promise<unknown>
  waitForSelector(selector: string, options: { timeout: number }): Promise<unknown>
}

const json = (value: unknown) => ({ type: 'application/json', body: JSON.stringify(value) })
const serve = (path: string, { type, body }: { type: string; body: string }) =>
  site.page(path, (_, answer) => answer.writeHead(200, { 'content-type': type }).end(body))

downloadHandlerContract(
  { describe, test },
  {
    name: 'BrowserDownloadHandler',
    create: async () => {
      const gone = await Site.start()
      const unansweredUrl = `${gone.origin}/`
      await gone[Symbol.asyncDispose]()
      const body = '<!DOCTYPE html><html><head></head><body><p>hällo</p></body></html>'
      const url = site.html('/page', body)
      return { subject: { handler: browsing.handler, url, body, unansweredUrl }, dispose: async () => {} }
    },
  },
)

describe('a rendered page', () => {
  test('is the final DOM, with the document’s status, headers and URL, and leaves once', async () => {
    serve('/api/name', json({ name: 'drawn' }))
    const url = site.html(
      '/spa',
      `<!doctype html><title>A</title><p id=p></p><script>
         fetch('/api/name').then((answer) => answer.json()).then(({ name }) => { p.textContent = name })
       </script>`,
      { 'x-own': 'yes', etag: '"1"' },
      203,
    )
    let left = 0
    const response = await browsing.visit(url, {}, { onStart: () => void left++ })
    expect(response.text).toMatch(/^<!DOCTYPE html>.*<p id="p">drawn<\/p>/s)
    expect([response.url, response.status, response.flags, left]).toEqual([url, 203, ['rendered'], 1])
    expect(response.headers.get('x-own')).toBe('yes')
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.request.meta.download_latency).toBeGreaterThan(0)
  })

  test('has what was asked for: screenshot, PDF, captured answers, errors, what was blocked, and what a method returned', async () => {
    serve('/api/list', json([1, 2]))
    const url = site.html(
      '/rich',
      `<title>Rich</title><img src="/a.png"><script>
         console.error('wrong'); fetch('/api/list'); setTimeout(() => { throw new Error('uncaught') })
       </script>`,
    )
    const browser = {
      screenshot: 'full',
      pdf: true,
      capture: ['/api/**'],
      block: ['image'],
      script: 'title',
    } as const
    const { browser: rendered } = await browsing.visit(url, { meta: { browser: browser as never } })
    expect(Buffer.from(rendered!.screenshot!).toString('latin1', 1, 4)).toBe('PNG')
    expect(Buffer.from(rendered!.pdf!).toString('latin1', 0, 5)).toBe('%PDF-')
    expect(rendered!.captured).toMatchObject([{ url: `${site.origin}/api/list`, status: 200, json: [1, 2] }])
    expect(rendered!.errors).toEqual(expect.arrayContaining(['wrong', 'Error: uncaught']))
    expect(rendered!.blocked).toEqual([{ url: `${site.origin}/a.png`, why: 'image' }])
    expect(rendered!.returned).toEqual({ title: 'Rich', url })
    expect(site.asked('/a.png')).toBe(0)
  })

  test('says which cookies of the jar the browser does not take, and has the others', async () => {
    const url = site.html('/jar', 'jar')
    await browsing.visit(url, { headers: { cookie: 'good=1; __Host-bad=1' } })
    expect(site.hits.findLast(({ path }) => path === '/jar')!.headers.cookie).toBe('good=1')
    expect(browsing.stats.get('browser/cookies_refused')).toBe(1)
  })

  test('is scrolled, filled and clicked first', async () => {
    const scrolled = site.html(
      '/scroll',
      `<style>p { height: 900px }</style><p>1</p><script>
         onscroll = () => { if (document.querySelectorAll('p').length < 5) document.body.append(Object.assign(document.createElement('p'), { textContent: 'more' })) }
       </script>`,
    )
    const all = await browsing.visit(scrolled, { meta: { browser: { scroll: true } } })
    expect(all.text.match(/<p>/g)).toHaveLength(5)
    const form = site.html(
      '/form',
      `<form action="/in"><input name=user><button>Go</button></form>
       <button id=more onclick="this.before('+'); if (++window.n === 3) this.remove()">More</button><script>n = 0</script>`,
    )
    site.page('/in', (asked, answer) =>
      answer.setHeader('content-type', 'text/html').end(`<b>${asked.url}</b>`),
    )
    const more = await browsing.visit(form, {
      meta: { browser: { click: { selector: '#more', times: 9 } } },
    })
    expect(more.text).toContain('+++')
    const sent = await browsing.visit(form, {
      meta: { browser: { fill: { '[name=user]': 'me' }, click: 'form button', waitFor: 'b' } },
    })
    expect(sent.url).toBe(`${site.origin}/in?user=me`)
    expect(sent.text).toContain('<b>/in?user=me</b>')
  })

  test('is scrolled to its end, where it waits a moment before it loads more', async () => {
    const url = site.html(
      '/later',
      `<style>p { height: 900px }</style><p>1</p><script>
         let timer
         onscroll = () => { clearTimeout(timer); timer = setTimeout(more, 250) }
         const more = () => { if (document.querySelectorAll('p').length < 5) document.body.append(document.createElement('p')) }
       </script>`,
    )
    const { text } = await browsing.visit(url, { meta: { browser: { scroll: true } } })
    expect(text.match(/<p>/g)).toHaveLength(5)
  })

  test('is taken when the element is there that it waits for, with what is still under way', async () => {
    site.page('/api/rest', (_, answer) => void setTimeout(() => answer.end('rest'), 700))
    const drawn = site.html(
      '/drawn',
      `<body><script>
         setTimeout(() => { document.body.innerHTML = '<p class=first>first</p>'; fetch('/api/rest').then((answer) => answer.text()).then((text) => document.body.append(text)) }, 300)
       </script>`,
    )
    const shadow = site.html(
      '/shadow',
      `<body><script>document.body.attachShadow({ mode: 'open' }).innerHTML = '<p class=deep>deep</p>'</script>`,
    )
    const visit = (url: string, waitFor: string) => browsing.visit(url, { meta: { browser: { waitFor } } })
    const pages = await Promise.all([
      visit(drawn, '.first'),
      visit(drawn, 'text=first'),
      visit(shadow, '.deep'),
    ])
    expect(pages.map(({ text }) => text.includes('rest'))).toEqual([true, true, false])
  })

  test('stays the page when a click begins a download', async () => {
    site.page('/file', (_, answer) =>
      answer
        .writeHead(202, { 'content-type': 'text/html', 'content-disposition': 'attachment', 'x-own': 'file' })
        .end('file'),
    )
    const url = site.html('/offers', '<a href="/file">file</a>', { 'x-own': 'page' })
    const response = await browsing.visit(url, { meta: { browser: { click: 'a' } } })
    expect(site.asked('/file')).toBe(1)
    expect([response.status, response.url, response.headers.get('x-own')]).toEqual([200, url, 'page'])
  })

  test('takes the request’s own headers, method and cookies, and gives back what cookies have changed', async () => {
    const url = site.page('/post', (asked, answer) => {
      let body = ''
      asked.on('data', (chunk) => (body += chunk))
      asked.on('end', () => {
        const seen = { body, method: asked.method, headers: asked.headers }
        answer
          .writeHead(200, { 'content-type': 'text/html', 'set-cookie': ['a=2; HttpOnly', 'd=1'] })
          .end(
            `<pre>${JSON.stringify(seen)}</pre><script>document.cookie = 'c=3'; document.cookie = 'd=5'; document.cookie = 'b=; Max-Age=0'</script>`,
          )
      })
    })
    const response = await browsing.visit(url, {
      method: 'POST',
      body: 'x=1',
      headers: {
        cookie: 'a=1; b=1; keep=1',
        authorization: 'Basic eDp5',
        'x-own': 'yes',
        'content-type': 'text/plain',
        'accept-encoding': 'gzip',
        'user-agent': 'Own/1.0',
      },
    })
    const seen = JSON.parse(/<pre>(.*)<\/pre>/.exec(response.text)![1]!.replaceAll('&amp;', '&'))
    expect(seen).toMatchObject({ body: 'x=1', method: 'POST' })
    expect(seen.headers).toMatchObject({
      authorization: 'Basic eDp5',
      'x-own': 'yes',
      'user-agent': 'Own/1.0',
      cookie: 'a=1; b=1; keep=1',
    })
    expect(seen.headers['accept-encoding']).not.toBe('gzip')
    const lines = response.headers.getAll('set-cookie').map((line) => line.split(';')[0])
    expect(lines.toSorted()).toEqual(['a=2', 'b=', 'c=3', 'd=5'])
  })
})

describe('what is no page to render comes as over HTTP', () => {
  test.each([
    ['a PDF', { 'content-type': 'application/pdf' }, '%PDF-1.4'],
    ['JSON', { 'content-type': 'application/json' }, '{"a":1}'],
    ['a download', { 'content-type': 'text/html', 'content-disposition': 'attachment' }, '<p>kept</p>'],
  ])('%s', async (_, headers, body) => {
    const url = site.page(`/raw/${body.length}`, (__, answer) => answer.writeHead(200, headers).end(body))
    const response = await browsing.visit(url)
    expect([response.status, response.text, response.browser]).toEqual([200, body, undefined])
  })

  test('an answer without a body, and one that is larger than allowed', async () => {
    const empty = site.page('/204', (_, answer) => answer.writeHead(204).end())
    expect(await browsing.visit(empty)).toMatchObject({ status: 204, browser: undefined })
    const large = site.page('/large', (_, answer) =>
      answer.writeHead(200, { 'content-type': 'application/zip' }).end(Buffer.alloc(100_000)),
    )
    await expect(browsing.visit(large, { meta: { download_maxsize: 50_000 } })).rejects.toMatchObject({
      kind: 'DownloadTooLargeError',
    })
  })
})

describe('a document that leads elsewhere is handed to the crawl', () => {
  test.each([
    ['302', undefined],
    ['meta', '<meta http-equiv="refresh" content="0; url=/target">'],
    ['script', '<script>location = "/target"</script>'],
  ])('by %s', async (name, html) => {
    site.html('/target', 'target')
    const before = site.asked('/target')
    const url = html
      ? site.html(`/to/${name}`, html)
      : site.page(`/to/${name}`, (_, answer) => answer.writeHead(302, { location: '/target' }).end())
    const response = await browsing.visit(url)
    expect([response.status, response.url]).toEqual([302, url])
    expect(new URL(response.headers.get('location')!, url).pathname).toBe('/target')
    expect(site.asked('/target')).toBe(before)
  })

  test('but a page that reloads itself with a cookie stays', async () => {
    const url = site.html(
      '/again',
      '<script>if (document.cookie.includes("ok")) document.write("<p>in</p>"); else { document.cookie = "ok=1"; location.reload() }</script>',
    )
    expect((await browsing.visit(url)).text).toContain('<p>in</p>')
  })
})

describe('errors', () => {
  test('say what a connection says over HTTP', async () => {
    const gone = await Site.start()
    const { origin } = gone
    await gone[Symbol.asyncDispose]()
    await expect(browsing.visit(origin)).rejects.toMatchObject({ kind: 'DownloadConnectionRefusedError' })
    await expect(browsing.visit('file:///etc/passwd')).rejects.toMatchObject({
      kind: 'UnsupportedURLSchemeError',
    })
  })

  test('tell of the page, and not of a connection that failed after it had come', async () => {
    const leaving = await Site.start()
    const url = leaving.html('/page', 'page')
    spider.leave = async () => {
      await leaving[Symbol.asyncDispose]()
    }
    await expect(browsing.visit(url, { meta: { browser: { script: 'waits' } } })).rejects.toMatchObject({
      kind: 'DownloadTimeoutError',
      message: expect.stringContaining('Timeout 300ms exceeded'),
    })
  })

  test('name what is wrong with options and methods', async () => {
    const wrong = (browser: object) => browsing.visit(site.origin, { meta: { browser: browser as never } })
    await expect(wrong({ waitFr: 'p' })).rejects.toThrow('has no option "waitFr". Did you mean waitFor?')
    await expect(wrong({ block: ['images'] })).rejects.toThrow(
      'neither a kind nor a host. Did you mean image?',
    )
    await expect(wrong({ viewport: { width: 20_000, height: 800 } })).rejects.toThrow('16384 at the most')
    for (const script of ['titel', 'constructor', 'start', 'valueOf'])
      await expect(wrong({ script }), script).rejects.toThrow(
        `script "${script}" is not a method of spider steps; it has leave, title, fails, closes, circle, dated, waits`,
      )
    await expect(wrong({ waitFor: 'div[' })).rejects.toMatchObject({
      code: 'WL_REQUEST_INVALID',
      message: expect.stringMatching(/^meta\.browser of .* while parsing css selector "div\["/),
    })
    await expect(wrong({ script: 'closes' })).rejects.toThrow('closes() of spider steps closed the page of')
    const url = site.html('/fails', '')
    await expect(browsing.visit(url, { meta: { browser: { script: 'fails' } } })).rejects.toThrow(
      /^fails\(\) of spider steps, as meta.browser.script names it, failed for .*: TypeError: no such thing$/,
    )
    await expect(browsing.visit(url, { meta: { browser: { script: 'dated' } } })).rejects.toThrow(
      'what it returned.at holds what cannot be queued: a Date does not survive JSON',
    )
    await expect(browsing.visit(url, { meta: { browser: { script: 'circle' } } })).rejects.toThrow(
      /^circle\(\) of spider steps.*or holds itself/,
    )
  })
})
