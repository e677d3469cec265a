/**
 * `npm run soak`: each budget of each window, with each end that it may have, for two workers on Redis: judged by what the web was asked for, and
 * when.
 */

import { type FakeWeb, type RedisServer, startFakeWeb, startRedis } from '@webloom/testkit'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type CrawlResult, crawl, type SettingsInput } from 'webloom'
import { FollowAll, listeningLogger } from '../crawls/crawl-web.ts'
import { freshCrawlId } from './cluster-crawl.ts'

const HOSTS = 3
const AT_ONCE = 3
const WORKERS = 2
/** What has left and was not heard, or has come and was not counted. */
const IN_AIR = WORKERS * AT_ONCE
/** After so many requests the clock goes on by a minute. */
const PER_MINUTE = 4 * IN_AIR
const NOON = Date.UTC(2026, 0, 1, 12)
const NEXT_DAY = Date.UTC(2026, 0, 2)

const ENDS = {
  crawl: ['stop'],
  day: ['wait', 'stop'],
  host: ['drop', 'stop'],
  hostDay: ['wait', 'drop', 'stop'],
} as const
type Window = keyof typeof ENDS
type End = 'stop' | 'wait' | 'drop'
const LIMITS = { pages: 20, bytes: 40_000, minutes: 2 } as const
type What = keyof typeof LIMITS

const COMBINATIONS = (Object.keys(ENDS) as Window[]).flatMap((window) =>
  ENDS[window].flatMap((end) => (Object.keys(LIMITS) as What[]).map((what) => [what, window, end] as const)),
)
const isOfHosts = (window: Window) => window === 'host' || window === 'hostDay'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
afterEach(() => void vi.useRealTimers())

test.each(COMBINATIONS)('%s of %s, then %s', async (what, window, end) => {
  // What waits asks again when its day is over, by a clock that nobody moves.
  const isNearMidnight = end === 'wait' && what !== 'minutes'
  vi.useFakeTimers({ toFake: ['Date'], now: isNearMidnight ? NEXT_DAY - 1000 : NOON })
  await using web = await startFakeWeb({
    seed: 3,
    hosts: HOSTS,
    pagesPerHost: 100,
    crossHostLinks: 0.3,
    latencyMs: [1, 6],
  })
  const run = runsOf(web, { what, end }, { [window]: { [what]: LIMITS[what], after: end } })
  const first = await run()
  judge(first, { what, window, end })

  // The same day has no more of it. A run has all of its own budget once more.
  const isOfDay = window === 'day' || window === 'hostDay'
  if (end === 'drop') return
  const again = await run()
  if (window === 'hostDay' && end === 'stop')
    // Other hosts have some left.
    judge({ ...again, hits: [...first.hits, ...again.hits] }, { what, window, end })
  else if (isOfDay) expect(again.hits).toEqual([])
  else judge(again, { what, window, end })
  if (!isOfDay || (end === 'wait' && !isNearMidnight)) return
  vi.setSystemTime(NEXT_DAY)
  judge(await run(), { what, window, end })
})

interface Heard {
  readonly host: string
  readonly bytes: number
  readonly minute: number
  /** True when it may have left in the minute before. */
  readonly isEarly: boolean
}

interface Judged {
  readonly hits: readonly Heard[]
  readonly results: readonly CrawlResult[]
}

/** Runs of one crawl, by two workers each. */
function runsOf(
  web: FakeWeb,
  { what, end }: Pick<Combination, 'what' | 'end'>,
  BUDGETS: NonNullable<SettingsInput['BUDGETS']>,
): () => Promise<Judged> {
  const id = freshCrawlId('window')
  class OfThisWeb extends FollowAll {
    override startUrls = [...web.seeds]
  }
  const worker = () =>
    crawl(OfThisWeb, {
      settings: {
        BUDGETS,
        REDIS_URL: redis.url,
        CRAWL_ID: id,
        SCHEDULER_PERSIST: true,
        SCHEDULER_IDLE_BEFORE_CLOSE: 0,
        CONCURRENT_REQUESTS: AT_ONCE,
        DOWNLOAD_DELAY: 0,
        ...(end === 'wait' && { CLOSESPIDER_TIMEOUT: 3 }),
      },
      logger: listeningLogger().logger,
    })
  return async () => {
    const from = web.hits.length
    const beganAt = Math.floor(Date.now() / 60_000)
    /** How many requests had been heard at each tick. */
    const ticks: number[] = [from]
    const clock = setInterval(() => {
      if (what !== 'minutes' || web.hits.length < ticks.at(-1)! + PER_MINUTE) return
      ticks.push(web.hits.length)
      vi.setSystemTime(Date.now() + 60_000)
    }, 1)
    const results = await Promise.all(Array.from({ length: WORKERS }, worker))
    clearInterval(clock)
    const hits = web.hits.slice(from).map(({ url }, n): Heard => {
      const minute = ticks.findLastIndex((tick) => tick <= from + n)
      const bytes = Buffer.byteLength(web.page(url)?.html ?? '')
      return {
        host: new URL(url).host,
        bytes,
        minute: beganAt + minute,
        isEarly: minute > 0 && from + n - ticks[minute]! < IN_AIR,
      }
    })
    return { hits, results }
  }
}

interface Combination {
  readonly what: What
  readonly window: Window
  readonly end: End
}

function judge({ hits, results }: Judged, { what, window, end }: Combination): void {
  const each = isOfHosts(window) ? [...Map.groupBy(hits, ({ host }) => host).values()] : [hits]
  const spent = each.map((some) => SPENT[what](some))
  console.log(
    `${what} of ${window}, then ${end}: ${spent.join(' ')}; ${results.map(({ finishReason }) => finishReason).join(' ')}`,
  )
  for (const [n, amount] of spent.entries()) {
    const most =
      what === 'bytes'
        ? LIMITS.bytes + IN_AIR * Math.max(...each[n]!.map(({ bytes }) => bytes))
        : LIMITS[what]
    expect(amount).toBeLessThanOrEqual(most)
  }
  // All of it was spent; of hosts, one ends the crawl for all where that is what follows.
  const isSpent = spent.filter((amount) => amount >= LIMITS[what])
  expect(isSpent.length).toBeGreaterThanOrEqual(end === 'stop' || !isOfHosts(window) ? 1 : HOSTS)
  const reasons = {
    stop: `budget_${window === 'hostDay' ? 'host_day' : window}`,
    wait: 'closespider_timeout',
    drop: 'finished',
  }
  for (const { finishReason } of results) expect(finishReason).toBe(reasons[end])
}

const SPENT: Readonly<Record<What, (hits: readonly Heard[]) => number>> = {
  pages: (hits) => hits.length,
  bytes: (hits) => hits.reduce((sum, { bytes }) => sum + bytes, 0),
  // The fewest minutes that explain what was heard.
  minutes: (hits) => {
    const sure = new Set(hits.flatMap(({ minute, isEarly }) => (isEarly ? [] : [minute])))
    for (const { minute } of hits) if (!sure.has(minute) && !sure.has(minute - 1)) sure.add(minute)
    return sure.size
  },
}
