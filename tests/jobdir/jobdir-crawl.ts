/** What the tests of JOBDIR share: a folder with a spider in it, and crawls of it by real processes. */

import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { FakeWeb, ProcessResult, TempDir } from '@webloom/testkit'
import { type Running, startWebloom } from '../projects/command-hosts.ts'
import { projectFolder } from '../projects/project-folder.ts'

/** A folder in which `spider.ts` crawls a fake web, with JOBDIR=job. */
export class JobFolder implements AsyncDisposable {
  readonly #dir: TempDir
  #release = 0

  private constructor(dir: TempDir) {
    this.#dir = dir
  }

  static async of(web: FakeWeb, spider = spiderOf(web)): Promise<JobFolder> {
    return new JobFolder(await projectFolder({ 'spider.ts': spider }))
  }

  /** `webloom runspider spider.ts -s JOBDIR=job` and what else is given. */
  start(...args: string[]): Running {
    const words = ['runspider', 'spider.ts', '-s', 'JOBDIR=job', ...args]
    return startWebloom(words, { cwd: this.#dir.path, release: this.#release, timeoutMs: 120_000 })
  }

  run(...args: string[]): Promise<ProcessResult> {
    return this.start(...args).exited
  }

  /** Another spider, for crawls that are started from now on. */
  writeSpider(spider: string): void {
    this.#release++
    writeFileSync(this.path('spider.ts'), spider)
  }

  path(name: string): string {
    return this.#dir.join(name)
  }

  read(name: string): string {
    return readFileSync(this.path(name), 'utf8')
  }

  /** The `url` of each line; every line must be whole. */
  itemUrls(name = 'out.jsonl'): string[] {
    return this.read(name)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { url: string }).url)
  }

  /** What the file of the JOBDIR says, while no crawl has it. */
  ask(sql: string): Record<string, unknown> {
    const database = new DatabaseSync(this.path('job/webloom.sqlite'))
    try {
      return database.prepare(sql).get() ?? {}
    } finally {
      database.close()
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dir.remove()
  }
}

/** Follows every link, and yields an item for each page. */
export function spiderOf(web: FakeWeb, start = ''): string {
  return `import { Request, type Response, Spider } from 'webloom'

export default class Everything extends Spider {
  name = 'everything'
  startUrls = ${JSON.stringify(web.seeds)}
  ${start}
  async *parse(response: Response) {
    yield { url: response.url, title: response.css('title::text').get() }
    yield* response.followAll()
  }
}
`
}

export function messages({ stderr }: { readonly stderr: string }): string[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => String((JSON.parse(line) as { msg: unknown }).msg))
}

/** So many numbers from 1 to `most`, the same for the same seed (Park and Miller's generator). */
export function randomHits(seed: number, count: number, most: number): number[] {
  let state = seed
  return Array.from({ length: count }, () => {
    state = (state * 48_271) % 2_147_483_647
    return 1 + (state % most)
  })
}

/** What a crawl with kills has come to. */
export interface KilledCrawl {
  readonly kills: number
  /** Requests that were leased when their process was killed, all kills together. */
  readonly inFlight: number
  /** Requests that the web saw beyond the first of each URL. */
  readonly repeats: number
  readonly last: ProcessResult
}

/** Kills the crawl after each so many hits, and then lets it run to its end. */
export async function crawlWithKills(
  folder: JobFolder,
  web: FakeWeb,
  hitsBeforeKills: readonly number[],
  args: readonly string[] = [],
): Promise<KilledCrawl> {
  let kills = 0
  let inFlight = 0
  for (const hits of hitsBeforeKills) {
    const running = folder.start('-o', 'out.jsonl', ...args)
    const arrived = web.waitForHits(web.hits.length + hits, 60_000)
    const ended = await Promise.race([arrived.then(() => false), running.exited.then(() => true)])
    arrived.catch(() => {})
    if (ended) break
    running.kill('SIGKILL')
    await running.exited
    kills++
    inFlight += Number(folder.ask('SELECT count(*) AS leased FROM requests WHERE state = 1').leased)
  }
  const last = await folder.run('-o', 'out.jsonl', ...args)
  // A flaky page's failures are asked for again by the retry middleware.
  const answered = web.hits.filter(({ status }) => status < 500)
  return { kills, inFlight, repeats: answered.length - new Set(answered.map(({ url }) => url)).size, last }
}
