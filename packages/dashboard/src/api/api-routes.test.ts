import { beforeEach, describe, expect, test } from 'vitest'
import { ToldDesks } from '../../testing/told-desks.ts'
import { dashboardApp } from '../dashboard-app.tsx'
import { schemaProblem } from '../verbs/schema-problem.ts'
import { VERBS } from '../verbs/verbs.ts'
import { apiRoutes, routeOf } from './api-routes.ts'
import { addressOf } from './openapi.ts'

let desks: ToldDesks
/** Of a test, by whether it may change something, and the token. */
const apps = new Map<string, ReturnType<typeof dashboardApp>>()
beforeEach(() => {
  desks = new ToldDesks()
  apps.clear()
})

function appFor(control: boolean, token: string | undefined): ReturnType<typeof dashboardApp> {
  const name = `${control} ${token}`
  const app =
    apps.get(name) ??
    dashboardApp({ desks, control, isOnLoopback: true, ...(token !== undefined && { token }) })
  apps.set(name, app)
  return app
}

interface Sent {
  readonly control?: boolean
  readonly token?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

interface Answered {
  readonly status: number
  readonly answer: Record<string, never> & { readonly error: { message: string; where?: string } }
  readonly headers: Headers
}

const JSON_HEADERS = { host: 'localhost:6480', 'content-type': 'application/json' }

async function asked(method: string, path: string, sent: Sent = {}): Promise<Answered> {
  const { control = true, token, body, headers = {} } = sent
  const init = {
    method,
    headers: { ...(method === 'POST' ? JSON_HEADERS : { host: 'localhost:6480' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  }
  const answer = await appFor(control, token).request(path, init)
  const text = await answer.text()
  return { status: answer.status, answer: text.startsWith('{') && JSON.parse(text), headers: answer.headers }
}

const get = (path: string, sent?: Sent) => asked('GET', path, sent)
const post = (path: string, sent?: Sent) => asked('POST', path, sent)

/** What each verb is asked with where it must be given something. */
const QUERIES: Readonly<Record<string, string>> = {
  host: '?name=a.example',
  known: '?url=https://a.example/known',
  failed_response: '?signature=s',
}
const BODIES: Readonly<Record<string, object>> = {
  set_host: { name: 'a.example', delayMs: 2000 },
  failed_retry: { host: 'a.example' },
  failed_drop: { all: true },
}

describe('the OpenAPI document', () => {
  const documented = async (sent?: Sent) =>
    JSON.parse(JSON.stringify((await get('/api/openapi.json', sent)).answer))

  test('has each route, and there is no other', async () => {
    const { paths, openapi } = await documented()
    expect(openapi).toBe('3.1.0')
    const told = Object.entries(paths as object).flatMap(([path, operations]) =>
      Object.keys(operations as object).map((method) => `${method} ${path}`),
    )
    const routes = apiRoutes({ desks, control: true })
      .routes.filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method.toLowerCase()} /api${path.replace(':id', '{id}')}`)
    expect(told.sort()).toEqual(
      [...new Set(routes)].filter((route) => !route.endsWith('openapi.json')).sort(),
    )
    expect(new Set(VERBS.map(({ name }) => name)).size).toBe(VERBS.length)
    expect(VERBS.map(routeOf).every((path) => path.startsWith('/crawls'))).toBe(true)
  })

  test('every answer is as it says', async () => {
    const { paths } = await documented()
    for (const verb of VERBS) {
      const address = addressOf(verb)
      const path = address.replace('{id}', 'bookshops')
      const { status, answer } =
        verb.method === 'get'
          ? await get(path + (QUERIES[verb.name] ?? ''))
          : await post(path, { body: BODIES[verb.name] ?? {} })
      expect(status, `${verb.name}: ${JSON.stringify(answer).slice(0, 300)}`).toBe(200)
      const { schema } = paths[address][verb.method].responses[200].content['application/json']
      expect(schemaProblem(schema, answer), verb.name).toBeUndefined()
    }
  })

  test('says whether a token is asked for, and whether verbs that change something are allowed', async () => {
    const closed = await documented({ control: false, token: '0123456789abcdef', headers: AUTHORISED })
    expect(closed.security).toEqual([{ token: [] }])
    expect(closed.info.description).toContain('without --control')
    expect((await documented()).security).toBeUndefined()
  })
})

const AUTHORISED = { authorization: 'Bearer 0123456789abcdef' }

test('what is told comes to the crawl as it was said', async () => {
  await post('/api/crawls/bookshops/pause')
  await post('/api/crawls/bookshops/stop', { body: { reason: 'maintenance' } })
  await post('/api/crawls/bookshops/host', { body: { name: 'a.example', delayMs: null, boost: true } })
  await post('/api/crawls/bookshops/failed/retry', { body: { ids: ['x'], status: 503 } })
  await post('/api/crawls/bookshops/failed/drop', { body: { all: true } })
  await get('/api/crawls/bookshops/failed?ids=a&ids=b&status=503&max=7')
  expect(desks.told).toEqual([
    ['pause'],
    ['stop', 'maintenance'],
    ['setHost', 'a.example', { delayMs: null, boost: true }],
    ['retryFailed', { ids: ['x'], status: 503 }],
    ['dropFailed', {}],
    ['failed', { ids: ['a', 'b'], status: 503 }, 7],
  ])
})

test('all requests in quarantine are meant only when that is said, and an answer counts those that stay', async () => {
  const retry = (body: object) => post('/api/crawls/bookshops/failed/retry', { body })
  const refused = await retry({ reason: 'quarantined' })
  expect(refused.status).toBe(400)
  expect(refused.answer.error.message).toContain('all: true')
  expect((await retry({ reason: 'quarantined', all: true })).answer).toEqual({ queued: 3, unreadable: 1 })
  expect((await retry({ reason: 'callback' })).status).toBe(200)
})

test('without --control nothing is told, and the answer has the line to type', async () => {
  for (const verb of VERBS.filter(({ method }) => method === 'post')) {
    const path = addressOf(verb).replace('{id}', 'bookshops')
    const { status, answer } = await post(path, { control: false, body: BODIES[verb.name] ?? {} })
    expect(status).toBe(403)
    expect(answer.error.message).toContain('webloom dash --control')
  }
  expect(desks.told).toEqual([])
})

test('input that is wrong is refused with what, where and why', async () => {
  const at = '/api/crawls/bookshops'
  const many = Array.from({ length: 501 }, () => 'x')
  const wrong: [string, string, unknown, string][] = [
    ['GET', `${at}/failed?max=soon`, undefined, 'query.max is "soon"; expected a whole number'],
    ['GET', `${at}/failed?max=0`, undefined, 'query.max is 0; expected 1 or more'],
    ['GET', `${at}/failed?max=1&max=2`, undefined, 'query.max is ["1","2"]; expected a whole number'],
    ['GET', `${at}/failed?since=yesterday`, undefined, 'query.since is "yesterday"; expected a moment'],
    ['GET', `${at}/failed?reason=none`, undefined, 'query.reason is "none"; expected one of "download"'],
    ['GET', `${at}/failed?colour=red`, undefined, 'query.colour is not known; known: ids, signature'],
    ['GET', `${at}/history?minutes=99999`, undefined, 'query.minutes is 99999; expected 1440 or less'],
    ['GET', `${at}/host`, undefined, 'query.name is missing'],
    ['GET', `${at}/known?url=nothing`, undefined, 'nothing'],
    ['POST', `${at}/host`, { name: 'a', delayMs: -1 }, 'body.delayMs is -1; expected 0 or more'],
    ['POST', `${at}/host`, { name: 'a' }, 'there is no order for the host "a"'],
    ['POST', `${at}/host`, { name: 'a', __proto__: null, constructor: 1 }, 'body.constructor is not known'],
    ['POST', `${at}/stop`, [1], 'body is [1]; expected an object'],
    ['POST', `${at}/stop`, '{"reason":', 'body is not JSON'],
    ['POST', `${at}/stop`, { reason: 'x'.repeat(300) }, 'expected at most 200 characters, and these are 300'],
    ['POST', `${at}/stop?reason=x`, {}, 'query is not read'],
    ['POST', `${at}/failed/drop`, {}, 'no filter says which requests are meant'],
    ['POST', `${at}/failed/drop`, { all: false }, 'body.all is false; expected one of true'],
    ['POST', `${at}/failed/retry`, { ids: many }, 'expected at most 500 entries'],
  ]
  for (const [method, path, body, message] of wrong) {
    const { status, answer } = await asked(method, path, { body })
    expect(status, path).toBe(400)
    expect(answer.error.message).toContain(message)
    expect(answer.error.message.length).toBeLessThan(400)
  }
  expect(desks.told).toEqual([])
})

test('what is not there is 404, another method 405, a crawl that does not run 409, a server that is away 503', async () => {
  expect((await get('/api/crawls/none/status')).answer.error.message).toContain('there is no crawl "none"')
  expect((await get('/api/crawls/none/status')).status).toBe(404)
  expect((await get(`/api/crawls/${'x'.repeat(9000)}/status`)).status).toBe(404)
  for (const path of [
    '/api',
    '/api/',
    '/api/crawls/bookshops',
    '/api/crawls/bookshops/eval',
    '/api/toString',
  ])
    expect((await get(path)).status, path).toBe(404)
  const { status, headers } = await get('/api/crawls/bookshops/pause')
  expect([status, headers.get('allow')]).toEqual([405, 'POST'])
  expect((await asked('DELETE', '/api/crawls', { headers: JSON_HEADERS })).status).toBe(405)
  desks.isRunning = false
  expect((await post('/api/crawls/bookshops/pause')).status).toBe(409)
  desks.trouble = 'Redis at 10.0.4.2:6379/0 cannot be reached'
  const away = await get('/api/crawls/bookshops/status')
  expect([away.status, away.answer.error.message]).toEqual([503, desks.trouble])
})

test('what a crawl cannot tell or be told is 404', async () => {
  const { id, spider, crawlId, server, status, hosts, host } = (await desks.desk('bookshops'))!
  desks.desk = async () => ({ id, spider, crawlId, server, status, hosts, host })
  for (const verb of VERBS) {
    const path = addressOf(verb).replace('{id}', 'bookshops') + (QUERIES[verb.name] ?? '')
    const body = BODIES[verb.name] ?? {}
    const { status, answer } = verb.method === 'get' ? await get(path) : await post(path, { body })
    if (['crawls', 'status', 'hosts', 'host', 'skips'].includes(verb.name))
      expect(status, verb.name).toBe(200)
    else expect([status, answer.error.message], verb.name).toEqual([404, expect.stringContaining(verb.name)])
  }
})

describe('nobody else changes anything', () => {
  const path = '/api/crawls/bookshops/pause'
  const refused = async (headers: Readonly<Record<string, string>>, status: number) => {
    expect((await post(path, { headers })).status, JSON.stringify(headers)).toBe(status)
    expect(desks.told).toEqual([])
  }

  test('a page of another site, whatever it sends', async () => {
    await refused({ origin: 'https://evil.example' }, 403)
    await refused({ origin: 'null' }, 403)
    await refused({ origin: 'http://localhost:6481' }, 403)
    await refused({ 'sec-fetch-site': 'cross-site' }, 403)
    await refused({ 'sec-fetch-site': 'same-site' }, 403)
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      '',
    ])
      await refused({ 'content-type': type }, 415)
    await refused({ 'content-type': 'text/plain; application/json' }, 415)
  })

  test('a page whose name was led here', async () => {
    for (const host of [
      'evil.example',
      'evil.example:6480',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '',
    ])
      await refused({ host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' }, 421)
  })

  test('the page of the dashboard does, and a program', async () => {
    await post(path, { headers: { origin: 'http://localhost:6480', 'sec-fetch-site': 'same-origin' } })
    await post(path, { headers: { 'content-type': 'application/json; charset=utf-8' } })
    expect(desks.told).toHaveLength(2)
  })

  test('no answer lets another site read it', async () => {
    for (const at of ['/api/crawls', '/api/crawls/none/status']) {
      const { headers } = await get(at, { headers: { origin: 'https://evil.example' } })
      expect(headers.get('access-control-allow-origin')).toBeNull()
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-type')).toMatch(/^application\/json/)
      expect(headers.get('cache-control')).toBe('no-store')
    }
    const preflight = await asked('OPTIONS', path, { headers: { origin: 'https://evil.example' } })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([403, null])
  })

  test('a body without end is refused before it is read', async () => {
    const long = JSON.stringify({ reason: 'x'.repeat(300_000) })
    expect((await post(path, { body: long, headers: { 'content-length': `${long.length}` } })).status).toBe(
      413,
    )
    expect((await post(path, { body: long })).status).toBe(413)
    expect(desks.told).toEqual([])
  })
})

const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`
const wrongFor = (token: string) => [
  'Bearer',
  'Bearer ',
  `Bearer ${token}x`,
  token,
  basic('x:y'),
  basic(token),
  'Basic %%%',
]

test('with a token each page and each verb asks for it', async () => {
  const token = '0123456789abcdef'
  for (const path of [
    '/api/crawls',
    '/api/openapi.json',
    '/',
    '/assets/dashboard.css',
    '/c/bookshops/overview',
  ]) {
    const page = dashboardApp({ desks, token })
    const asking = async (authorization?: string) => {
      const { status, headers } = await page.request(path, {
        headers: authorization ? { authorization } : {},
      })
      expect(headers.get('www-authenticate')?.startsWith('Basic ') ?? false).toBe(status === 401)
      return status
    }
    expect(await asking()).toBe(401)
    // Who asks is looked at before what is asked for.
    for (const wrong of path === '/api/crawls' ? wrongFor(token) : [`Bearer ${token}x`, basic('x:y')])
      expect(await asking(wrong), wrong).toBe(401)
    const right = [basic(`anybody:${token}`), `bearer ${token}`, `Bearer ${token}`]
    for (const given of path === '/api/crawls' ? right : right.slice(0, 1))
      expect(await asking(given), given).toBe(200)
  }
})

test('text of the web is inert in a terminal, and stays what it is', async () => {
  const odd = 'a\u009b31m\u202eb\u200b\u{e0041}\ud800<b>'
  desks.items = { last: [{ at: null, json: odd }] }
  const page = dashboardApp({ desks })
  const text = await (await page.request('/api/crawls/bookshops/items')).text()
  expect(text).not.toMatch(/[\u007f-\u009f\u202e\u200b]|\u{e0041}/u)
  expect(JSON.parse(text).last[0].json).toBe(odd)
})
