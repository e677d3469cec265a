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
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLI, projectFolder } from '../projects/project-folder.ts'
import { type Asked, ChangingWeb } from './changing-web.ts'

const PAGES = 300
const DAYS = 6
const KILLS_PER_DAY = 3
/** What was asked for so shortly before a kill may not have been committed: until a worker's next message, and while its requests wait. */
const UNDER_WAY_MS = 3000

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

const everyPage = ['/', ...Array.from({ length: PAGES }, (_, n) => `/p/${n}`)].sort()

async function crawlDays(start: (day: number, isFirst: boolean, folder: TempDir) => StartedProcess) {
  await using web = await ChangingWeb.start({ pages: PAGES })
  await using folder = await projectFolder({ 'spider.ts': spiderOf(web) })
  for (let day = 0; day < DAYS; day++) {
    const kills: number[] = []
    for (let kill = 0; kill < KILLS_PER_DAY; kill++) {
      const process = start(day, kill === 0, folder)
      const killed = askedFor(web, 10 + Math.floor(Math.random() * (PAGES / KILLS_PER_DAY)))
      await Promise.race([killed, process.exited])
      kills.push(performance.now())
      process.kill('SIGKILL')
      await process.exited.catch(() => {})
    }
    const { code, stderr } = await start(day, false, folder).exited
    expect(code, stderr).toBe(0)
    const asked = web.asked()
    expect([...new Set(asked.map(({ path }) => path))].sort(), `day ${day}`).toEqual(everyPage)
    expect(visitedTwice(asked, kills), `day ${day}`).toEqual([])
    console.log(`day ${day}: ${asked.length} requests for ${everyPage.length} pages, ${kills.length} kills`)
  }
}

const SETTINGS = ['-s', 'RECRAWL=fixed', '-s', 'DOWNLOAD_DELAY=0', '-s', 'CONCURRENT_REQUESTS=4']

describe('days of kills', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.stop())

  test('in a JOBDIR', () =>
    crawlDays((day, _isFirst, folder) =>
      startOn(day, folder, ['runspider', 'spider.ts', '-s', 'JOBDIR=job', ...SETTINGS]),
    ))

  test('on Redis', () =>
    crawlDays((day, isFirst, folder) =>
      startOn(day, folder, [
        'worker',
        'spider.ts',
        ...(isFirst ? ['--new'] : []),
        '-s',
        `REDIS_URL=${server.url}`,
        ...SETTINGS,
      ]),
    ))
}, 600_000)
