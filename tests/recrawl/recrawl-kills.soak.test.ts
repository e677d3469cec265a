/**
 * `npm run soak`: crawls that come back to their pages, by processes that are killed. By the shops' log each page is visited on each day on
 * which it is due, and none a second time, but for what a killed process had asked for and not noted.
 */

import { type RedisServer, startRedis } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { randomOf } from '../cluster/cluster-crawl.ts'
import { DAY_MS, KilledCrawl, type KilledCrawlOptions, type Worker } from './kills/days-of-kills.ts'
import { type AskedBy, WatchedShops } from './kills/watched-shops.ts'

const SHOPS = 6
const PAGES_PER_SHOP = 40
const DAYS = 5
const KILLS_PER_DAY = 3
const AT_ONCE = 4
/** Days until a page is visited again, at the most: RECRAWL_INTERVAL_MAX. */
const DAYS_MAX = 2
/** While a run lasts more pages come due, and on Redis a page is visited up to ten minutes early. */
const SOON_MS = 900_000
const SEED = Number(process.env.SOAK_SEED ?? Math.floor(Math.random() * 1e6))
const random = randomOf(SEED + 1)

const settingsOf = (recrawl: string) =>
  [
    `RECRAWL=${recrawl}`,
    `RECRAWL_INTERVAL_MAX=${24 * DAYS_MAX}`,
    'DOWNLOAD_DELAY=0',
    `CONCURRENT_REQUESTS=${AT_ONCE}`,
    // A run without anything to do would wait for what nobody pushes.
    'SCHEDULER_IDLE_BEFORE_CLOSE=0',
  ].flatMap((pair) => ['-s', pair])

interface CrawlOptions extends Omit<KilledCrawlOptions, 'web'> {
  readonly workers: number
}

/** A run of the crawl, while it lasts. */
interface Run {
  readonly day: number
  readonly web: WatchedShops
  readonly crawl: KilledCrawl
  /** Workers that nobody has killed. */
  alive: readonly Worker[]
}

/** What happens to a run. Resolves to what is to be said of a page that was asked for twice; undefined: it had to be. */
type Disturb = (run: Run) => Promise<(repeat: Repeat) => string | undefined>

interface Repeat {
  readonly url: string
  /** Who had asked for it before. */
  readonly before: string
  /** How often it had been asked for. */
  readonly times: number
}

const undisturbed: Disturb = async () => () => 'nobody was killed'

/** Lets it go on until it has asked for so many pages more. Resolves to false when it was over before. */
async function goesOnFor({ web, alive }: Run, pages: number): Promise<boolean> {
  const enough = web.heldAfter(pages).then(() => true)
  web.release()
  return Promise.race([enough, Promise.all(alive.map(({ process }) => process.exited)).then(() => false)])
}

/** Kills the one that asked last, and starts another in its place. */
async function killOne(run: Run): Promise<Worker> {
  const { web, crawl, alive, day } = run
  const last = web.asked.at(-1)?.worker
  const victim = alive.find(({ name }) => name === last) ?? alive[0]!
  await crawl.kill(victim)
  run.alive = [...alive.filter((one) => one !== victim), await crawl.worker(day, false)]
  return victim
}

const aPartOf = ({ web }: Run, parts: number) => 1 + Math.floor((random() * web.urls.length) / parts)

/** In a JOBDIR a page is done in one transaction with its links and its visit: only what was under way comes again. */
const killedInJobdir: Disturb = async (run) => {
  const left = new Map<string, number>()
  for (let n = 0; n < KILLS_PER_DAY; n++)
    if (await goesOnFor(run, aPartOf(run, KILLS_PER_DAY + 1))) left.set((await killOne(run)).name, AT_ONCE)
  return ({ before }) => {
    const more = left.get(before)
    if (more === undefined) return `${before} was not killed`
    left.set(before, more - 1)
    return more > 0 ? undefined : `${before} had no more than ${AT_ONCE} under way`
  }
}

const killedOnRedis: Disturb = async (run) => {
  const { web, crawl, day } = run
  const noted = new Map<string, ReadonlySet<string>>()
  const sinceMs = Date.now() + day * DAY_MS - PROCESS_MS_MAX
  for (let n = 0; n < KILLS_PER_DAY; n++)
    if (await goesOnFor(run, aPartOf(run, KILLS_PER_DAY + 1))) {
      const { name } = await killOne(run)
      const done = await crawl.visitedSince(sinceMs, web.urls)
      noted.set(name, done)
      const asked = web.asked.filter(({ worker, url }) => worker === name && !done.has(url))
      console.log(`${name} is killed: ${asked.length} of its pages are not noted`)
      // What it was fetching, and what the message said that was on its way.
      expect(asked.length, name).toBeLessThanOrEqual(2 * AT_ONCE)
    }
  return ({ url, before }) => {
    const done = noted.get(before)
    if (!done) return `${before} was not killed`
    return done.has(url) ? `${before} had noted it` : undefined
  }
}

/** How long before its first kill a run may have begun. */
const PROCESS_MS_MAX = 3_600_000

/** Redis comes back as it was some pages before; on every second day a worker is killed with it. */
const setBack =
  (redis: RedisServer): Disturb =>
  async (run) => {
    const { web, crawl, day } = run
    const sinceMs = Date.now() + day * DAY_MS - PROCESS_MS_MAX
    await goesOnFor(run, aPartOf(run, 3))
    const kept = await crawl.visitedSince(sinceMs, web.urls)
    await redis.remember()
    const goesOn = await goesOnFor(run, aPartOf(run, 3))
    if (goesOn && day % 2 === 1) await killOne(run)
    await redis.setBack()
    // The run was over, and Redis has forgotten that: who comes next finds what is due again.
    if (!goesOn) run.alive = [...run.alive, await crawl.worker(day, false)]
    return ({ url, times }) => {
      if (kept.has(url)) return 'its visit was not lost'
      return times === 1 ? undefined : `it had been asked for ${times} times`
    }
  }

/** Runs the crawl on that day until nothing is left. Resolves to what is wrong with pages that were asked for twice. */
async function runOn(
  run: Omit<Run, 'alive'>,
  { workers }: CrawlOptions,
  disturb: Disturb,
): Promise<string[]> {
  const { web, crawl, day } = run
  web.forget()
  web.hold()
  const asked = web.heldAfter(1)
  const first = await crawl.worker(day, true)
  await Promise.race([asked, first.process.exited])
  const alive = [first]
  while (alive.length < workers) alive.push(await crawl.worker(day, false))
  for (const { process } of alive) await Promise.race([process.waitForOutput(/pace: /), process.exited])
  const whole: Run = { ...run, alive }
  const wrongOf = await disturb(whole)
  web.release()
  for (const { process } of whole.alive) {
    const { code, stderr } = await process.exited
    expect(code, stderr).toBe(0)
  }
  return repeatsIn(web.asked).flatMap((repeat) => {
    const wrong = wrongOf(repeat)
    return wrong === undefined ? [] : [`${repeat.url} again: ${wrong}`]
  })
}

function repeatsIn(asked: readonly AskedBy[]): readonly Repeat[] {
  const last = new Map<string, { readonly worker: string; readonly times: number }>()
  return asked.flatMap(({ url, worker }) => {
    const before = last.get(url)
    last.set(url, { worker, times: (before?.times ?? 0) + 1 })
    return before ? [{ url, before: before.worker, times: before.times }] : []
  })
}

async function crawlDays(options: CrawlOptions, disturb: Disturb) {
  console.log(`SOAK_SEED=${SEED}`)
  const latencyMs = () => 5 + 40 * random()
  await using web = await WatchedShops.start({ shops: SHOPS, pagesPerShop: PAGES_PER_SHOP, latencyMs })
  await using crawl = await KilledCrawl.of({ ...options, web })
  const [, , gone] = web.urls
  const known = new Set<string>()
  let lastDay: number | undefined
  const visitedOn = async (day: number, disturbed: Disturb) => {
    const dueBy = (time: number) => (known.size === 0 ? [] : crawl.due(time))
    const due = await dueBy(day)
    const isNearlyDue = new Set(await dueBy(day + SOON_MS / DAY_MS))
    // A start page is visited after RECRAWL_INTERVAL at the latest, which is a day.
    const starts = day === lastDay ? [] : web.startUrls
    lastDay = day
    const expected = [...due, ...starts, ...web.urls.filter((url) => !known.has(url))]
    const wrong = await runOn({ day, web, crawl }, options, disturbed)
    const visited = new Set(web.asked.map(({ url }) => url))
    const others = [...visited].filter((url) => !expected.includes(url))
    expect(
      expected.filter((url) => !visited.has(url)),
      `day ${day}: not visited`,
    ).toEqual([])
    expect(
      // The link of a list that has changed leads back to the page that was gone.
      others.filter((url) => !isNearlyDue.has(url) && url !== gone),
      `day ${day}: visited too soon`,
    ).toEqual([])
    expect(wrong, `day ${day}`).toEqual([])
    for (const url of visited) known.add(url)
    // Each page is due at one time.
    expect([...(await crawl.listed(day))].sort(), `day ${day}: known`).toEqual([...known].sort())
    if (options.redis) expect(await crawl.total(), `day ${day}`).toBe(known.size)
    console.log(
      `day ${day}: ${web.asked.length} requests for ${visited.size} pages, ${due.length} of them due`,
    )
    return due
  }

  for (let day = 0; day < DAYS; day++) {
    if (day > 0) web.grow()
    for (const url of web.urls) if (random() < 0.2) web.change(url)
    if (day === 1) web.remove(gone!)
    if (day === 4) web.bringBack(gone!)
    await visitedOn(day, disturb)
  }
  const late = DAYS + DAYS_MAX
  const due = await visitedOn(late, undisturbed)
  expect([...due].sort(), 'all are due so late').toEqual([...known].sort())
  await visitedOn(late, undisturbed)
  expect(web.asked, 'nothing is due again').toEqual([])
}

describe.each(['fixed', 'adaptive'])(
  'RECRAWL=%s, days of kills',
  (recrawl) => {
    const settings = settingsOf(recrawl)

    test('in a JOBDIR only what was under way is visited twice', () =>
      crawlDays({ settings, workers: 1 }, killedInJobdir))

    test('on Redis only what the killed one of three workers had not noted is visited twice', async () => {
      await using redis = await startRedis()
      await crawlDays({ settings, redis, workers: 3 }, killedOnRedis)
    })

    test('on a Redis that comes back older each day: that costs a page one visit at the most', async () => {
      await using redis = await startRedis({ appendonly: 'everysec', config: { appendfsync: 'no' } })
      await crawlDays({ settings, redis, isSetBack: true, workers: 2 }, setBack(redis))
    })
  },
  600_000,
)
