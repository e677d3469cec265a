/** A crawl that waits for the next day, as its budget is spent, is let go on today: judged by what the web was asked for. */

import { setTimeout as sleep } from 'node:timers/promises'
import { startFakeWeb, startFakeWebProcess, startRedis, tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { crawl } from 'webloom'
import { ClusterFolder, SHORT_TIMES, settingsOf } from '../cluster/cluster-crawl.ts'
import { FollowAll } from './crawl-web.ts'
import { listeningTo } from './listening.ts'

const WEB = { seed: 11, hosts: 3, pagesPerHost: 60, crossHostLinks: 0.2 }

test('in a JOBDIR: stopped, and begun again by the same line with a larger budget', async () => {
  await using folder = await tempDir()
  await using web = await startFakeWeb(WEB)
  class OfThisWeb extends FollowAll {
    override startUrls = [...web.seeds]
  }
  /** Until it says that it waits, and all that it may fetch was asked for: what was not might not be on its way yet. */
  const run = async (pages: number) => {
    const waits = Promise.withResolvers<void>()
    const stopping = new AbortController()
    const running = crawl(OfThisWeb, {
      settings: { JOBDIR: folder.join('job'), BUDGETS: { day: { pages } } },
      signal: stopping.signal,
      logger: listeningTo(({ message }) => {
        if (message.includes('stop it and type its line again with larger BUDGETS')) waits.resolve()
      }),
    })
    await Promise.race([Promise.all([waits.promise, web.waitForHits(pages, 60_000)]), running])
    // Waits: one page too many would be asked for now.
    await sleep(300)
    stopping.abort()
    expect((await running).finishReason).toBe('shutdown')
  }
  await run(8)
  expect(web.hits).toHaveLength(8)
  await run(20)
  expect(web.hits).toHaveLength(20)
})

test('on Redis: workers that are there go on by webloom budgets renew, and spend as much again and no more', async () => {
  await using server = await startRedis()
  await using web = await startFakeWebProcess(WEB)
  const { REDIS_URL, ...settings } = settingsOf(server, 'renew it')
  await using folder = await ClusterFolder.of(web, settings, undefined, SHORT_TIMES)
  // As a schedule gives them: nobody else knows of the budgets, nor of their Redis.
  const BUDGETS = JSON.stringify({ day: { pages: 8 }, hostDay: { pages: 50 }, tz: 'Asia/Tokyo' })
  const place = ['-s', `REDIS_URL=${REDIS_URL}`]
  const worker = folder.worker('a', '-s', `BUDGETS=${BUDGETS}`, ...place)
  const [, line] = await worker.waitForOutput(/To go on today: {2}webloom (budgets renew [^"]+)"/, 30_000)
  const { stdout: status } = await folder.run('status', 'pages', ...place)
  expect(status).toMatch(/pages 8 of 8 · pages spent: requests wait until .* Asia\/Tokyo/)
  expect(status).toContain(`to go on today:  webloom ${line}\n`)
  const refused = await Promise.all([
    folder.run('budgets', 'renew', 'pages', '-s', 'CRAWL_ID=misspelt', ...place),
    folder.run('budgets', 'renew', 'pages', '--host', 'no.example', ...place),
  ])
  expect(refused.map(({ code }) => code)).toEqual([2, 2])
  expect(refused[0].stderr).toContain('there is no crawl "pages" (CRAWL_ID misspelt) at ')
  expect(refused[1].stderr).toContain('nothing is known of what no.example has spent on ')
  const words = line!.match(/(?:'[^']*'|\S)+/g)!.map((word) => word.replaceAll("'", ''))
  const { stdout } = await folder.run(...words)
  expect(stdout).toMatch(/^renewed: 8 pages of \d{4}-\d\d-\d\d no longer count for /)
  expect(stdout).toContain('Hosts that wait go on within five minutes')
  await web.waitForHits(16, 30_000)
  expect((await folder.run('stop', 'pages', ...place)).code).toBe(0)
  await worker.exited
  expect(await web.hits()).toHaveLength(16)
})
