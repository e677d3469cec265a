/**
 * Memory of a worker as its crawl goes on, and the CPU it takes, with V8's flags as `flat-memory.ts` sets them and as V8
 * has them: pages of 7.4 KB with the queue in the process and on Redis, and pages of 3 MB. Run by the command line.
 *
 *     npm run build && node benchmarks/worker-memory-bench.ts [few] [many] [large]
 */

import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { runProcess, startRedis, tempDir } from '@webloom/testkit'
import { serveBenchSite } from './peers/site.ts'

const [few = 20_000, many = 100_000, large = 600] = process.argv.slice(2).map(Number)
const PACKAGE = join(import.meta.dirname, '../packages/webloom')
const RUN_MS_MAX = 1_800_000
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
