/**
 * Memory of a worker as its crawl goes on, and the CPU it takes, with V8's flags as `flat-memory.ts` sets them and as V8
 * has them: pages of 7.4 KB with the queue in the process and on Redis, and pages of 3 MB. Run by the command line.
 *
 *     npm run build && node benchmarks/worker-memory-bench.ts [few] [many] [large]
 *
 * With `--hosts`, instead, of a worker on Redis that fetches a page and robots.txt of each of so many hosts with names, after half of them
 * and at the end: run by the command line, and by `crawl()`, which sets none of V8's flags.
 *
 *     npm run build && node benchmarks/worker-memory-bench.ts --hosts 1000000
 */

import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runProcess, startDnsServer, startRedis, tempDir } from '@webloom/testkit'
import { serveBenchSite } from './peers/site.ts'

const { values, positionals } = parseArgs({
  options: { hosts: { type: 'string' } },
  allowPositionals: true,
})
const [few = 20_000, many = 100_000, large = 600] = positionals.map(Number)
const PACKAGE = join(import.meta.dirname, '../packages/webloom')
const RUN_MS_MAX = 7_200_000
const LARGE_PAGE_BYTES = 3_000_000

const SETTINGS = {
  CONCURRENT_REQUESTS: 32,
  CONCURRENT_REQUESTS_PER_DOMAIN: 32,
  ROBOTSTXT_OBEY: false,
  LOG_LEVEL: 'ERROR',
  STATS_DUMP: false,
}

// With this before the program, flags that it sets at run time are not set.
const FLAGS_LEFT_ALONE = `
import v8 from 'node:v8'
import { syncBuiltinESMExports } from 'node:module'
v8.setFlagsFromString = () => {}
syncBuiltinESMExports()
`

/** Its RSS, the most there was of it, and what CPU has been used, after the few pages and after the many. */
const spider = (start: string, marks: readonly number[]) => `
import { appendFileSync } from 'node:fs'
import { Spider } from 'webloom'
let pages = 0
export class Pages extends Spider {
  name = 'pages';
  startUrls = ['${start}'];
  *parse(response) {
    if (${JSON.stringify(marks)}.includes(++pages)) {
      const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
      const figures = [process.memoryUsage.rss() / 1e6, maxRSS * 1024 / 1e6, (userCPUTime + systemCPUTime) / 1e3]
      appendFileSync('figures.txt', JSON.stringify(figures) + '\\n')
    }
    response.css('title::text').get()
    yield* response.followAll()
  }
}
`

type Figures = readonly [rssMb: number, maxRssMb: number, cpuMs: number]

async function measured(
  start: string,
  redisUrl: string | null,
  marks: readonly number[],
  flags: 'ours' | "V8's",
): Promise<readonly [Figures, Figures]> {
  await using folder = await tempDir()
  await mkdir(folder.join('node_modules'))
  await symlink(PACKAGE, folder.join('node_modules/webloom'))
  await writeFile(folder.join('spider.mjs'), spider(start, marks))
  await writeFile(folder.join('flags.mjs'), FLAGS_LEFT_ALONE)
  const settings = { ...SETTINGS, ...(redisUrl !== null && { REDIS_URL: redisUrl }) }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-s', `${name}=${value}`])
  const preload = flags === 'ours' ? [] : ['--import', folder.join('flags.mjs')]
  const command = [...preload, join(PACKAGE, 'bin/webloom.js'), 'runspider', 'spider.mjs', ...args]
  const { stderr } = await runProcess(process.execPath, command, { cwd: folder.path, timeoutMs: RUN_MS_MAX })
  process.stderr.write(stderr)
  const lines = (await readFile(folder.join('figures.txt'), 'utf8')).trim().split('\n')
  return lines.map((line) => JSON.parse(line)) as [Figures, Figures]
}

async function compare(
  where: string,
  start: string,
  redisUrl: () => string | null,
  marks: readonly [number, number],
) {
  for (const flags of ['ours', "V8's"] as const) {
    const [[first, , cpuBefore], [last, most, cpu]] = await measured(start, redisUrl(), marks, flags)
    const cpuPerPage = (cpu - cpuBefore) / (marks[1] - marks[0])
    const growth = `RSS ${first.toFixed(0)} MB after ${marks[0]}, ${last.toFixed(0)} MB after ${marks[1]}`
    console.log(
      `${where}, flags ${flags}: ${growth}, most ${most.toFixed(0)} MB; CPU ${cpuPerPage.toFixed(3)} ms a page`,
    )
  }
}

/** Pages without end, each with a link to the next ones. */
async function serveLargePages() {
  const words = 'the quick brown fox jumps over a lazy dog while '
  const filling = `<p>${words.repeat(20)}</p>\n`.repeat(Math.ceil(LARGE_PAGE_BYTES / (words.length * 20 + 8)))
  const server = createServer((req, res) => {
    const page = Number(req.url!.slice(1))
    const links = [1, 2, 3].map((n) => `<a href="/${page * 3 + n}">${n}</a>`).join('')
    res.writeHead(200, { 'content-type': 'text/html' })
    res.end(`<!DOCTYPE html><title>${page}</title>${page < large ? links : ''}${filling}`)
  }).listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  return {
    start: `http://127.0.0.1:${(server.address() as AddressInfo).port}/0`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

/** Names of hosts to addresses of 127.0.0.0/8, and one server for all of them. */
async function serveHosts() {
  const dns = await startDnsServer({
    answer: (name) => {
      // All questions would be kept.
      dns.asked.length = 0
      const n = Number(/^h(\d+)\./.exec(name)?.[1])
      return { addresses: [`127.${1 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`], ttl: 3600 }
    },
  })
  let robots = 0
  const server = createServer(({ url }, res) => {
    if (url === '/robots.txt') robots++
    res.end(url === '/robots.txt' ? 'User-agent: *\nDisallow: /private\n' : '<title>page</title>')
  }).listen(0, '0.0.0.0')
  await new Promise((listening) => server.once('listening', listening))
  return {
    port: (server.address() as AddressInfo).port,
    nameServer: dns.address,
    robotsAsked: () => robots,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
      await dns[Symbol.asyncDispose]()
    },
  }
}

const hostsSpider = (hosts: number, port: number) => `
import { appendFileSync } from 'node:fs'
import { Request, Spider } from 'webloom'
let pages = 0
export class Hosts extends Spider {
  name = 'hosts';
  *start() {
    for (let n = 0; n < ${hosts}; n++) yield new Request(\`http://h\${n}.bench.test:${port}/\`)
  }
  parse() {
    if (++pages !== ${Math.ceil(hosts / 2)} && pages !== ${hosts}) return
    const { rss, heapUsed } = process.memoryUsage()
    const { userCPUTime, systemCPUTime } = process.resourceUsage()
    appendFileSync('figures.txt', JSON.stringify([rss / 1e6, heapUsed / 1e6, (userCPUTime + systemCPUTime) / 1e3]) + '\\n')
  }
}
`

/** RSS of a worker after half of the hosts, and after all of them. */
async function measureHosts(hosts: number, by: 'the command line' | 'crawl()'): Promise<void> {
  await using site = await serveHosts()
  await using queue = await startRedis()
  await using folder = await tempDir()
  await mkdir(folder.join('node_modules'))
  await symlink(PACKAGE, folder.join('node_modules/webloom'))
  await writeFile(folder.join('spider.mjs'), hostsSpider(hosts, site.port))
  const settings = {
    CONCURRENT_REQUESTS: 64,
    LOG_LEVEL: 'ERROR',
    STATS_DUMP: false,
    REDIS_URL: queue.url,
    DNS_SERVERS: [site.nameServer],
    PRIVATE_ADDRESSES_ALLOWED: ['*'],
  }
  await writeFile(
    folder.join('crawl.mjs'),
    `import { crawl } from 'webloom'\nimport { Hosts } from './spider.mjs'\nawait crawl(Hosts, { settings: ${JSON.stringify(settings)} })\n`,
  )
  const written = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value))
  const args = Object.entries(settings).flatMap(([name, value]) => ['-s', `${name}=${written(value)}`])
  const command =
    by === 'crawl()' ? ['crawl.mjs'] : [join(PACKAGE, 'bin/webloom.js'), 'runspider', 'spider.mjs', ...args]
  const { stderr } = await runProcess(process.execPath, command, { cwd: folder.path, timeoutMs: RUN_MS_MAX })
  process.stderr.write(stderr)
  const lines = (await readFile(folder.join('figures.txt'), 'utf8')).trim().split('\n')
  const [half, end] = lines.map((line) => JSON.parse(line)) as [number[], number[]]
  const asked = (site.robotsAsked() / hosts).toFixed(4)
  console.log(
    `${hosts} hosts on Redis, by ${by}: RSS ${half[0]!.toFixed(0)} MB after half, ${end[0]!.toFixed(0)} MB at the end, heap ${half[1]!.toFixed(0)} and ${end[1]!.toFixed(0)} MB; CPU ${(end[2]! / hosts).toFixed(3)} ms a page; ${asked} requests for robots.txt a host`,
  )
}

if (values.hosts !== undefined) {
  const hosts = Number(values.hosts)
  for (const by of ['the command line', 'crawl()'] as const) await measureHosts(hosts, by)
  process.exit()
}

{
  await using site = await serveBenchSite(many)
  await compare('queue in the process', site.start, () => null, [few, many])
  await using redis = await startRedis()
  await using other = await startRedis()
  const servers = [redis.url, other.url]
  await compare('queue on Redis', site.start, () => servers.shift()!, [few, many])
}
await using pages = await serveLargePages()
await compare('pages of 3 MB', pages.start, () => null, [large / 4, large])
