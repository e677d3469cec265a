/** A crawl of shops whose runs are days apart, by processes that can be killed, and what it knows of its pages. */

import { setTimeout as sleep } from 'node:timers/promises'
import { fingerprinterOf, Request, Settings } from '@webloom/core'
import { crawlRedisKeys, RedisVisits } from '@webloom/queue'
import { type RedisServer, type StartedProcess, startProcess, type TempDir } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { CLI, projectFolder } from '../../projects/project-folder.ts'
import type { WatchedShops } from './watched-shops.ts'

export const DAY_MS = 86_400_000
const POLL_MS = 5

const spiderOf = (web: WatchedShops) => `import { type Response, Spider } from 'webloom'

export default class Shop extends Spider {
  override name = 'shop'
  override startUrls = ${JSON.stringify(web.startUrls)}
  override *parse(response: Response) {
    yield* response.followAll('a', { callback: this.parseItem })
  }
  *parseItem(response: Response) {
    yield { url: response.url }
  }
}
`

export interface KilledCrawlOptions {
  readonly web: WatchedShops
  readonly settings: readonly string[]
  /** Absent: it is kept in a JOBDIR. */
  readonly redis?: RedisServer
  /** True when that will be started anew: it knows no users then. */
  readonly isSetBack?: boolean
}

/** A process of the crawl: its USER_AGENT is its name. */
export interface Worker {
  readonly name: string
  readonly process: StartedProcess
}

export class KilledCrawl implements AsyncDisposable {
  readonly #options: KilledCrawlOptions
  readonly #folder: TempDir
  readonly #redis: Redis | undefined
  readonly #visits: RedisVisits | undefined
  readonly #workers: Worker[] = []

  private constructor(options: KilledCrawlOptions, folder: TempDir) {
    this.#options = options
    this.#folder = folder
    if (!options.redis) return
    this.#redis = new Redis(options.redis.url)
    const keys = crawlRedisKeys({ spider: 'shop', crawlId: null })
    this.#visits = new RedisVisits({ redis: this.#redis, keys, fingerprint })
  }

  static async of(options: KilledCrawlOptions): Promise<KilledCrawl> {
    return new KilledCrawl(options, await projectFolder({ 'spider.ts': spiderOf(options.web) }))
  }

  /** @param begins a run, and does not join one */
  async worker(day: number, begins: boolean): Promise<Worker> {
    const name = `worker-${this.#workers.length}`
    const where = await this.#where(name)
    const words = this.#redis ? ['worker', ...(begins ? ['--new'] : [])] : ['runspider']
    const { settings } = this.#options
    const process = this.#start(day, [
      ...words,
      'spider.ts',
      ...where,
      ...settings,
      '-s',
      `USER_AGENT=${name}`,
    ])
    const worker = { name, process }
    this.#workers.push(worker)
    return worker
  }

  /** Kills it, and resolves when its Redis has done all that it had sent; not where that is set back. */
  async kill({ name, process }: Worker): Promise<void> {
    process.kill('SIGKILL')
    await process.exited.catch(() => {})
    // Waits: Redis tells nobody whose connections it has closed.
    while (String(await this.#redis?.client('LIST')).includes(`user=${name} `)) await sleep(POLL_MS)
  }

  /** Resolves to those of the pages that have been visited since then, as is noted. */
  async visitedSince(ms: number, urls: readonly string[]): Promise<ReadonlySet<string>> {
    const found = await this.#visits!.find(urls.map((url) => fingerprint(new Request(url))))
    const sinceMs = Math.floor(ms / 1000) * 1000
    return new Set(urls.filter((_, n) => (found[n]?.visitedAt ?? 0) >= sinceMs))
  }

  /** Resolves to the pages that wait for their hours; one that is there twice comes twice. */
  listed(day: number): Promise<readonly string[]> {
    return this.#pages(day, 'list')
  }

  /** Resolves to those that a run would visit on that day. */
  due(day: number): Promise<readonly string[]> {
    return this.#pages(day, 'due')
  }

  async #pages(day: number, which: 'list' | 'due'): Promise<readonly string[]> {
    const words = ['visits', which, 'spider.ts', '--json', '--limit', '100000']
    const { settings } = this.#options
    const { code, stdout, stderr } = await this.#start(day, [
      ...words,
      ...(await this.#where('default')),
      ...settings,
    ]).exited
    if (code !== 0) throw new Error(stderr)
    return (JSON.parse(stdout) as { readonly url: string }[]).map(({ url }) => url)
  }

  /** How many pages are known, as is counted. */
  async total(): Promise<number | undefined> {
    return (await this.#visits?.totals())?.pages
  }

  async #where(user: string): Promise<readonly string[]> {
    const { redis, isSetBack } = this.#options
    if (!redis || !this.#redis) return ['-s', 'JOBDIR=job']
    if (isSetBack) return ['-s', `REDIS_URL=${redis.url}`]
    // Each has a user of its own: so it can be told whose connections are there still.
    await this.#redis.acl('SETUSER', user, 'on', 'nopass', '~*', '&*', '+@all')
    const url = new URL(redis.url)
    url.username = user
    url.password = 'any'
    return ['-s', `REDIS_URL=${url}`]
  }

  /** A process for which it is so many days later. */
  #start(day: number, args: readonly string[]): StartedProcess {
    const later = `const now = Date.now.bind(Date); Date.now = () => now() + ${day * DAY_MS}`
    return startProcess(process.execPath, [CLI, ...args], {
      cwd: this.#folder.path,
      timeoutMs: 180_000,
      env: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(later)}` },
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { process } of this.#workers) process.kill('SIGKILL')
    await Promise.allSettled(this.#workers.map(({ process }) => process.exited))
    this.#redis?.disconnect()
    await this.#folder.remove()
  }
}

const fingerprinter = fingerprinterOf(Settings.fromLayers({}), 'scrapy')
const fingerprint = (request: Request) => fingerprinter.fingerprint(request)
