import { Request } from '@webloom/core'
import { DocumentLine, HostSlots, MemoryHostClock } from '@webloom/queue'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { browserPid } from '../../testing/browser-processes.ts'
import { Browsing, Site } from '../../testing/browsing.ts'

let site: Site
beforeAll(async () => {
  site = await Site.start()
  site.html('/small', 'small')
  // Never answered.
  site.page('/never', () => {})
})
afterAll(() => site[Symbol.asyncDispose]())

const small = () => `${site.origin}/small`

test('a browser is replaced after BROWSER_RETIRE_AFTER pages', async () => {
  await using browsing = await Browsing.open({ settings: { BROWSER_RETIRE_AFTER: 1 } })
  for (let n = 0; n < 2; n++) await browsing.visit(small())
  expect(browsing.stats.snapshot()).toMatchObject({ 'browser/starts': 2, 'browser/retired/count': 2 })
})

test('a page whose signal fires while the browser starts is not opened', async () => {
  await using browsing = await Browsing.open()
  const stop = new AbortController()
  const asked = site.asked('/small')
  const visit = browsing.visit(small(), {}, { signal: stop.signal })
  stop.abort(new Error('lost'))
  await expect(visit).rejects.toThrow('lost')
  expect(site.asked('/small')).toBe(asked)
  expect([browsing.handler.pages, browsing.stats.get('browser/starts')]).toEqual([0, 1])
})

test('when all is closed a page that waits for its place ends, and no browser is started for it', async () => {
  const browsing = await Browsing.open({ settings: { BROWSER_PAGES: 1 } })
  const [open, next] = ['/never', '/small'].map((path) => browsing.visit(site.origin + path))
  const end = Promise.all([
    expect(open).rejects.toThrow(),
    expect(next).rejects.toThrow('the crawl ends before the page is opened'),
  ])
  await expect.poll(() => site.asked('/never')).toBe(1)
  await Promise.all([end, browsing.handler.close()])
  expect(browsing.stats.get('browser/starts')).toBe(1)
})

test('a page whose browser is killed is rendered again when its host may be asked again', async () => {
  await using browsing = await Browsing.open()
  const url = site.html('/again', '<script>fetch("/never")</script>again')
  const clock = new MemoryHostClock({ pace: { delayMs: 2000, concurrency: 0, randomize: false } })
  const slots = new HostSlots({ groupBy: 'host', resolve: async () => [] })
  const line = new DocumentLine({ clock, slots, onChange() {} })
  const lease = { slot: '127.0.0.1', request: new Request(url), hasStarted: false, isStandingBy: false }
  clock.taken(lease.slot)
  const visit = browsing.visit(
    url,
    { meta: { download_timeout: 6 } },
    { isPaced: true, documents: () => line.of(lease) },
  )
  await expect.poll(() => site.asked('/again'), { interval: 20 }).toBe(1)
  process.kill(browserPid(), 'SIGKILL')
  expect((await visit).text).toContain('again')
  const [first, second] = site.hits.filter(({ path }) => path === '/again').map(({ atMs }) => atMs)
  expect(second! - first!).toBeGreaterThan(1900)
})
