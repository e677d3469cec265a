/**
 * Memory of a worker as its crawl goes on: RSS after 20 000 and after 100 000 pages of 7.4 KB, with the queue in the
 * process and on Redis, run by the command line.
 *
 *     npm run build && node benchmarks/worker-memory-bench.ts [few] [many]
 */

import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProcess, startRedis, tempDir } from '@webloom/testkit'
import { serveBenchSite } from './peers/site.ts'

const [few = 20_000, many = 100_000] = process.argv.slice(2).map(Number)
const PACKAGE = join(import.meta.dirname, '../packages/webloom')
const RUN_MS_MAX = 1_800_000

const SETTINGS = {
  CONCURRENT_REQUESTS: 32,
  CONCURRENT_REQUESTS_PER_DOMAIN: 32,
  ROBOTSTXT_OBEY: false,
  LOG_LEVEL: 'ERROR',
  STATS_DUMP: false,
}

const spider = (start: string) => `
import { appendFileSync } from 'node:fs'
import { Spider } from 'webloom'
let pages = 0
export class Pages extends Spider {
  name = 'pages';
  startUrls = ['${start}'];
  *parse(response) {
    if (++pages === ${few} || pages === ${many}) appendFileSync('rss.txt', process.memoryUsage.rss() + '\\n')
    response.css('title::text').get()
    yield* response.followAll()
  }
}
`

/** RSS after the few pages and after the many, MB. */
async function measured(start: string, redisUrl: string | null): Promise<number[]> {
  await using folder = await tempDir()
  await mkdir(folder.join('node_modules'))
  await symlink(PACKAGE, folder.join('node_modules/webloom'))
  await writeFile(folder.join('spider.mjs'), spider(start))
  const settings = { ...SETTINGS, ...(redisUrl !== null && { REDIS_URL: redisUrl }) }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-s', `${name}=${value}`])
  const command = [join(PACKAGE, 'bin/webloom.js'), 'runspider', 'spider.mjs', ...args]
  const { stderr } = await runProcess(process.execPath, command, { cwd: folder.path, timeoutMs: RUN_MS_MAX })
  process.stderr.write(stderr)
  const lines = (await readFile(folder.join('rss.txt'), 'utf8')).trim().split('\n')
  return lines.map((bytes) => Number(bytes) / 1e6)
}

await using site = await serveBenchSite(many)
await using redis = await startRedis()
for (const [where, url] of [
  ['in the process', null],
  ['on Redis', redis.url],
] as const) {
  const [first, last] = await measured(site.start, url)
  console.log(
    `queue ${where}: RSS ${first?.toFixed(0)} MB after ${few} pages, ${last?.toFixed(0)} MB after ${many}: ${(last! / first!).toFixed(2)} times`,
  )
}
