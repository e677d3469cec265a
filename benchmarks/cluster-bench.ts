/**
 * Pages a second of one process without Redis, and of one and two workers on Redis, in both queue modes; and what a page
 * costs the queue's Redis and the dupefilter's.
 *
 *     npm run build && node --conditions=webloom-source benchmarks/cluster-bench.ts [--rounds 3] [--pages 5000]
 *
 * One site (10 hosts, 30 links a page, links only), real processes, a Redis for each role; all systems in turn in each
 * round, medians shown. Pages a second run from the first hit to the last, so that starting Node does not count.
 */
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { type RedisServer, startFakeWebProcess, startRedis } from '../packages/testkit/src/index.ts'
import { ClusterFolder } from '../tests/cluster/cluster-crawl.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, pages: { type: 'string', default: '5000' } },
})
const HOSTS = 10

interface System {
  readonly name: string
  readonly workers: number
  readonly mode?: 'turns' | 'job'
}

const SYSTEMS: readonly System[] = [
  { name: 'one process, no Redis', workers: 1 },
  { name: 'turns, 1 worker', workers: 1, mode: 'turns' },
  { name: 'turns, 2 workers', workers: 2, mode: 'turns' },
  { name: 'job, 1 worker', workers: 1, mode: 'job' },
  { name: 'job, 2 workers', workers: 2, mode: 'job' },
]

interface Measured {
  readonly pagesPerSecond: number
  readonly queueMicros: number
  readonly filterMicros: number
}

async function measure({ workers, mode }: System, seed: number): Promise<Measured> {
  await using queueRedis = await startRedis()
  await using filterRedis = await startRedis()
  await using web = await startFakeWebProcess({
    seed,
    hosts: HOSTS,
    pagesPerHost: Number(values.pages) / HOSTS,
    linksPerPage: 30,
    crossHostLinks: 0.2,
    hitHeaders: false,
  })
  await using folder = await ClusterFolder.of(
    web,
    {
      CONCURRENT_REQUESTS: 32,
      CONCURRENT_REQUESTS_PER_DOMAIN: 32,
      ROBOTSTXT_OBEY: false,
      LOG_LEVEL: 'WARNING',
      ...(mode && {
        QUEUE_REDIS_URL: queueRedis.url,
        DUPEFILTER_REDIS_URL: [filterRedis.url],
        QUEUE_MODE: mode,
      }),
    },
    `import { type Response, Spider } from 'webloom'
export default class Pages extends Spider {
  name = 'pages'
  startUrls = ${JSON.stringify(web.seeds)}
  async *parse(response: Response) {
    yield* response.followAll()
  }
}
`,
  )
  const cpuBefore = await Promise.all([queueRedis, filterRedis].map(cpuMicros))
  const ended = await Promise.all(
    Array.from({ length: workers }, () => folder.run(mode ? 'worker' : 'crawl', 'pages')),
  )
  for (const { code, stderr } of ended) if (code !== 0) throw new Error(stderr)
  const cpuAfter = await Promise.all([queueRedis, filterRedis].map(cpuMicros))
  const hits = await web.hits()
  const seconds = (hits.at(-1)!.atMs - hits[0]!.atMs) / 1000
  const [queueMicros, filterMicros] = cpuAfter.map((micros, n) => (micros - cpuBefore[n]!) / hits.length)
  return { pagesPerSecond: hits.length / seconds, queueMicros: queueMicros!, filterMicros: filterMicros! }
}

/** CPU time of the server's main thread, microseconds. */
async function cpuMicros(server: RedisServer): Promise<number> {
  const info = String(await server.command('INFO', 'cpu'))
  const seconds = (field: string) => Number(new RegExp(`^${field}:([\\d.]+)`, 'm').exec(info)?.[1] ?? 0)
  return (seconds('used_cpu_user_main_thread') + seconds('used_cpu_sys_main_thread')) * 1e6
}

console.log(
  `Node ${process.versions.node}, ${cpus().length} cores: ${values.pages} pages, ${values.rounds} rounds\n`,
)
const measured = new Map<string, Measured[]>(SYSTEMS.map(({ name }) => [name, []]))
for (let round = 0; round < Number(values.rounds); round++)
  for (const system of SYSTEMS) measured.get(system.name)!.push(await measure(system, 1 + round))
const base = median(measured.get(SYSTEMS[0]!.name)!.map(({ pagesPerSecond }) => pagesPerSecond))
console.log('| system | pages/s | of one process | queue’s Redis µs/page | dupefilter’s Redis µs/page |')
console.log('| --- | ---: | ---: | ---: | ---: |')
for (const [name, rounds] of measured) {
  const speed = median(rounds.map(({ pagesPerSecond }) => pagesPerSecond))
  const [queue, filter] = (['queueMicros', 'filterMicros'] as const).map((field) =>
    Math.round(median(rounds.map((one) => one[field]))),
  )
  console.log(
    `| ${name} | ${Math.round(speed)} | ${Math.round((100 * speed) / base)} % | ${queue} | ${filter} |`,
  )
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!
}
