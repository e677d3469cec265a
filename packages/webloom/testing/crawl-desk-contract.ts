import { type CrawlDesk, type CrawlDesks, InvalidUrl, type Moment } from '@webloom/core'
import { type ContractTests, type Implementation, runContract, type TestRunner } from '@webloom/core/contract'
import { expect, vi } from 'vitest'

/**
 * A desk, and its crawl of one host, which has no delay. `/` yields an item and links to /1, /2 and /3, which answer 503, and to
 * /held, which answers after `release`. Each is asked for once.
 */
export interface DeskUnderTest {
  readonly desk: CrawlDesk
  /** The desks among which it is. */
  readonly desks: CrawlDesks
  /** `http://127.0.0.1:41234`. */
  readonly origin: string
  /** Paths that the site was asked for, in order. */
  readonly asked: readonly string[]
  release(): void
  /** Resolves to the crawl's `finish_reason`. */
  readonly ended: Promise<string>
}

const HOST = '127.0.0.1'
const FAILING = ['/1', '/2', '/3']
// Workers on Redis write their stats with their heartbeat.
const WITHIN = { interval: 100 }

async function underWay({ desk }: DeskUnderTest): Promise<void> {
  await vi.waitFor(async () => {
    const { stats, counts } = await desk.status()
    expect([stats['failed/count'], counts.leased]).toEqual([FAILING.length, 1])
  }, WITHIN)
}

async function idsByPath({ desk }: DeskUnderTest): Promise<Map<string, string>> {
  const failed = await desk.failed!({}, 10)
  return new Map(failed.map(({ id, url }) => [new URL(url).pathname, id]))
}

/** What is only looked at, one after the other: a crawl for each would take longer than all of them. */
const LOOKS: ContractTests<DeskUnderTest> = {
  'figures are those of the site': async (crawl) => {
    const { desk, asked } = crawl
    const { state, paused, finishReason, endedAt, workers, stats } = await desk.status()
    expect({ state, paused, finishReason, endedAt }).toEqual({
      state: 'running',
      paused: false,
      finishReason: null,
      endedAt: null,
    })
    expect(workers).toHaveLength(1)
    expect(workers[0]).toMatchObject({ lost: false, pid: process.pid, downloading: 1 })
    expect(stats).toMatchObject({ response_received_count: asked.length - 1, item_scraped_count: 1 })
  },
  'it is in the list of crawls, with the same figures, and found by its id': async (crawl) => {
    const { desk, desks } = crawl
    const { id, spider, crawlId, server } = desk
    const { counts, begunAt } = await desk.status()
    const workers = { present: 1, lost: 0, blocked: 0 }
    expect(await desks.crawls()).toMatchObject([
      { id, spider, crawlId, server, state: 'running', begunAt, counts, workers, totals: { items: 1 } },
    ])
    expect(await desks.desk(id)).toBe(desk)
    expect(await desks.desk('none')).toBeUndefined()
  },
  'an item that was scraped is among the last ones': async (crawl) => {
    const { count, last } = await crawl.desk.items!()
    expect(count).toBe(1)
    expect(last!.map(({ json }) => JSON.parse(json))).toMatchObject([{ url: `${crawl.origin}/` }])
  },
  'its filter has seen what was queued, and nothing else; text that is not a URL is refused': async (
    crawl,
  ) => {
    const { desk, origin } = crawl
    expect(await desk.isKnown!(`${origin}/1`)).toMatchObject({ known: true })
    expect(await desk.isKnown!(`${origin}/none`)).toMatchObject({ known: false })
    expect(await desk.isKnown!(`${origin}/none`), 'asking records nothing').toMatchObject({ known: false })
    await expect(desk.isKnown!('none')).rejects.toThrow(InvalidUrl)
    expect(await desk.filter!()).toMatchObject({ exists: true, count: FAILING.length + 2 })
  },
  'failures: by signature, with the first response; by filter; none beyond those asked for': async (
    crawl,
  ) => {
    const { desk } = crawl
    const { count, groups } = await desk.failures!()
    expect([count, groups.length]).toEqual([FAILING.length, 1])
    const [{ signature, total, examples }] = groups as [(typeof groups)[number]]
    expect([total, examples.length]).toEqual([FAILING.length, FAILING.length])
    expect(await desk.failedResponse!(signature)).toMatchObject({ status: 503, text: 'ill' })
    expect(await desk.failedResponse!('none')).toBeUndefined()
    expect(await desk.failed!({ signature, status: 503, host: HOST }, 2)).toHaveLength(2)
    expect(await desk.failed!({ status: 404 }, 10)).toEqual([])
  },
  'a host that the crawl never reached has nothing waiting': async (crawl) => {
    const { slot, statuses, errors } = await crawl.desk.host('other.example')
    expect(slot).toMatchObject({ state: 'none', waiting: 0, delayed: 0, leased: 0 })
    expect([statuses, errors]).toEqual([null, []])
  },
}

const TESTS: ContractTests<DeskUnderTest> = {
  [Object.keys(LOOKS).join('; ')]: async (crawl) => {
    await underWay(crawl)
    for (const look of Object.values(LOOKS)) await look(crawl)
  },
  'a failed request is queued again once, and crawled; one that is dropped is gone': async (crawl) => {
    await underWay(crawl)
    const { desk, asked } = crawl
    const ids = await idsByPath(crawl)
    const [again, gone] = [{ ids: [ids.get('/1')!] }, { ids: [ids.get('/2')!] }]
    const before = asked.length
    expect(await desk.retryFailed!(again)).toEqual({ queued: 1, unreadable: 0 })
    expect(await desk.dropFailed!(gone)).toBe(1)
    expect(await desk.dropFailed!(gone)).toBe(0)
    await vi.waitFor(() => expect(asked.slice(before)).toEqual(['/1']), WITHIN)
    await vi.waitFor(
      async () => expect([...(await idsByPath(crawl)).keys()].sort()).toEqual(['/1', '/3']),
      WITHIN,
    )
    expect(asked.slice(before)).toEqual(['/1'])
  },
  'a delay and a boost that are set for a host are shown as such, and go when they are taken back': async (
    crawl,
  ) => {
    await underWay(crawl)
    const { desk } = crawl
    const seen = async () => {
      const { slot, delayFrom, isBoosted } = await desk.host(HOST)
      return { delayMs: slot!.delayMs, isByHand: delayFrom?.startsWith('set by hand, 2') === true, isBoosted }
    }
    const before = await seen()
    expect(before).toMatchObject({ isByHand: false, isBoosted: false })
    await desk.setHost!(HOST, { delayMs: 60_000, boost: true })
    const set = { delayMs: 60_000, isByHand: true, isBoosted: true }
    await vi.waitFor(async () => expect(await seen()).toEqual(set), WITHIN)
    await desk.setHost!(HOST, { delayMs: null, boost: false })
    await vi.waitFor(async () => expect(await seen()).toEqual(before), WITHIN)
  },
  'a pause lasts until the crawl is resumed; a finished crawl cannot be stopped': async (crawl) => {
    await underWay(crawl)
    const { desk } = crawl
    expect(await desk.pause!()).toBe(true)
    expect(await desk.status()).toMatchObject({ state: 'running', paused: true })
    crawl.release()
    expect(await desk.resume!()).toBe(true)
    expect(await desk.status()).toMatchObject({ paused: false })
    expect(await crawl.ended).toBe('finished')
    expect(await desk.status()).toMatchObject({ state: 'finished', finishReason: 'finished' })
    expect(await desk.stop!()).toBe(false)
  },
  'a stop ends the crawl with its reason; then it can be neither paused nor resumed': async (crawl) => {
    await underWay(crawl)
    const { desk } = crawl
    const beforeMs = Date.now()
    expect(await desk.stop!('enough')).toBe(true)
    crawl.release()
    expect(await crawl.ended).toBe('enough')
    const { state, finishReason, endedAt } = await desk.status()
    expect([state, finishReason]).toEqual(['stopped', 'enough'])
    expect(Date.parse(endedAt as Moment)).toBeGreaterThanOrEqual(beforeMs - 1000)
    expect([await desk.pause!(), await desk.resume!()]).toEqual([false, false])
    expect(await desk.stop!('again'), 'it is stopped').toBe(true)
    expect((await desk.status()).finishReason).toBe('enough')
  },
}

/** Every CrawlDesk runs this, with the CrawlDesks that have it. */
export function crawlDeskContract(runner: TestRunner, implementation: Implementation<DeskUnderTest>): void {
  runContract(runner, 'CrawlDesk', TESTS, implementation)
}
