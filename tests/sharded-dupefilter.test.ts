/** Crawls whose dupefilter is spread over several real Redis servers, judged by what the fake web saw. */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type FakeWeb,
  type RedisServer,
  runProcess,
  startFakeWeb,
  startRedis,
  tempDir,
} from '@webloom/testkit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { crawl, type Response, type SettingsInput, Spider } from 'webloom'
import type { Logger } from 'webloom/ports'

const PACKAGE = join(import.meta.dirname, '../packages/webloom')
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

let queue: RedisServer
let servers: RedisServer[]
beforeAll(async () => {
  ;[queue, ...servers] = (await Promise.all([
    startRedis(),
    startRedis({ appendonly: 'always' }),
    startRedis({ appendonly: 'always' }),
  ])) as [RedisServer, ...RedisServer[]]
})
afterAll(async () => {
  for (const server of [queue, ...servers]) await server.stop()
})
beforeEach(async () => {
  for (const server of [queue, ...servers]) await server.command('FLUSHALL')
})

const urls = () => servers.map(({ url }) => url)

function crawlOf(web: FakeWeb, settings: SettingsInput) {
  class Pages extends Spider {
    override name = 'pages'
    override startUrls = [...web.seeds]
    override *parse(response: Response): Generator<unknown> {
      yield* response.followAll()
    }
  }
  return crawl(Pages, {
    settings: { REDIS_URL: queue.url, DUPEFILTER_REDIS_URL: urls(), SCHEDULER_PERSIST: true, ...settings },
    logger: silent,
  })
}

test.each(['redis-set', 'splittable-bloom'])(
  '%s on two servers finds every page, each once',
  async (name) => {
    await using web = await startFakeWeb({ seed: 4, pagesPerHost: 60 })
    const { finishReason } = await crawlOf(web, { DUPEFILTER_CLASS: name })
    expect(finishReason).toBe('finished')
    for (const url of web.reachable()) expect(web.countOf(url), url).toBe(1)
    for (const server of servers) expect(Number(await server.command('DBSIZE'))).toBeGreaterThan(0)
    // Begun with this list, it is refused with another one.
    for (const list of [urls().reverse(), urls().slice(0, 1)])
      await expect(crawlOf(web, { DUPEFILTER_CLASS: name, DUPEFILTER_REDIS_URL: list })).rejects.toThrow(
        /must name the same servers in the same order/,
      )
  },
)

test('one of them is killed (-9) in the middle of a crawl and comes back: nothing is lost, nothing is crawled twice', async () => {
  await using web = await startFakeWeb({ seed: 5, hosts: 2, pagesPerHost: 60 })
  const running = crawlOf(web, { CONCURRENT_REQUESTS: 4 })
  await web.waitForHits(30)
  await servers[1]!.kill('SIGKILL')
  await servers[1]!.restart()
  expect((await running).finishReason).toBe('finished')
  for (const url of web.reachable()) expect(web.countOf(url), url).toBe(1)
})

test('webloom dupefilter looks at all of them', async () => {
  await using folder = await tempDir()
  mkdirSync(folder.join('node_modules'))
  symlinkSync(PACKAGE, folder.join('node_modules/webloom'))
  mkdirSync(folder.join('spiders'))
  writeFileSync(
    folder.join('webloom.config.ts'),
    `import { defineConfig } from 'webloom'\nexport default defineConfig({ spiders: 'spiders', settings: { DUPEFILTER_REDIS_URL: ${JSON.stringify(urls())} } })\n`,
  )
  writeFileSync(
    folder.join('spiders/quotes.ts'),
    `import { Spider } from 'webloom'\nexport default class S extends Spider { name = 'quotes' }\n`,
  )
  const dupefilter = async (...args: string[]) =>
    (
      await runProcess(process.execPath, [join(PACKAGE, 'bin/webloom.js'), 'dupefilter', ...args], {
        cwd: folder.path,
        env: { ...process.env, NO_COLOR: '1' },
      })
    ).stdout
  const pages = Array.from({ length: 20 }, (_, n) => `https://example.com/${n}`)
  expect(await dupefilter('stats', 'quotes')).toContain('nothing has been recorded yet')
  expect((await dupefilter('add', 'quotes', ...pages)).match(/^added/gm)).toHaveLength(20)
  expect((await dupefilter('rm', 'quotes', pages[0]!, pages[1]!)).match(/^removed/gm)).toHaveLength(2)
  expect((await dupefilter('has', 'quotes', ...pages)).match(/^seen/gm)).toHaveLength(18)
  expect(await dupefilter('stats', 'quotes')).toMatch(
    /recorded +18\n {2}of which +\d+ on redis:\S+\n {2}of which +\d+ on redis:\S+\n/,
  )
})
