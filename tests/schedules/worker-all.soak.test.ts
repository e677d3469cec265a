/**
 * Runs that begin by themselves on machines that are killed, and a Redis that is: judged by what the web was asked for. And all that
 * `webloom schedule` refuses, which schedule-command.test.ts has a part of.
 */

import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type FakeWebProcess,
  type RedisServer,
  startFakeWebProcess,
  startProcess,
  startRedis,
} from '@webloom/testkit'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import './schedule-command.test.ts'
import { ClusterFolder, fetchCounts, followingSpider, randomOf } from '../cluster/cluster-crawl.ts'
import { CLI, projectFolder } from '../projects/project-folder.ts'

const ROUNDS = Number(process.env.SCHEDULE_ROUNDS ?? 10)
const TIMEOUT_MS = 900_000
/** Of the schedule whose runs are missed; a run takes some seconds. */
const EVERY_MS = 20_000

let redis: RedisServer
let web: FakeWebProcess
beforeAll(async () => {
  ;[redis, web] = await Promise.all([
    startRedis({ appendonly: 'always' }),
    startFakeWebProcess({ hosts: 2, pagesPerHost: 30, crossHostLinks: 0.2, latencyMs: [10, 60] }),
  ])
})
afterAll(() => Promise.all([redis.stop(), web[Symbol.asyncDispose]()]))

const projectOf = async (more: Readonly<Record<string, unknown>> = {}) => {
  await redis.command('FLUSHALL')
  await web.resetHits()
  return ClusterFolder.of(web, {
    REDIS_URL: redis.url,
    LOG_FORMAT: 'json',
    CONCURRENT_REQUESTS: 4,
    ...more,
  })
}

const runsOf = async (folder: ClusterFolder): Promise<{ state: string; pages: number }[]> =>
  JSON.parse((await folder.run('runs', 'pages', '--json')).stdout)

const finished = (folder: ClusterFolder, count: number) =>
  vi.waitFor(
    async () => {
      const runs = await runsOf(folder)
      expect(runs.filter(({ state }) => state === 'finished')).toHaveLength(count)
    },
    { timeout: 90_000, interval: 1000 },
  )

const serve = (folder: ClusterFolder) => folder.start('worker', '--all', '--processes', '2')
const IS_THERE = /begins runs that are due/

const expectEachPage = async (check: (count: number | undefined, url: string) => void) => {
  const counts = fetchCounts(await web.hits())
  for (const url of web.reachable()) check(counts.get(url), url)
}

test('two machines serve a project: a run that is due is begun once, and both take part', {
  timeout: TIMEOUT_MS,
}, async () => {
  // A run takes some ten seconds: it goes on while commands are typed.
  await using folder = await projectOf({ DOWNLOAD_DELAY: 0.3, RANDOMIZE_DOWNLOAD_DELAY: false })
  const machines = [serve(folder), serve(folder)]
  await Promise.all(machines.map((one) => one.waitForOutput(IS_THERE, 30_000)))
  await folder.run('schedule', 'pages', '0 6 * * *')
  await folder.run('schedule', 'run', 'pages')
  await finished(folder, 1)
  expect(await runsOf(folder)).toHaveLength(1)
  await expectEachPage((count, url) => expect(count, url).toBe(1))
  expect(machines.filter((one) => /begun by its schedule/.test(one.stderr))).toHaveLength(1)
  for (const one of machines) expect(one.stderr).toMatch(/"msg":"crawl ended: finished"/)
  // While one goes on, another that is due is not begun.
  await folder.run('schedule', 'run', 'pages')
  await web.waitForHits(web.reachable().size + 5, 60_000)
  await folder.run('pause', 'pages')
  await folder.run('schedule', 'run', 'pages')
  await vi.waitFor(async () => {
    const { stdout } = await folder.run('schedule', 'list')
    expect(stdout).toContain('not begun (the run before had not ended)')
  })
  await folder.run('resume', 'pages')
  await finished(folder, 2)
  for (const one of machines) {
    one.kill('SIGTERM')
    expect((await one.exited).code).toBe(143)
  }
  expect(await runsOf(folder)).toHaveLength(2)
  await expectEachPage((count, url) => expect(count, url).toBe(2))
})

test('a run that its worker refuses is a failed one: its schedule says why, and people are told', {
  timeout: TIMEOUT_MS,
}, async () => {
  const told: string[] = []
  const hook = createServer(async (request, response) => {
    told.push(await text(request))
    response.end('ok')
  }).listen(0, '127.0.0.1')
  await once(hook, 'listening')
  const host = `127.0.0.1:${(hook.address() as AddressInfo).port}`
  await using folder = await projectOf({ MONITOR_WEBHOOKS: [`http://${host}/`] })
  // Its pages are to be visited again: a run without RECRAWL is refused by what it finds on Redis, and by no setting.
  await folder.run('crawl', 'pages', '-s', 'RECRAWL=fixed')
  const machine = serve(folder)
  await machine.waitForOutput(IS_THERE, 30_000)
  await folder.run('schedule', 'pages', '0 6 * * *')
  await folder.run('schedule', 'run', 'pages')
  await vi.waitFor(
    async () => {
      const { stdout } = await folder.run('schedule', 'list', '--json')
      expect(JSON.parse(stdout)[0].last).toMatchObject({
        outcome: 'failed',
        why: expect.stringContaining(
          'RECRAWL is off, and the crawl that goes on here comes back to its pages',
        ),
      })
    },
    { timeout: 60_000, interval: 1000 },
  )
  await vi.waitFor(() => expect(told.join()).toContain('RECRAWL is off'))
  machine.kill('SIGTERM')
  await machine.exited
  hook.close().closeAllConnections()
})

test('what a component of one schedule does as it is made, or another spider’s file, ends no crawl', {
  timeout: TIMEOUT_MS,
}, async () => {
  await redis.command('FLUSHALL')
  const spider = (name: string) => `import { Spider } from 'webloom'
export class One extends Spider {
  override name = '${name}'
}`
  const harmless = 'export class Pipe { processItem(item) { return item } }'
  await using folder = await projectFolder({
    'webloom.config.ts': `export default { spiders: 'spiders' }`,
    'spiders/calm.ts': spider('calm'),
    'spiders/odd.ts': `${spider('odd')}\nif (process.argv.includes('--all')) setTimeout(() => Promise.reject(new Error('of odd')), 100)`,
    'pipe.ts': harmless,
  })
  const webloom = (...words: string[]) =>
    startProcess(process.execPath, [CLI, ...words], {
      cwd: folder.path,
      env: { ...process.env, REDIS_URL: redis.url, WEBLOOM_COMPONENT_TIMEOUT: '10' },
      timeoutMs: TIMEOUT_MS,
    })
  const pipe = ['-s', 'ITEM_PIPELINES={"./pipe.ts#Pipe":300}']
  await webloom('schedule', 'calm', '@yearly', '--name', 'bad', ...pipe).exited
  await webloom('schedule', 'calm', '@yearly').exited
  const machine = webloom('worker', '--all')
  await machine.waitForOutput(/all crawls are served on/, 30_000)
  const whyOf = async (text: string) => {
    writeFileSync(folder.join('pipe.ts'), text)
    await webloom('schedule', 'run', 'bad').exited
    await machine.waitForOutput(/could not be begun/, 60_000)
    machine.forget()
    const { stdout } = await webloom('schedule', 'list', '--json').exited
    return (JSON.parse(stdout) as { name: string; last: object }[]).find(({ name }) => name === 'bad')?.last
  }
  expect(
    await whyOf(
      `export class Pipe { db = Promise.reject(new Error('no database')); processItem(item) { return item } }`,
    ),
  ).toMatchObject({ outcome: 'failed', why: expect.stringContaining('no database') })
  expect(await whyOf(`await new Promise(() => setInterval(() => {}, 1e9))\n${harmless}`)).toMatchObject({
    outcome: 'failed',
    why: expect.stringContaining('not ready after 10 s'),
  })
  expect(await whyOf(`for (;;) {}`)).toMatchObject({ outcome: 'failed' })
  await webloom('schedule', 'run', 'calm').exited
  await machine.waitForOutput(/crawl ended: finished/, 60_000)
  machine.kill('SIGTERM')
  expect((await machine.exited).code).toBe(143)
})

test('secrets of a schedule reach its run, and no list of processes shows them', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using folder = await projectOf({ DOWNLOAD_DELAY: 0.3, RANDOMIZE_DOWNLOAD_DELAY: false })
  const machine = serve(folder)
  await machine.waitForOutput(IS_THERE, 30_000)
  await folder.run('schedule', 'pages', '0 6 * * *', '-s', 'MAIL_PASS=hunter2', '-s', 'CONCURRENT_REQUESTS=3')
  await folder.run('schedule', 'run', 'pages')
  await web.waitForHits(5, 60_000)
  const seen = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [
          {
            words: readFileSync(`/proc/${pid}/cmdline`, 'utf8'),
            env: readFileSync(`/proc/${pid}/environ`, 'utf8'),
          },
        ]
      } catch {
        // It has ended, or is another user's.
        return []
      }
    })
  expect(seen.filter(({ words }) => words.includes('CONCURRENT_REQUESTS=3')).length).toBeGreaterThan(0)
  expect(seen.filter(({ words }) => words.includes('hunter2'))).toEqual([])
  expect(seen.filter(({ env }) => env.includes('hunter2')).length).toBeGreaterThan(0)
  await finished(folder, 1)
  machine.kill('SIGTERM')
  await machine.exited
})

test('the machine that took a run is killed, at any moment: the run is begun all the same, and once', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using folder = await projectOf()
  const random = randomOf(7)
  let machines = [serve(folder), serve(folder)]
  await Promise.all(machines.map((one) => one.waitForOutput(IS_THERE, 30_000)))
  await folder.run('schedule', 'pages', '0 6 * * *')
  for (let round = 1; round <= ROUNDS; round++) {
    await folder.run('schedule', 'run', 'pages')
    // Waits: for any moment, before a machine asks what is due, which each does once a second, while it begins the run, or after that.
    await sleep(random() * 1500)
    const killed = machines[round % 2]!
    killed.kill('SIGKILL')
    await killed.exited
    machines = machines.map((one) => (one === killed ? serve(folder) : one))
    await finished(folder, round)
    expect(await runsOf(folder), `round ${round}`).toHaveLength(round)
    await expectEachPage((count, url) =>
      expect(count, `round ${round}: ${url}`).toBeGreaterThanOrEqual(round),
    )
  }
})

test('a Redis that is killed keeps schedules; what was due meanwhile is made up once', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using folder = await projectOf()
  const machine = serve(folder)
  await machine.waitForOutput(IS_THERE, 30_000)
  await folder.run('schedule', 'pages', `*/${EVERY_MS / 1000} * * * * *`)
  await redis.kill()
  // Waits: until two runs are missed; the present one may have been begun before.
  await sleep(3 * EVERY_MS - (Date.now() % EVERY_MS))
  await redis.restart()
  await finished(folder, 1)
  machine.kill('SIGTERM')
  await machine.exited
  // One more may have been due since.
  expect((machine.stderr.match(/begun by its schedule/g) ?? []).length).toBeLessThanOrEqual(2)
  expect((await folder.run('schedule', 'list')).stdout).toContain(`*/${EVERY_MS / 1000} * * * * *`)
})

test('a machine that is stopped in the middle of a run goes on with it when it is there again', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using folder = await projectOf()
  await folder.run('schedule', 'pages', '0 6 * * *')
  const before = serve(folder)
  await before.waitForOutput(IS_THERE, 30_000)
  await folder.run('schedule', 'run', 'pages')
  await web.waitForHits(10, 60_000)
  before.kill('SIGTERM')
  await before.exited
  expect((await runsOf(folder))[0]!.state).not.toBe('finished')
  const after = serve(folder)
  await after.waitForOutput(/crawl ended: finished/, 60_000)
  await expectEachPage((count, url) => expect(count, url).toBeGreaterThanOrEqual(1))
})

test('crawls that go on at the same time share the processes of a machine', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using folder = await projectOf({ DOWNLOAD_DELAY: 0.5, RANDOMIZE_DOWNLOAD_DELAY: false })
  writeFileSync(folder.path('spiders/others.ts'), followingSpider(web).replace("'pages'", "'others'"))
  const machine = folder.start('worker', '--all', '--processes', '4')
  await machine.waitForOutput(/serves others, pages, .*begins runs that are due/, 30_000)
  const workersOf = async (spider: string) => {
    const { workers } = JSON.parse((await folder.run('status', spider, '--json')).stdout)
    return (workers as { lost: boolean }[]).filter(({ lost }) => !lost).length
  }
  const shares = (pages: number, others: number) =>
    vi.waitFor(
      async () => expect([await workersOf('pages'), await workersOf('others')]).toEqual([pages, others]),
      { interval: 500 },
    )
  for (const spider of ['pages', 'others']) await folder.run('schedule', spider, '@yearly')
  await folder.run('schedule', 'run', 'pages')
  await shares(4, 0)
  await folder.run('schedule', 'run', 'others')
  await shares(2, 2)
  await finished(folder, 1)
  await machine.waitForOutput(/"spider":"others".*"msg":"crawl ended: finished"/, 90_000)
  await expectEachPage((count, url) => expect(count, url).toBe(2))
})
