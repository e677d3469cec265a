import {
  type BodyTo,
  type BudgetAsk,
  type BudgetLimits,
  type Crawler,
  MemoryStatsCollector,
  Request,
  Response,
  Settings,
  Signals,
  silentLogger,
} from '@webloom/core'
import { expect, test } from 'vitest'
import { Downloader } from '../downloader.ts'
import { wholeAnswer } from '../handlers/whole-answer.ts'
import { BudgetsMiddleware, type BudgetsOptions, restOf } from './budgets.ts'

const BODY = Buffer.from('twelve bytes')

/** Of a crawl with these limits, whose book answers so. */
const budgetsOf = (
  limits: BudgetLimits,
  spend: BudgetsOptions['book']['spend'],
  more: Partial<BudgetsOptions> = {},
) =>
  new BudgetsMiddleware({
    plan: { limits, after: { crawl: 'stop', day: 'wait', host: 'drop', hostDay: 'wait' }, tz: 'UTC' },
    book: { spend },
    hostOf: () => undefined,
    close: () => {},
    stats: new MemoryStatsCollector(),
    logger: silentLogger,
    ...more,
  })

/** What the book is asked for fetches, where all answers have that body, and those to `/kept` are another middleware's. */
async function asksOf(...fetches: readonly [path: string, bodyTo?: BodyTo][]): Promise<readonly BudgetAsk[]> {
  const asks: BudgetAsk[] = []
  const budgets = budgetsOf({ host: { bytes: 100 } }, (some) => {
    asks.push(...some)
    return some.map(() => undefined)
  })
  const cache = {
    processRequest: ({ url }: Request) =>
      url.endsWith('/kept') ? new Response(url, { body: BODY }) : undefined,
  }
  const downloader = new Downloader({
    handlers: {
      http: { download: async (request, options) => wholeAnswer(request, { body: BODY }, options) },
    },
    deadline: { timeoutMs: 1000, stats: new MemoryStatsCollector(), logger: silentLogger },
    middlewares: [
      { name: 'cache', component: cache },
      { name: 'budgets', component: budgets },
    ],
    signals: new Signals(() => {}),
    logger: silentLogger,
    spider: { name: 'test' },
  })
  for (const [path, bodyTo] of fetches)
    await downloader.fetch(new Request(`http://a.example${path}`), {
      signal: new AbortController().signal,
      onStart() {},
      ...(bodyTo && { bodyTo }),
    })
  await budgets.tellBytes()
  return asks
}

test('what another middleware answers, such as the HTTP cache, has come from no host', async () => {
  expect(await asksOf(['/kept'])).toEqual([])
  expect(await asksOf(['/kept'], ['/asked'])).toMatchObject([{ pages: 1 }, { pages: 0, bytes: 12 }])
})

test('bytes that are handed on as they come, as those of files are, are spent, too', async () => {
  expect(await asksOf(['/file', () => () => {}])).toMatchObject([{ pages: 1 }, { pages: 0, bytes: 12 }])
})

test('hosts that wait for the next day are looked at again: one after five minutes, a million ten a second, and all when it begins', async () => {
  const nowMs = Date.parse('2026-11-27T06:00:00Z')
  const pauses: number[] = []
  const budgets = budgetsOf(
    { day: { pages: 1 } },
    (some) => some.map(() => ({ window: 'day', kind: 'pages' })),
    {
      hostOf: () => ({ onHostNews: ({ pauseMs = 0 }) => void pauses.push(pauseMs) }) as never,
      now: () => nowMs,
    },
  )
  for (let n = 0; n < 5000; n++) await budgets.processRequest(new Request(`http://h${n}.example/`))
  expect(pauses.slice(0, 2)).toEqual([300_000, 300_100])
  expect(pauses.at(-1)).toBe(300_000 + 4999 * 100)
})

test('requests of one host that were under way together are looked at once: they put off no other host', async () => {
  let nowMs = Date.parse('2026-11-27T06:00:00Z')
  const pauses: number[] = []
  const budgets = budgetsOf(
    { day: { pages: 1 } },
    (some) => some.map(() => ({ window: 'day', kind: 'pages' })),
    {
      hostOf: () => ({ onHostNews: ({ pauseMs = 0 }) => void pauses.push(pauseMs) }) as never,
      now: () => nowMs,
    },
  )
  const refused = (host: string) => budgets.processRequest(new Request(`http://${host}.example/`))
  for (let n = 0; n < 8; n++) await refused('a')
  await refused('b')
  nowMs += 60_000
  await refused('a')
  // Its look is over: it waits for another one.
  nowMs += 240_000
  await refused('a')
  expect(pauses).toEqual([...Array(8).fill(300_000), 300_100, 240_000, 300_000])
})

test.each([
  [{}, undefined, 'lost, as the crawl is in memory'],
  [{ JOBDIR: 'job' }, undefined, 'kept where the crawl is kept'],
  [{}, {}, 'deleted, as SCHEDULER_PERSIST is false'],
  [{ SCHEDULER_PERSIST: true }, {}, 'kept where the crawl is kept'],
  [{ RECRAWL: 'fixed' }, {}, 'kept where the crawl is kept'],
])(
  'a crawl that ends by its budget says what becomes of the rest: %o, on Redis with %o',
  async (command, others, text) => {
    const settings = Settings.fromLayers({ command })
    const rest = restOf({ settings, ...(others && { others: others as NonNullable<Crawler['others']> }) })
    expect(rest).toContain(text)
    const said: string[] = []
    const logger = { ...silentLogger, warn: (line: unknown) => void said.push(String(line)) }
    const budgets = budgetsOf(
      { crawl: { pages: 1 } },
      (some) => some.map(() => ({ window: 'crawl', kind: 'pages' })),
      { rest, logger },
    )
    await budgets.processRequest(new Request('http://a.example/'))
    expect(said.join()).toContain(`what waits is ${rest}`)
  },
)

test('a budget that was renewed and is spent once more on the same day is told again', async () => {
  const said: string[] = []
  const logger = { ...silentLogger, warn: (line: unknown) => void said.push(String(line)) }
  let isSpent = true
  const budgets = budgetsOf(
    { day: { pages: 1 } },
    (some) => some.map(() => (isSpent ? { window: 'day', kind: 'pages' } : undefined)),
    { logger, now: () => Date.parse('2026-11-27T06:00:00Z') },
  )
  const ask = () => budgets.processRequest(new Request('http://a.example/'))
  for (const [spent, told] of [
    [true, 1],
    [true, 1],
    [false, 1],
    [true, 2],
  ] as const) {
    isSpent = spent
    await ask()
    expect(said).toHaveLength(told)
  }
})
