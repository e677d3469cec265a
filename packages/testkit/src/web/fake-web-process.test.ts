import { expect, test } from 'vitest'
import { startFakeWeb, startFakeWebProcess } from '../index.ts'

const options = { seed: 11, hosts: 3, pagesPerHost: 30, variedLinks: true, redirects: 0.2 }

test('a web in another process: the same truth, and the hits when asked', async () => {
  await using web = await startFakeWebProcess(options)
  const begun = performance.now()
  const url = web.pageUrl(2, 5)
  expect(await (await fetch(url)).text()).toBe(web.page(url)!.html)
  await (await fetch(web.seeds[0]!)).text()
  await web.waitForHits(2)
  const log = await web.log()
  expect(log.hits.map((hit) => [hit.url, hit.status])).toEqual([
    [url, 200],
    [web.seeds[0], 200],
  ])
  expect(log.connections(2)).toBe(1)
  // The times are on our clock. The two clocks are read apart, so a few milliseconds are allowed.
  expect(log.hits[0]!.atMs).toBeGreaterThan(begun - 20)
  expect(log.hits[1]!.atMs).toBeLessThan(performance.now() + 20)
  await web.resetHits()
  expect(await web.hitCount()).toBe(0)
})

test('it serves what a web in this process serves', async () => {
  await using here = await startFakeWeb(options)
  await using there = await startFakeWebProcess(options)
  const paths = (web: { reachable(): Set<string> }) =>
    [...web.reachable()].map((url) => new URL(url).pathname)
  expect(paths(there)).toEqual(paths(here))
  expect(there.items()).toEqual(here.items())
})

test('its hosts go down and up', async () => {
  await using web = await startFakeWebProcess(options)
  await web.hostDown(1)
  await expect(fetch(web.seeds[1]!)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
  await web.hostUp(1)
  expect((await fetch(web.seeds[1]!)).status).toBe(200)
})

test('what fails there fails here; closed, it is gone', async () => {
  const web = await startFakeWebProcess(options)
  await expect(web.hostDown(9)).rejects.toThrow('there is no host 9')
  await expect(web.waitForHits(1, 10)).rejects.toThrow('only 0 of 1 hits')
  const unanswered = web.waitForHits(1)
  await Promise.all([expect(unanswered).rejects.toThrow('closed'), web.close()])
  await expect(web.hits()).rejects.toThrow('closed')
  await web.close()
  await expect(fetch(web.seeds[0]!)).rejects.toThrow()
})
