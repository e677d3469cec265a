import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { HOSTILE_TITLE, STATUS } from '../testing/made-up-crawl.ts'
import { MadeUpDesks } from '../testing/made-up-desks.ts'
import { dashboardApp } from './dashboard-app.tsx'
import { VIEWS } from './views/views.ts'

const FIRST_LOAD_BYTES_MAX = 150_000
const PATHS = ['/', ...VIEWS.map(({ path }) => `/c/bookshops/${path}`), '/c/bookshops/host?name=a.example']

let desks: MadeUpDesks
let closing: AbortController

beforeEach(() => {
  desks = new MadeUpDesks()
  closing = new AbortController()
})
afterEach(() => closing.abort())

const app = () => dashboardApp({ desks, closing: closing.signal })
const get = (path: string, init?: RequestInit) => app().request(path, init)
const textOf = async (path: string) => (await get(path)).text()

describe.each(PATHS)('%s', (path) => {
  test('is a whole page with security headers', async () => {
    const answer = await get(path)
    expect(answer.status).toBe(200)
    const policy = answer.headers.get('content-security-policy')!
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).not.toContain('unsafe')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    const html = await answer.text()
    expect(html).toMatch(/^<!doctype html><html lang="en">/i)
    // Neither a script nor a style of its own, which the policy would refuse.
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+="/)
  })

  test('with all that it asks for comes to no more than 150 kB', async () => {
    const html = await textOf(path)
    const files = [...html.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, file]) => file!)
    expect(files).toHaveLength(5)
    const sizes = await Promise.all(
      [path, ...files].map(async (file) => (await (await get(file)).arrayBuffer()).byteLength),
    )
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(FIRST_LOAD_BYTES_MAX)
  })
})

test('whoever starts and stops processes needs no token, and is told when no Redis answers', async () => {
  const asked = async (path: string) => {
    const answer = await dashboardApp({ desks, closing: closing.signal, token: 'a token' }).request(path)
    return { status: answer.status, ...((await answer.json()) as object) }
  }
  expect(await asked('/healthz')).toEqual({ status: 200, ok: true })
  expect(await asked('/readyz')).toEqual({ status: 200, ok: true })
  const silent = (await desks.crawls()).filter(({ state }) => state === null)
  desks.crawls = async () => silent
  expect(await asked('/healthz')).toEqual({ status: 200, ok: true })
  expect(await asked('/readyz')).toEqual({ status: 503, ok: false, why: 'no Redis of its crawls answers' })
  // Another master of their cluster does.
  desks.answers = async () => true
  expect(await asked('/readyz')).toEqual({ status: 200, ok: true })
})

test('while Redis is away each page says so, and is there again within a second after it is back', async () => {
  const page = app()
  const statuses = () => Promise.all(PATHS.map(async (path) => (await page.request(path)).status))
  desks.trouble = 'Redis at 10.0.4.2:6379/0 cannot be reached'
  const texts = await Promise.all(PATHS.map(async (path) => (await page.request(path)).text()))
  for (const text of texts) expect(text).toContain('cannot be reached')
  desks.trouble = undefined
  await vi.waitFor(async () => expect(new Set(await statuses())).toEqual(new Set([200])), 2000)
})

test('what stands on the web is inert and short', async () => {
  for (const path of ['/', '/c/bookshops/hosts', '/c/bookshops/failures?response=x', '/c/bookshops/items']) {
    const html = await textOf(path)
    expect(html).not.toContain('<img src=x')
    expect(html).not.toContain('<script>')
    expect(html).not.toMatch(/href="javascript/i)
    expect(html).not.toMatch(/[\u0000-\u0008\u001b\u202e]/)
    expect(html.length).toBeLessThan(100_000)
  }
  const items = await textOf('/c/bookshops/items')
  expect(items).toContain('&lt;img src=x')
  desks.items = { last: [{ at: null, json: `"${'<'.repeat(10 * 2 ** 20)}"` }] }
  expect((await textOf('/c/bookshops/items')).length).toBeLessThan(60_000)
  expect(await textOf(`/c/bookshops/host?name=${encodeURIComponent(HOSTILE_TITLE)}`)).not.toContain('<img')
})

test('a server that does not answer is a row without a link, and is not a crawl', async () => {
  const crawls = await desks.crawls()
  const away = crawls.find(({ state }) => state === null)!
  const server = 'redis://10.0.9.9:6379/0'
  desks.crawls = async () => [...crawls, { ...away, id: server, spider: '', server, trouble: 'it is away' }]
  const html = await textOf('/')
  expect(html).toMatch(new RegExp(`<b>${server}</b>.*it is away`, 's'))
  expect(html).not.toContain('href="/c/redis')
  expect(html).toContain(`of ${crawls.length} crawls`)
})

test('figures are those of the status', async () => {
  const html = await textOf('/c/bookshops/overview')
  for (const figure of ['184,320', '12,044', '248,316', '201,944', STATUS.timeLeft.words])
    expect(html).toContain(figure)
})

test('runs are shown beside those before: what fell, which field with it, and what monitors found', async () => {
  const page = await textOf('/c/bookshops/runs')
  const html = page
    .replace(/<wbr[^>]*>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
  expect(html).toContain('4 runs')
  // A name breaks between its parts, and hours say whose they are.
  expect(page).toMatch(/coverage\/<wbr ?\/?>price/)
  expect(page).toMatch(/<time [^>]*>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC<\/time>/)
  expect(html).toContain(
    'Not told: webhook of hooks.example has not taken 1 message, 1 message still to be sent: it answers 404',
  )
  expect(html).toContain('finished 3 h 38 min 400,918 ±0 % 330,120 ±0 % 226 −6 %')
  expect(html).toContain('coverage/price price: 0 % of the last 412 items have it; at least 95 % must')
  expect(html).toMatch(/price 58\.5 % \d+\.\d %/)
})

test('what a crawl cannot tell is not known', async () => {
  const desk = (await desks.desk('bookshops'))!
  const bare = {
    ...desk,
    filter: undefined,
    failures: undefined,
    items: undefined,
    runs: undefined,
    history: undefined,
  }
  desks.desk = async () => JSON.parse('{}') && Object.assign(Object.create(null), without(bare))
  for (const view of ['failures', 'dedup', 'items', 'runs']) {
    const answer = await get(`/c/bookshops/${view}`)
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('Not known')
  }
})

function without<T extends object>(object: T): Partial<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Partial<T>
}

test('many who look cost a crawl what one costs', async () => {
  const page = app()
  await page.request('/c/bookshops/overview')
  const { looks } = desks
  await Promise.all(Array.from({ length: 20 }, () => page.request('/c/bookshops/overview')))
  expect(desks.looks).toBe(looks)
})

test('events bring the regions that have changed, a heartbeat when none has, and what is wrong', async () => {
  const { body } = await get('/c/bookshops/overview/events')
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const until = async (wanted: string) => {
    while (!text.includes(wanted)) text += (await reader.read()).value
    text = text.slice(text.indexOf(wanted) + wanted.length)
  }
  await until('event: regions')
  await until('event: beat')
  desks.status = { ...STATUS, pagesPerMinute: 6000 }
  await until('event: regions')
  await until('{"now":')
  desks.trouble = 'Redis is away'
  await until('event: trouble\ndata: "Redis is away"')
  desks.trouble = undefined
  await until('event: regions')
  await reader.cancel()
})

test('HEAD of events is answered, and takes no place from those who look', async () => {
  const page = app()
  for (let n = 0; n < 250; n++)
    expect((await page.request('/events', { method: 'HEAD' })).headers.get('content-type')).toBe(
      'text/event-stream',
    )
  expect((await page.request('/events')).status).toBe(200)
})

test('one who looks when all places are taken gets the place of the one who has looked longest', async () => {
  const page = app()
  const streams = await Promise.all(Array.from({ length: 201 }, () => page.request('/events')))
  const ends = async ({ body }: Response) => {
    const reader = body!.getReader()
    for (;;) if ((await reader.read()).done) return 'ended'
  }
  expect(await ends(streams[0]!)).toBe('ended')
  for (const { status, body } of streams.slice(1)) {
    expect(status).toBe(200)
    await body!.cancel()
  }
})

test('an answer to whom another name led here is refused on loopback', async () => {
  const page = dashboardApp({ desks, isOnLoopback: true })
  const asked = (host: string) => page.request('http://x/', { headers: { host } })
  expect((await asked('attacker.example:6480')).status).toBe(421)
  for (const host of ['localhost:6480', '127.0.0.1:6480', '[::1]:6480'])
    expect((await asked(host)).status).toBe(200)
})

test('colours are kept in a cookie, and the way back stays on this site', async () => {
  const chosen = await get('/theme?to=dark&back=%2Fc%2Fbookshops%2Fhosts')
  expect(chosen.headers.get('location')).toBe('/c/bookshops/hosts')
  expect(chosen.headers.get('set-cookie')).toMatch(/^theme=dark;.*HttpOnly/)
  for (const back of ['//evil.example', '/\\evil.example', 'https://evil.example'])
    expect((await get(`/theme?to=x&back=${encodeURIComponent(back)}`)).headers.get('location')).toBe('/')
  const dark = await get('/', { headers: { cookie: 'theme=dark' } })
  expect(await dark.text()).toContain('data-theme="dark"')
  const odd = await get('/', { headers: { cookie: 'theme="><script>' } })
  expect(await odd.text()).not.toContain('data-theme')
})

test('a page that there is not says so, and so do a crawl and a file', async () => {
  for (const path of [
    '/nothing',
    '/c/none/overview',
    '/c/bookshops/none',
    '/assets/..%2fpackage.json',
    '/assets/toString',
  ])
    expect((await get(path)).status, path).toBe(404)
})

test('a file that has not changed is not sent again', async () => {
  const { headers } = await get('/assets/dashboard.css')
  const again = await get('/assets/dashboard.css', { headers: { 'if-none-match': headers.get('etag')! } })
  expect(again.status).toBe(304)
})
