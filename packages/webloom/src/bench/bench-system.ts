/** One system that `webloom bench` measures, in a process of its own; it prints what it has measured as JSON. */

import { forgetCrawl } from '@webloom/queue'
import { type Response, Spider, type SpiderClass } from '@webloom/spider'
import { Agent, request } from 'undici'
import { clearFromOutside } from '../assembly/clear-crawl.ts'
import { withCrawlFromOutside } from '../assembly/crawl-from-outside.ts'
import { crawl } from '../authoring/crawl-api.ts'

/** What a system is told, as JSON on its command line. */
export interface BenchTask {
  /** `floor`: nothing but fetching pages whose URLs are known. */
  readonly system: 'floor' | 'crawl'
  readonly site: string
  readonly pages: number
  readonly concurrency: number
  readonly settings: Readonly<Record<string, string>>
  /** Whether the crawl leaves anything on Redis, which is then deleted. */
  readonly isShared: boolean
}

/** What it tells. */
export interface BenchFigures {
  readonly pages: number
  readonly seconds: number
  readonly cpuSeconds: number
  readonly rssMb: number
}

async function fetchAll({ site, pages, concurrency }: BenchTask): Promise<number> {
  const dispatcher = new Agent({ keepAliveTimeout: 4000 })
  let next = 0
  const work = async () => {
    while (next < pages) {
      const { body } = await request(`${site}/p/${next++}`, { dispatcher })
      await body.arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  await dispatcher.close()
  return pages
}

async function crawlAll({ site, concurrency, settings }: BenchTask): Promise<number> {
  const { stats } = await crawl(spiderOf(site), {
    settings: {
      CONCURRENT_REQUESTS: concurrency,
      CONCURRENT_REQUESTS_PER_DOMAIN: concurrency,
      DOWNLOAD_DELAY: 0,
      ROBOTSTXT_OBEY: false,
      LOG_LEVEL: 'ERROR',
      LOGSTATS_INTERVAL: 0,
      STATS_DUMP: false,
      ...settings,
    },
  })
  return Number(stats.response_received_count)
}

function spiderOf(site: string): SpiderClass {
  return class BenchSpider extends Spider {
    override name = 'webloom-bench'
    override startUrls = [`${site}/p/0`]
    override *parse(response: Response): Generator<unknown> {
      yield { title: response.css('title::text').get() }
      yield* response.followAll()
    }
  }
}

async function forget({ site, settings }: BenchTask): Promise<void> {
  const set = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
  const nowhere = { path: process.cwd(), folder: process.cwd(), spiders: [], settings: {} }
  await withCrawlFromOutside(spiderOf(site), { set }, nowhere, async (left) => {
    await clearFromOutside(left, true)
    await forgetCrawl(left.redis, left.keys)
  })
}

const task = JSON.parse(process.argv[2] ?? '{}') as BenchTask
const begun = performance.now()
const pages = await (task.system === 'floor' ? fetchAll : crawlAll)(task)
const seconds = (performance.now() - begun) / 1000
const { user, system } = process.cpuUsage()
const rssMb = process.resourceUsage().maxRSS / 1024
const figures: BenchFigures = { pages, seconds, cpuSeconds: (user + system) / 1e6, rssMb }
if (task.isShared) await forget(task)
process.stdout.write(`${JSON.stringify(figures)}\n`)
