import { Request } from '@webloom/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FirstRequests } from './first-requests.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const login = new Request('https://shop.example/login', { meta: { recrawl: false } })
const page = new Request('https://shop.example/')
const busy = async () => ({ waiting: 0, delayed: 0, leased: 1, quarantined: 0 })
const idle = async () => ({ waiting: 0, delayed: 0, leased: 0, quarantined: 1 })

test('due pages wait for the first requests of start(), and then for what is no page of the schedule', async () => {
  const first = new FirstRequests()
  const { promise, resolve } = Promise.withResolvers<void>()
  first.waitFor(promise)
  expect(await first.hold(idle)).toBe(true)
  first.queued([undefined, page, login])
  resolve()
  await promise
  expect(await first.hold(busy)).toBe(true)
  vi.advanceTimersByTime(1000)
  expect(await first.hold(idle)).toBe(false)
  expect(await first.hold(busy)).toBe(false)
})

test('due pages wait no longer where no request of start() says so', async () => {
  const first = new FirstRequests()
  first.waitFor(Promise.resolve())
  first.queued([page])
  await Promise.resolve()
  expect(await first.hold(busy)).toBe(false)
})

test('due pages wait two minutes at the most, however long the crawl has waited for its Redis before', async () => {
  const first = new FirstRequests()
  vi.advanceTimersByTime(300_000)
  first.waitFor(new Promise(() => {}))
  first.queued([login])
  expect(await first.hold(busy)).toBe(true)
  vi.advanceTimersByTime(120_000)
  expect(await first.hold(busy)).toBe(false)
})
