/** `webloom failed`: a host that fails its pages and is well again, on Redis and in a JOBDIR, with a retry that is killed. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RedisServer, startRedis } from '@webloom/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { ClusterFolder, freshCrawlId, SHORT_TIMES } from '../cluster/cluster-crawl.ts'
import type { Running } from '../projects/command-hosts.ts'

/** The tests, on a host with so many pages: all of them, or the most telling one. */
export function failingHostTests(
  PAGES: number,
  { modes, isLong }: { modes: readonly ('turns' | 'job')[]; isLong: boolean },
): void {
  let redis: RedisServer
  let site: Server
  let origin: string
  /** Paths asked for, in order. */
  let asked: string[]
  let isIll: boolean
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())
  beforeEach(async () => {
    asked = []
    isIll = true
    site = createServer((request, response) => {
      const path = request.url ?? '/'
      asked.push(path)
      const isPage = path !== '/'
      response.writeHead(isPage && isIll ? 503 : 200, { 'content-type': 'text/html' })
      const links = Array.from({ length: PAGES }, (_, n) => `<a href="/${n}">${n}</a>`)
      response.end(isPage ? `<h1>${isIll ? 'out of order' : path}</h1><a href="/">home</a>` : links.join(''))
    })
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  })
  afterEach(() => {
    site.closeAllConnections()
    site.close()
  })

  const spider = () => `import { type Response, Spider } from 'webloom'

export default class Pages extends Spider {
  name = 'pages'
  startUrls = ['${origin}/']
  async *parse(response: Response) {
    yield { url: response.url }
    yield* response.followAll()
  }
}
`

  const SETTINGS = {
    RETRY_ENABLED: false,
    HOST_FAILURES_MAX: 0,
    HOST_BACKOFF_MAX: 0,
    CONCURRENT_REQUESTS: 64,
    CONCURRENT_REQUESTS_PER_DOMAIN: 64,
    DOWNLOAD_DELAY: 0,
    ROBOTSTXT_OBEY: false,
  }
  const json = async (folder: ClusterFolder, ...words: string[]) => {
    const { stdout, stderr, code } = await folder.run(...words, '--json')
    expect(code, stderr).toBe(0)
    return JSON.parse(stdout)
  }
  const failing = Array.from({ length: PAGES }, (_, n) => `/${n}`).sort()

  /** All thousand are in the ledger; once it is well, they are crawled, each once, and nothing else. */
  async function allComeBack(
    folder: ClusterFolder,
    crawl: () => Promise<unknown>,
    { kills, hasBegun }: { kills: number; hasBegun: (retrying: Running) => Promise<void> },
  ): Promise<void> {
    await crawl()
    expect(asked.toSorted()).toEqual(['/', ...failing].toSorted())
    const { kept, total, trimmed, groups } = await json(folder, 'failed', 'list', 'pages')
    expect({ kept, total, trimmed }).toEqual({ kept: PAGES, total: PAGES, trimmed: 0 })
    expect(groups).toHaveLength(1)
    expect(groups[0]).toMatchObject({
      signature: 'status-503',
      kept: PAGES,
      first: { reason: 'status', status: 503 },
    })
    const listed = await json(
      folder,
      'failed',
      'list',
      'pages',
      '--signature',
      'status-503',
      '--limit',
      '2000',
    )
    expect(listed.map(({ url }: { url: string }) => new URL(url).pathname).sort()).toEqual(failing)
    expect((await folder.run('failed', 'show', 'pages', 'status-503', '--body')).stdout).toContain(
      'out of order',
    )

    isIll = false
    asked = []
    // Killed while it queues: what one has not queued the next one does.
    for (let n = 0; n < kills; n++) {
      const retrying = folder.start('failed', 'retry', 'pages', '--host', '127.0.0.1')
      await hasBegun(retrying)
      retrying.kill('SIGKILL')
      await retrying.exited
    }
    const last = await folder.run('failed', 'retry', 'pages', '--host', '127.0.0.1')
    expect(last.code, last.stderr).toBe(0)
    expect(await json(folder, 'failed', 'list', 'pages')).toMatchObject({ kept: 0, total: PAGES })
    await crawl()
    expect(asked.toSorted()).toEqual(failing)
    expect((await folder.run('failed', 'list', 'pages', '--status', '503')).stdout).toBe(
      'no request that was given up matches\n',
    )
  }

  /** Resolves when it has taken some of the ledger, or has ended. */
  async function hasQueuedSome({ exited }: Running, crawlId: string): Promise<void> {
    const key = `webloom:{pages@${crawlId}}:failures`
    const before = await redis.command('HLEN', key)
    let isOver = false
    void exited.then(() => {
      isOver = true
    })
    await vi.waitUntil(async () => isOver || (await redis.command('HLEN', key)) !== before, { interval: 2 })
  }

  describe.each([...modes])('on Redis, QUEUE_MODE=%s', (mode) => {
    const settings = () => ({
      ...SETTINGS,
      REDIS_URL: redis.url,
      CRAWL_ID: freshCrawlId(`failed-${mode}`),
      QUEUE_MODE: mode,
      SCHEDULER_PERSIST: true,
    })

    test('a host that failed its pages: all are kept, and a retry crawls exactly these', async () => {
      const given = settings()
      await using folder = await ClusterFolder.of({ seeds: [] }, given, spider(), SHORT_TIMES)
      let workers = 0
      await allComeBack(
        folder,
        async () => {
          const ended = await folder.worker(`w${++workers}`).exited
          expect(ended.code, ended.stderr).toBe(0)
        },
        { kills: isLong ? 2 : 1, hasBegun: (retrying) => hasQueuedSome(retrying, given.CRAWL_ID) },
      )
      expect((await folder.run('clear', 'pages')).code).toBe(0)
      expect(await redis.command('KEYS', `*${given.CRAWL_ID}}:failures*`)).toEqual([])
    }, 180_000)

    test.runIf(isLong)(
      'a worker that is killed among pages that fail: each page is in the ledger, once',
      async () => {
        const given = settings()
        await using folder = await ClusterFolder.of({ seeds: [] }, given, spider(), SHORT_TIMES)
        const [victim, other] = [folder.worker('a'), folder.worker('b')]
        const key = `webloom:{pages@${given.CRAWL_ID}}:failures`
        await expect
          .poll(() => redis.command('HLEN', key), { timeout: 60_000, interval: 5 })
          .toBeGreaterThan(PAGES / 5)
        victim.kill('SIGKILL')
        const ended = await other.exited
        expect(ended.code, ended.stderr).toBe(0)
        expect(await json(folder, 'failed', 'list', 'pages')).toMatchObject({
          kept: PAGES,
          total: PAGES,
          trimmed: 0,
        })
        const listed = await json(folder, 'failed', 'list', 'pages', '--reason', 'status', '--limit', '2000')
        expect(listed.map(({ url }: { url: string }) => new URL(url).pathname).sort()).toEqual(failing)
      },
      180_000,
    )
  })

  test.runIf(isLong)(
    'the same in a JOBDIR',
    async () => {
      await using folder = await ClusterFolder.of({ seeds: [] }, { ...SETTINGS, JOBDIR: 'job' }, spider())
      await allComeBack(
        folder,
        async () => {
          const ended = await folder.run('crawl', 'pages')
          expect(ended.code, ended.stderr).toBe(0)
        },
        // Waits: a JOBDIR says nothing to others: by then some pages have failed.
        { kills: 1, hasBegun: () => sleep(1500) },
      )
    },
    180_000,
  )
}
