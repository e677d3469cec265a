/**
 * `npm run soak`: crawls that come back to their pages, by processes that are killed. Each day all pages are due; by the site's log each is
 * visited on each day, and none a second time that had been done before a kill.
 */

import {
  type RedisServer,
  type StartedProcess,
  startProcess,
  startRedis,
  type TempDir,
} from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { CLI, projectFolder } from '../projects/project-folder.ts'
import { type Asked, ChangingWeb } from './changing-web.ts'

const PAGES = 300
const DAYS = 6
const KILLS_PER_DAY = 3
/** What was asked for so shortly before a kill may not have been committed: until a worker's next message, and while its requests wait. */
const UNDER_WAY_MS = 3000
/** Shorter than a process takes to start. */
const HEARD_MS = 100

const spiderOf = (web: ChangingWeb) => `import { type Response, Spider } from 'webloom'

export default class Shop extends Spider {
  override name = 'shop'
  override startUrls = ['${web.origin}/']
  override *parse(response: Response) {
    yield* response.followAll('a', { callback: this.parseItem })
  }
  *parseItem(response: Response) {
    yield { url: response.url }
  }
}
`

/** A process for which it is so many days later. */
function startOn(day: number, folder: TempDir, args: readonly string[]): StartedProcess {
  const later = `const now = Date.now.bind(Date); Date.now = () => now() + ${day} * 86400000`
  return startProcess(process.execPath, [CLI, ...args], {
    cwd: folder.path,
    timeoutMs: 120_000,
    env: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(later)}` },
  })
}

/** Resolves when the site was asked for so many pages more. */
function askedFor(web: ChangingWeb, pages: number): Promise<void> {
  let left = pages
  return new Promise((resolve) => {
    web.onAsked = () => {
      if (--left <= 0) resolve()
    }
  })
}

/** Waits: resolves when the site has answered what a killed process had sent: its requests are in the sockets of this process until then. */
const heard = () => new Promise((resolve) => setTimeout(resolve, HEARD_MS))

/** Paths that were asked for again although they had been asked for long before the kill. */
function visitedTwice(asked: readonly Asked[], kills: readonly number[]): string[] {
  const last = new Map<string, number>()
  const twice: string[] = []
  for (const { path, atMs } of asked) {
    const before = last.get(path)
    last.set(path, atMs)
    if (before === undefined) continue
    if (!kills.some((kill) => kill >= before && kill - before < UNDER_WAY_MS)) twice.push(path)
  }
  return twice
}

/** How many requests asked for a page that had been asked for before. */
const repeatsIn = (asked: readonly Asked[]) => asked.length - new Set(asked.map(({ path }) => path)).size

const everyPage = ['/', ...Array.from({ length: PAGES }, (_, n) => `/p/${n}`)].sort()

/** @param lostPerKill how many pages a kill makes be fetched again at the most, whenever they were asked for; absent: bounded by the clock alone */
async function crawlDays(start: Start, lostPerKill?: number) {
  await using web = await ChangingWeb.start({ pages: PAGES })
  await using folder = await projectFolder({ 'spider.ts': spiderOf(web) })
  for (let day = 0; day < DAYS; day++) {
    const kills: number[] = []
    for (let kill = 0; kill < KILLS_PER_DAY; kill++) {
      const process = start(day, kill === 0, folder)
      const killed = askedFor(web, 10 + Math.floor(Math.random() * (PAGES / KILLS_PER_DAY)))
      await Promise.race([killed, process.exited])
      process.kill('SIGKILL')
      await process.exited.catch(() => {})
      await heard()
      kills.push(performance.now())
    }
    const { code, stderr } = await start(day, false, folder).exited
    expect(code, stderr).toBe(0)
    const asked = web.asked()
    expect([...new Set(asked.map(({ path }) => path))].sort(), `day ${day}`).toEqual(everyPage)
    expect(visitedTwice(asked, kills), `day ${day}`).toEqual([])
    if (lostPerKill !== undefined)
      expect(repeatsIn(asked), `day ${day}`).toBeLessThanOrEqual(kills.length * lostPerKill)
    console.log(`day ${day}: ${asked.length} requests for ${everyPage.length} pages, ${kills.length} kills`)
  }
}

/** Each day the queue's Redis comes back as it was some pages before; on every second day its worker is killed with it. */
async function crawlDaysSetBack(server: RedisServer, start: Start) {
  await using web = await ChangingWeb.start({ pages: PAGES })
  await using folder = await projectFolder({ 'spider.ts': spiderOf(web) })
  for (let day = 0; day < DAYS; day++) {
    const process = start(day, true, folder)
    await askedFor(web, 1 + Math.floor(Math.random() * PAGES) / 3)
    const rememberedMs = performance.now()
    await server.remember()
    await askedFor(web, 1 + Math.floor(Math.random() * PAGES) / 3)
    if (day % 2 === 1) process.kill('SIGKILL')
    await server.setBack()
    const backMs = performance.now()
    if (day % 2 === 1) {
      await process.exited.catch(() => {})
      await start(day, false, folder).exited
    } else {
      const { code, stderr } = await process.exited
      expect(code, stderr).toBe(0)
    }
    const asked = web.asked()
    expect([...new Set(asked.map(({ path }) => path))].sort(), `day ${day}`).toEqual(everyPage)
    const isLost = ({ atMs }: Asked) => atMs > rememberedMs - UNDER_WAY_MS && atMs < backMs + UNDER_WAY_MS
    const twice = asked.filter(
      ({ path, atMs }, n) => !isLost(asked[n]!) && asked.some((one) => one.path === path && one.atMs > atMs),
    )
    expect(twice, `day ${day}`).toEqual([])
    const most = Math.max(...everyPage.map((path) => asked.filter((one) => one.path === path).length))
    expect(most, `day ${day}: requests for one page`).toBeLessThanOrEqual(2)
    console.log(`day ${day}: ${asked.length} requests for ${everyPage.length} pages, one set-back`)
  }
}

type Start = (day: number, isFirst: boolean, folder: TempDir) => StartedProcess

const AT_ONCE = 4
const SETTINGS = ['-s', 'RECRAWL=fixed', '-s', 'DOWNLOAD_DELAY=0', '-s', `CONCURRENT_REQUESTS=${AT_ONCE}`]

const workerOf =
  ({ url }: RedisServer): Start =>
  (day, isFirst, folder) =>
    startOn(day, folder, [
      'worker',
      'spider.ts',
      ...(isFirst ? ['--new'] : []),
      '-s',
      `REDIS_URL=${url}`,
      ...SETTINGS,
    ])

describe('days of kills', () => {
  test('in a JOBDIR', () =>
    // A page is done in one transaction with its links and its visit: only what was under way comes again.
    crawlDays(
      (day, _isFirst, folder) =>
        startOn(day, folder, ['runspider', 'spider.ts', '-s', 'JOBDIR=job', ...SETTINGS]),
      AT_ONCE,
    ))

  test('on Redis', async () => {
    await using server = await startRedis()
    await crawlDays(workerOf(server))
  })

  test('on a Redis that comes back older each day: that costs a page one visit at the most', async () => {
    await using server = await startRedis({ appendonly: 'everysec', config: { appendfsync: 'no' } })
    await crawlDaysSetBack(server, workerOf(server))
  })
}, 600_000)
