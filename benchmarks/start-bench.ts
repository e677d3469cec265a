/**
 * How fast `start()` goes to Redis, and how many pages the worker that runs it fetches beside it.
 *
 *     npm run build && node --conditions=webloom-source benchmarks/start-bench.ts [--rounds 3] [--requests 50000]
 *
 * One worker, one Redis for queue and dupefilter, ten hosts; both queue modes in turn in each round, medians shown. Alone:
 * with the crawl held back to one request at a time and host (DOWNLOAD_DELAY 60). START_LOW_WATER is lifted, else start()
 * waits for the crawl.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startFakeWebProcess, startRedis } from '../packages/testkit/src/index.ts'
import { ClusterFolder } from '../tests/cluster/cluster-crawl.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, requests: { type: 'string', default: '50000' } },
})
const REQUESTS = Number(values.requests)
const HOSTS = 10
const DEADLINE_MS = 300_000

interface Measured {
  readonly elementsPerSecond: number
  readonly pagesPerSecond: number
}

async function measure(mode: string, delay: number): Promise<Measured> {
  await using redis = await startRedis()
  await using web = await startFakeWebProcess({
    hosts: HOSTS,
    pagesPerHost: REQUESTS / HOSTS,
    linksPerPage: 3,
  })
  await using folder = await ClusterFolder.of(
    web,
    {
      CONCURRENT_REQUESTS: 32,
      CONCURRENT_REQUESTS_PER_DOMAIN: 32,
      DOWNLOAD_DELAY: delay,
      RANDOMIZE_DOWNLOAD_DELAY: false,
      ROBOTSTXT_OBEY: false,
      LOG_LEVEL: 'WARNING',
      START_LOW_WATER: 10 * REQUESTS,
      QUEUE_REDIS_URL: redis.url,
      DUPEFILTER_REDIS_URL: [redis.url],
      QUEUE_MODE: mode,
    },
    `import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { Request, type Response, Spider } from 'webloom'
export default class Pages extends Spider {
  name = 'pages'
  pages = 0
  async *start() {
    const urls = JSON.parse(readFileSync('urls.json', 'utf8'))
    const startMs = performance.now()
    for (const url of urls) yield new Request(url)
    const seconds = (performance.now() - startMs) / 1000
    writeFileSync('started.tmp', JSON.stringify({ seconds, pages: this.pages }))
    renameSync('started.tmp', 'started.json')
  }
  async parse(response: Response) {
    this.pages++
  }
}
`,
  )
  const urls = Array.from({ length: REQUESTS }, (_, n) => web.pageUrl(n % HOSTS, Math.floor(n / HOSTS)))
  writeFileSync(folder.path('urls.json'), JSON.stringify(urls))
  const worker = folder.start('worker', 'pages')
  for (const untilMs = Date.now() + DEADLINE_MS; !existsSync(folder.path('started.json')); await sleep(50)) {
    if (Date.now() > untilMs) throw new Error(`start() has not ended in ${DEADLINE_MS / 1000} s`)
  }
  const { seconds, pages } = JSON.parse(readFileSync(folder.path('started.json'), 'utf8'))
  worker.kill('SIGKILL')
  await worker.exited
  return { elementsPerSecond: REQUESTS / seconds, pagesPerSecond: pages / seconds }
}

console.log(
  `Node ${process.versions.node}, ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}: ${REQUESTS} requests, ${values.rounds} rounds\n`,
)
const measured = new Map<string, Measured[]>()
for (let round = 0; round < Number(values.rounds); round++)
  for (const mode of ['turns', 'job'])
    for (const delay of [60, 0]) {
      const name = `${mode}, ${delay > 0 ? 'alone' : 'beside a crawl'}`
      measured.set(name, [...(measured.get(name) ?? []), await measure(mode, delay)])
    }
console.log('| queue mode | elements/s | pages/s beside |\n| --- | ---: | ---: |')
for (const [name, rounds] of measured) {
  const [elements, pages] = (['elementsPerSecond', 'pagesPerSecond'] as const).map((field) =>
    Math.round(median(rounds.map((one) => one[field]))),
  )
  console.log(`| ${name} | ${elements} | ${pages} |`)
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!
}
