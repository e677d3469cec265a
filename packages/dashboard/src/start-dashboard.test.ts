import { afterEach, expect, test } from 'vitest'
import { MadeUpDesks } from '../testing/made-up-desks.ts'
import { type Dashboard, type StartDashboardOptions, startDashboard } from './start-dashboard.ts'

let dashboard: Dashboard | undefined
afterEach(() => dashboard?.close())

const started = (options: Partial<StartDashboardOptions>) =>
  startDashboard({ desks: new MadeUpDesks(), port: 0, ...options })

test('where others can reach it, it does not start without a token', async () => {
  for (const host of ['0.0.0.0', '::', '10.0.0.4', 'crawler.example'])
    await expect(started({ host })).rejects.toThrow(/export WEBLOOM_DASH_TOKEN=/)
  await expect(started({ host: '0.0.0.0', token: '12345' })).rejects.toThrow(/16 are the least/)
  await expect(started({ token: 'a token with blanks' })).rejects.toThrow(/blanks/)
})

test('with a token it asks for it, whatever name it is called by', async () => {
  const token = '0123456789abcdef'
  dashboard = await started({ host: '0.0.0.0', token })
  const address = `http://127.0.0.1:${dashboard.port}/api/crawls`
  expect((await fetch(address)).status).toBe(401)
  expect((await fetch(address, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
})
