/** What the tests of a cluster share: a project with a spider, Redis servers, and worker processes that can be killed. */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type FakeWeb,
  type FakeWebProcess,
  type FakeWebTruth,
  type Hit,
  type ProcessResult,
  type RedisServer,
  type StartedProcess,
  startFakeWebProcess,
  startProcess,
  type TempDir,
} from '@webloom/testkit'
import { expect } from 'vitest'
import { HAS_HOSTS, hosts, type Running } from '../projects/command-hosts.ts'
import { CommandLine } from '../projects/command-line.ts'
import { cliOf, PACKAGE, projectFolder } from '../projects/project-folder.ts'

const SCALED_BIN = join(import.meta.dirname, 'scaled-webloom.ts')

/** Never reached. With a limit for all workers stats are written every second, so those of killed ones are there. */
export const STATS_EACH_SECOND = { CLOSESPIDER_PAGECOUNT: 1_000_000 }

/**
 * A lock lasts a second with it instead of six. For tests whose promise is not how soon: what they show holds for any times
 * that keep their order, and of each kind one has the real ones.
 */
export const SHORT_TIMES = 0.2

/** One process runs them for all files that share this one, and ends with it. */
const commands = new CommandLine()
const LINE_MS_MAX = 300_000
/** What looks at a crawl, or tells it something, and ends. */
const BRIEF = new Set(
  'budgets clear export failed host import pause quarantine resume runs seed status stop'.split(' '),
)

/** The settings that belong to the protocol's times. */
const timedSettings = (factor: number) => ({
  DUPEFILTER_PENDING_STALE: 10 * factor,
  WORKER_BLOCKED_MAX: 60 * factor,
  REDIS_PARAMS: { socket_timeout: 4 * factor },
})

/** The settings of a crawl of its own on that Redis. @param name what its CRAWL_ID begins with */
export const settingsOf = (
  redis: RedisServer,
  name: string,
  more: Readonly<Record<string, unknown>> = {},
) => ({
  REDIS_URL: redis.url,
  CRAWL_ID: freshCrawlId(name),
  LOG_FORMAT: 'json',
  ...more,
})

/** A project folder whose spider `pages` crawls a fake web, and the workers that run it. */
export class ClusterFolder implements AsyncDisposable {
  readonly #dir: TempDir
  readonly #settings: Readonly<Record<string, unknown>>
  readonly #factor: number
  readonly #cli: string
  readonly #isOwnRelease: boolean
  readonly #started: Running[] = []
  #release = 0

  private constructor(
    dir: TempDir,
    settings: Readonly<Record<string, unknown>>,
    { factor, home }: { factor: number; home: string },
  ) {
    this.#dir = dir
    this.#settings = { ...(factor !== 1 && timedSettings(factor)), ...settings }
    this.#factor = factor
    this.#cli = factor === 1 ? cliOf(home) : SCALED_BIN
    this.#isOwnRelease = home === PACKAGE
  }

  /**
   * @param factor of the protocol's times, for all that is started in the folder: see `SHORT_TIMES`
   * @param home of the package whose command line is started: another release has its own times, so without a factor
   */
  static async of(
    web: Pick<FakeWebTruth, 'seeds'>,
    settings: Readonly<Record<string, unknown>>,
    spider = followingSpider(web),
    factor = 1,
    home = PACKAGE,
  ): Promise<ClusterFolder> {
    const dir = await projectFolder({}, home)
    mkdirSync(dir.join('spiders'))
    const folder = new ClusterFolder(dir, settings, { factor, home })
    folder.writeSpider(spider)
    folder.configure({})
    return folder
  }

  /** Writes the config anew, for workers that are started from now on. */
  configure(more: Readonly<Record<string, unknown>>): void {
    this.#release++
    const settings = JSON.stringify({ ...this.#settings, ...more })
    writeFileSync(
      this.#dir.join('webloom.config.ts'),
      `import { defineConfig } from 'webloom'\nexport default defineConfig({ spiders: 'spiders', settings: ${settings} })\n`,
    )
  }

  /** Another release of it, for workers that are started from now on. */
  writeSpider(spider: string): void {
    this.#release++
    writeFileSync(this.#dir.join('spiders/pages.ts'), spider)
  }

  path(name: string): string {
    return this.#dir.join(name)
  }

  /** `webloom <words>` in the folder, as a process of its own. */
  start(...words: string[]): StartedProcess {
    const started = startProcess(process.execPath, [this.#cli, ...words], {
      cwd: this.#dir.path,
      ...(this.#factor !== 1 && { env: { PROTOCOL_TIMES_FACTOR: String(this.#factor) } }),
      timeoutMs: LINE_MS_MAX,
    })
    this.#started.push(started)
    return started
  }

  /** The same, in a process that has run other crawls before. */
  begin(...words: string[]): Running {
    if (!HAS_HOSTS || !this.#isOwnRelease || words.includes('--processes')) return this.start(...words)
    const line = hosts.start(words, {
      cwd: this.#dir.path,
      release: this.#release,
      factor: this.#factor,
      timeoutMs: LINE_MS_MAX,
    })
    this.#started.push(line)
    return line
  }

  /** To its end. A command that only looks or tells knows the config of the folder's first such one. */
  run(...words: string[]): Promise<ProcessResult> {
    const [name = ''] = words
    if (!this.#isOwnRelease || !BRIEF.has(name)) return this.begin(...words).exited
    return commands.run(words, { cwd: this.#dir.path, factor: this.#factor })
  }

  /** A worker that writes its items to a file of its own, and its stats when it ends. */
  worker(name: string, ...words: string[]): Running {
    return this.begin(...workerWords(name, words))
  }

  /** The same as a process of its own, for tests of how it ends. */
  workerProcess(name: string, ...words: string[]): StartedProcess {
    return this.start(...workerWords(name, words))
  }

  /** The sum of these stats of all workers that have ended in order. */
  counted(...keys: string[]): number {
    const all = readdirSync(this.#dir.path)
      .filter((name) => name.startsWith('stats-'))
      .map((name) => JSON.parse(readFileSync(this.path(name), 'utf8')) as Record<string, number>)
    return all.flatMap((stats) => keys.map((key) => stats[key] ?? 0)).reduce((sum, count) => sum + count, 0)
  }

  /** How many pages may have been fetched again because workers were killed, counted by all: see STATS_EACH_SECOND. */
  async repeatsCounted(): Promise<number> {
    const { stats } = JSON.parse((await this.run('status', 'pages', '--json')).stdout)
    return ['scheduler/redelivered', 'dupefilter/taken_over']
      .map((stat) => Number(stats[stat] ?? 0))
      .reduce((a, b) => a + b)
  }

  /** The items in all item files; every line must be whole, but for the last of a killed worker. */
  items(): Record<string, unknown>[] {
    return readdirSync(this.#dir.path)
      .filter((name) => name.startsWith('items-'))
      .flatMap((name) => readFileSync(this.path(name), 'utf8').split('\n'))
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  }

  itemUrls(): string[] {
    return this.items().map(({ url }) => url as string)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const started of this.#started) started.kill('SIGKILL')
    await Promise.allSettled(this.#started.map(({ exited }) => exited))
    await this.#dir.remove()
  }
}

const workerWords = (name: string, words: readonly string[]) => [
  ...['worker', 'pages', '-o', `items-${name}.jsonl`, '--stats-file', `stats-${name}.json`],
  ...words,
]

let crawlIds = 0

/** A CRAWL_ID that nobody had before: a test that is tried again must not find the crawl of its first try. */
export function freshCrawlId(name: string): string {
  return `${name}-${++crawlIds}`
}

/** Follows every link, and yields an item for each page. */
export function followingSpider(web: Pick<FakeWebTruth, 'seeds'>, body = ''): string {
  return `import { Request, type Response, Spider } from 'webloom'

export default class Pages extends Spider {
  name = 'pages'
  startUrls = ${JSON.stringify(web.seeds)}
  ${body}
  async *parse(response: Response) {
    yield { url: response.url }
    yield* response.followAll()
  }
}
`
}

/** The same with start URLs from Redis beside its own: it ends when nothing has come for a while. */
export function seededSpider(startUrls: readonly string[], body = ''): string {
  return `import { RedisSpider, type Response } from 'webloom'

export default class Pages extends RedisSpider {
  name = 'pages'
  startUrls = ${JSON.stringify(startUrls)}
  maxIdleTime = 2.5
  ${body}
  async *parse(response: Response) {
    yield { url: response.url }
    yield* response.followAll()
  }
}
`
}

/**
 * Every page was fetched and is in the items, and no more was fetched again than the workers have counted, than two workers that had
 * one page at a moment may have, and `more`.
 * Resolves to how much was.
 */
export async function expectComplete(
  web: FakeWeb | FakeWebProcess,
  folder: Pick<ClusterFolder, 'itemUrls' | 'counted'>,
  { more = 0 }: { more?: number } = {},
): Promise<number> {
  const hits = typeof web.hits === 'function' ? await web.hits() : web.hits
  const counts = fetchCounts(hits)
  expect(
    [...web.linked()].filter((url) => !counts.has(url)),
    'pages never fetched',
  ).toEqual([])
  const urls = new Set(folder.itemUrls())
  expect(
    [...web.reachable()].filter((url) => !urls.has(url)),
    'pages without an item',
  ).toEqual([])
  const repeats = repeatsIn(hits)
  const counted = folder.counted('scheduler/redelivered', 'dupefilter/taken_over', 'scheduler/postponed')
  expect(repeats, 'pages fetched again').toBeLessThanOrEqual(
    counted + repeatsOfSimultaneous(web, hits) + more,
  )
  return repeats
}

/**
 * How long a worker may take to end, once the last page is there and all workers are; on a machine that does nothing else it
 * is below a second. Somebody may have to be missed first, for ten seconds.
 */
const END_MS_MAX = 15_000

/**
 * Three workers, started at moments that differ from seed to seed, on a web of few pages. Throws where one ends early or hangs.
 * Resolves to the CRAWL_ID.
 */
export async function finishRound(
  seed: number,
  { redis, mode }: { redis: RedisServer; mode: 'turns' | 'job' },
): Promise<string> {
  const random = randomOf(seed)
  await using web = await startFakeWebProcess({
    seed,
    hosts: 1 + Math.floor(random() * 3),
    pagesPerHost: 1 + Math.floor(random() * 30),
    crossHostLinks: 0.2,
    latencyMs: [0, Math.round(random() * 200)],
  })
  const settings = settingsOf(redis, `finish-${mode}-${seed}`, { QUEUE_MODE: mode, CONCURRENT_REQUESTS: 4 })
  await using folder = await ClusterFolder.of(web, settings)
  const ends = ['a', 'b', 'c'].map(async (name) => {
    // Waits: a worker is killed at any point of its work.
    await sleep(random() * 1500)
    const startedMs = performance.now()
    const result = await folder.worker(name).exited
    return { ...result, startedMs, cameMs: saidMs(linesOf(result)[0]), atMs: performance.now() }
  })
  const ended = await Promise.all(ends)
  for (const { code, stderr } of ended) expect(code, `seed ${seed}:\n${stderr}`).toBe(0)
  expect(await expectComplete(web, folder)).toBe(0)
  const lastMs = Math.max(...(await web.hits()).map(({ atMs, endedAtMs }) => endedAtMs ?? atMs))
  const allThereMs = Math.max(lastMs, ...ended.map(({ cameMs }) => cameMs))
  // To start takes a process of ours a second, or what the machine has time for: so much longer all else may take, too.
  const startMs = Math.max(...ended.map(({ startedMs, cameMs }) => cameMs - startedMs))
  for (const { atMs } of ended) expect(atMs - allThereMs, `seed ${seed}`).toBeLessThan(END_MS_MAX + startMs)
  return settings.CRAWL_ID
}

/** When a worker has said this, by this process's clock; 0 for one that has said nothing. */
function saidMs(line: Record<string, unknown> | undefined): number {
  return line ? Date.parse(String(line.time)) - performance.timeOrigin : 0
}

/** URLs that were answered in order, with how often. */
export function fetchCounts(hits: readonly Hit[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { url, status } of hits) if (status < 500) counts.set(url, (counts.get(url) ?? 0) + 1)
  return counts
}

/** How many fetches there were beyond the first of each page. */
export function repeatsIn(hits: readonly Hit[]): number {
  return [...fetchCounts(hits).values()].reduce((sum, count) => sum + count - 1, 0)
}

/**
 * The same, without the pages that are started with: they are not asked of the filter, and one that a page has linked
 * before start() yields it is fetched for both.
 */
export function repeatsOfLinks(web: FakeWebTruth, hits: readonly Hit[]): number {
  const starts = new Set(web.seeds)
  return repeatsIn(hits.filter(({ url }) => !starts.has(url)))
}

/** A page's links are queued, and settled, so long after it was answered. */
const HANDED_ON_MS = 1000

/**
 * Links that were fetched again and may be, as guarantee 1 says: two workers had their page at one moment, because it stood in the
 * queue twice or one of them was taken for lost. No worker counts them, as each was told that they are new.
 */
export function repeatsOfSimultaneous(web: FakeWebTruth, hits: readonly Hit[]): number {
  const counts = fetchCounts(hits)
  const links = new Set<string>()
  const endsMs = new Map<string, number>()
  for (const { url, atMs, endedAtMs = Number.POSITIVE_INFINITY } of [...hits].sort(
    (a, b) => a.atMs - b.atMs,
  )) {
    if (atMs < (endsMs.get(url) ?? Number.NEGATIVE_INFINITY) + HANDED_ON_MS)
      for (const link of web.page(url)?.links ?? []) links.add(link)
    endsMs.set(url, endedAtMs)
  }
  return [...links].filter((link) => (counts.get(link) ?? 0) > 1).length
}

/** The messages of a worker's log. */
export function messagesOf(worker: { readonly stderr: string }): string[] {
  return linesOf(worker).map(({ msg }) => String(msg))
}

/** The same, without what says that its machine had no time for it. */
export function messagesOfOwn(worker: { readonly stderr: string }): string[] {
  return messagesOf(worker).filter((message) => !OF_THE_MACHINE.test(message))
}

const OF_THE_MACHINE = /^(?:nothing else of this worker ran for|locks could not be kept while)/

/** A worker's log, written with LOG_FORMAT=json. */
export function linesOf({ stderr }: { readonly stderr: string }): Record<string, unknown>[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

/** A generator of numbers from 0 to 1, the same for the same seed (Park and Miller's). */
export function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
