/**
 * How often hosts are asked for their robots.txt, how often pages go through the queue, and what the memory of robots.txt
 * weighs a host: a worker's, and what the workers share on Redis.
 *
 *     npm run build && node --expose-gc --conditions=webloom-source benchmarks/robots-bench.ts [--hosts 20000] [--pages 3] [--workers 0,1,4]
 *
 * One server answers for all hosts, which are addresses of 127.0.0.0/8. The pages of a host lie far apart in the queue: first
 * one of each host, then the next. `workers` 0 is one process without Redis. Half of the robots.txt allow all, the others have
 * rules; those differ in their Sitemap line alone. The goal is 1.02 requests a host: `--hosts 100000 --pages 1 --workers 4`.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { MemoryRobotsStore } from '../packages/downloader/src/robots/robots-store.ts'
import { type RedisServer, startRedis } from '../packages/testkit/src/index.ts'
import { ClusterFolder } from '../tests/cluster/cluster-crawl.ts'

const { values } = parseArgs({
  options: {
    hosts: { type: 'string', default: '20000' },
    pages: { type: 'string', default: '3' },
    workers: { type: 'string', default: '0,1,4' },
  },
})
const [HOSTS, PAGES] = [Number(values.hosts), Number(values.pages)]

let asked = new Map<string, number>()
const server = createServer(({ url, headers: { host = '' } }, response) => {
  if (url !== '/robots.txt') return void response.end('page')
  const count = (asked.get(host) ?? 0) + 1
  asked.set(host, count)
  const rules = asked.size % 2 === 0 ? 'Disallow: /private' : 'Disallow:'
  response.end(`User-agent: *\n${rules}\nSitemap: http://${host}/sitemap.xml\n`)
})
server.listen(0, '0.0.0.0')
await once(server, 'listening')
const { port } = server.address() as AddressInfo

const SPIDER = `import { Request, Spider } from 'webloom'
export default class Pages extends Spider {
  name = 'pages';
  *start() {
    for (let page = 0; page < ${PAGES}; page++)
      for (let n = 0; n < ${HOSTS}; n++)
        yield new Request(\`http://127.\${1 + (n >> 16)}.\${(n >> 8) & 255}.\${n & 255}:${port}/\${page}\`)
  }
  parse() {}
}
`

async function measure(workers: number): Promise<string[]> {
  asked = new Map()
  await using queue = await startRedis()
  await using filter = await startRedis()
  await using folder = await ClusterFolder.of(
    { seeds: [] },
    {
      CONCURRENT_REQUESTS: 64,
      ROBOTSTXT_OBEY: true,
      LOG_LEVEL: 'WARNING',
      SCHEDULER_PERSIST: true,
      ...(workers > 0 && { QUEUE_REDIS_URL: queue.url, DUPEFILTER_REDIS_URL: [filter.url] }),
    },
    SPIDER,
  )
  const names = Array.from({ length: Math.max(1, workers) }, (_, n) => String(n))
  const ended = await Promise.all(
    names.map((name) =>
      workers > 0
        ? folder.worker(name).exited
        : folder.run('crawl', 'pages', '--stats-file', `stats-${name}.json`),
    ),
  )
  for (const { code, stderr } of ended) if (code !== 0) throw new Error(stderr)
  const requests = [...asked.values()].reduce((sum, count) => sum + count, 0)
  const pages = folder.counted('response_received_count')
  return [
    workers === 0 ? 'one process' : `${workers} on Redis`,
    String(asked.size),
    (requests / asked.size).toFixed(4),
    (folder.counted('scheduler/dequeued') / pages).toFixed(4),
    String(folder.counted('robotstxt/forgotten')),
    workers > 0 ? ((await sharedBytes(queue)) / asked.size).toFixed(1) : '',
  ]
}

/** What is stored of robots.txt when the crawl has ended. */
async function sharedBytes(redis: RedisServer): Promise<number> {
  const keys = (await redis.command('KEYS', 'pages:robots:*')) as string[]
  let bytes = 0
  for (const key of keys) bytes += Number(await redis.command('MEMORY', 'USAGE', key, 'SAMPLES', '0'))
  return bytes
}

/** Heap and buffers a host, bytes, when all hosts allow all. */
function memoryPerHost(): number {
  const { gc } = globalThis
  if (!gc) throw new Error('start with --expose-gc')
  const weight = () => {
    gc()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  const before = weight()
  const store = new MemoryRobotsStore({
    sitesBytes: 12 * 2 ** 20,
    filesBytes: 2 ** 23,
    troublesBytes: 2 ** 22,
  })
  const askAgainAtMs = Date.now() + 86_400_000
  for (let n = 0; n < HOSTS; n++)
    store.set(`https://host-${n}.example`, { outcome: 'absent', askAgainAtMs }, 86_400_000)
  const bytes = (weight() - before) / HOSTS
  if (!store.get('https://host-0.example')) throw new Error('the first host is forgotten')
  return bytes
}

if (globalThis.gc)
  console.log(`memory of ${HOSTS} hosts that allow all: ${memoryPerHost().toFixed(1)} bytes a host\n`)
console.log(
  '| workers | hosts | robots.txt a host | ways through the queue a page | forgotten | bytes a host on Redis |',
)
console.log('| --- | ---: | ---: | ---: | ---: | ---: |')
for (const workers of values.workers.split(',').map(Number))
  console.log(`| ${(await measure(workers)).join(' | ')} |`)
server.closeAllConnections()
server.close()
