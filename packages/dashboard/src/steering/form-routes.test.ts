import { beforeEach, expect, test } from 'vitest'
import { ToldDesks } from '../../testing/told-desks.ts'
import { dashboardApp } from '../dashboard-app.tsx'

const HERE = { host: 'localhost:6480', origin: 'http://localhost:6480' }
const FORM = { ...HERE, 'content-type': 'application/x-www-form-urlencoded' }

let desks: ToldDesks

beforeEach(() => {
  desks = new ToldDesks()
})

const app = (control = true) => dashboardApp({ desks, control, isOnLoopback: true })

function send(verb: string, fields: Record<string, string> = {}, headers: Record<string, string> = FORM) {
  const body = new URLSearchParams({ ...fields, back: '/c/bookshops/overview' }).toString()
  return app().request(`http://localhost:6480/c/bookshops/do/${verb}`, { method: 'POST', headers, body })
}

test('a button tells the crawl, leads back, and the page says once what was done', async () => {
  const answer = await send('failed_retry', { signature: 'x' })
  expect(desks.told).toEqual([['retryFailed', { signature: 'x' }]])
  expect(answer.status).toBe(303)
  expect(answer.headers.get('location')).toBe('/c/bookshops/overview')
  const cookie = answer.headers.get('set-cookie')!
  expect(cookie).toMatch(/HttpOnly; SameSite=Strict/)
  const page = await app().request('http://localhost:6480/c/bookshops/overview', {
    headers: { ...HERE, cookie: cookie.split(';')[0]! },
  })
  expect(await page.text()).toContain('3 requests are queued again.')
  expect(page.headers.get('set-cookie')).toMatch(/told=;.*Max-Age=0/)
})

test('seconds and minutes become what the verbs take, and an empty field says nothing', async () => {
  await send('stop', { reason: '' })
  await send('set_host', { name: 'A.example', delaySeconds: '2.5' })
  await send('set_host', { name: 'a.example', delayMs: 'none' })
  await send('set_host', { name: 'a.example', pauseMinutes: '10' })
  await send('set_host', { name: 'a.example', pauseMs: 'none' })
  await send('set_host', { name: 'a.example', boost: 'true' })
  expect(desks.told).toEqual([
    ['stop', undefined],
    ['setHost', 'a.example', { delayMs: 2500 }],
    ['setHost', 'a.example', { delayMs: null }],
    ['setHost', 'a.example', { pauseMs: 600_000 }],
    ['setHost', 'a.example', { pauseMs: null }],
    ['setHost', 'a.example', { boost: true }],
  ])
})

test('a form of another site, or of nowhere, changes nothing', async () => {
  const elsewhere = { ...FORM, origin: 'https://evil.example' }
  const { origin: _, ...nowhere } = FORM
  for (const headers of [
    elsewhere,
    nowhere,
    { ...FORM, origin: 'null' },
    { ...FORM, 'sec-fetch-site': 'cross-site' },
    { ...nowhere, 'sec-fetch-site': 'none' },
  ])
    expect((await send('pause', {}, headers)).status).toBe(403)
  expect((await send('pause', {}, { ...FORM, 'content-type': 'text/plain' })).status).toBe(415)
  expect(desks.told).toEqual([])
})

test('what cannot be done is a page that says why', async () => {
  desks.isRunning = false
  const refused = await send('pause')
  expect(refused.status).toBe(409)
  expect(await refused.text()).toContain('there is nothing to pause')
  const bad = await send('set_host', { name: 'a.example', delaySeconds: 'soon' })
  expect(bad.status).toBe(400)
  expect(await bad.text()).toContain('soon')
  expect((await send('crawls')).status).toBe(404)
  expect((await send('set_host', { name: 'x'.repeat(20_000) })).status).toBe(413)
})

test('without --control there are no buttons, and a form is refused', async () => {
  const body = 'back=%2F'
  const still = app(false)
  const answer = await still.request('http://localhost:6480/c/bookshops/do/pause', {
    method: 'POST',
    headers: FORM,
    body,
  })
  expect(answer.status).toBe(403)
  expect(desks.told).toEqual([])
  for (const path of ['overview', 'failures', 'host?name=a.example']) {
    const get = async (of: ReturnType<typeof app>) =>
      (await of.request(`http://localhost:6480/c/bookshops/${path}`, { headers: HERE })).text()
    expect(await get(still)).not.toContain('method="post"')
    expect(await get(app())).toContain('method="post"')
  }
})
