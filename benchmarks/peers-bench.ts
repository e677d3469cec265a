/**
 * Pages a second of ours, of other crawlers and of the floors beneath them, on one site, in turn, in one run:
 *
 *     npm run build && node benchmarks/peers-bench.ts [--rounds 5] [--pages 10000] [--only NAME …] [--out RESULTS.md]
 *
 * nginx serves pages of 7.4 KB with 30 links each. Every system runs in fresh processes, follows all links, 32 at a
 * time, and, where it says so, selects each page's title. Pages and seconds come from nginx's log, from the first request
 * to the last, so that starting an interpreter does not count. A system that did not ask for every page ends the run. All
 * systems run once in each round, the slowest two only in the first; medians are shown. `--only 'Colly, links'` picks the
 * systems whose names have that in them, and may be given again. Peers that are picked are installed on the first run
 * (`peers/installed.ts`), or compiled, Colly where there is `go` and spider where there is `cargo` (`peers/compiled.ts`).
 */

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { runProcess, startRedis, tempDir } from '@webloom/testkit'
import { COMPILED_PEERS, type CompiledPeers, compilePeers } from './peers/compiled.ts'
import { type Installed, installPeers } from './peers/installed.ts'
import type { PeerTask, ProcessUse } from './peers/peer-task.ts'
import { type BenchSite, serveBenchSite } from './peers/site.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    pages: { type: 'string', default: '10000' },
    only: { type: 'string', multiple: true },
    out: { type: 'string' },
  },
})
const rounds = Number(values.rounds)
const pages = Number(values.pages)
const CONCURRENCY = 32
// scrapy-redis with the Bloom fork makes about 20 pages a second.
const RUN_MS_MAX = 1_800_000
const BLOOM_MISSED_MAX = 0.001
/** A system that knows a page by two addresses, as its first one, fetches it again. */
const TWICE_MAX = 0.01
const INSTALLED_FILES = ['scrapy_pages.py', 'crawlee.ts', 'node-crawler.ts']

interface System {
  readonly name: string
  /** A file of `peers/`; of a peer that is compiled, its folder there. */
  readonly file: string
  readonly flavour?: string
  readonly select?: boolean
  readonly processes?: number
  readonly needs?: 'redis' | 'storage' | 'urls'
  /** It takes minutes: the first round is enough. */
  readonly runsOnce?: boolean
}

const SYSTEMS: readonly System[] = [
  { name: 'floor: undici alone, URLs known', file: 'floors.ts', flavour: 'fetch', needs: 'urls' },
  { name: 'floor: + htmlparser2, links streamed', file: 'floors.ts', flavour: 'stream' },
  { name: 'floor: + htmlparser2 tree, title', file: 'floors.ts', flavour: 'htmlparser2', select: true },
  { name: 'floor: + parse5 tree, title', file: 'floors.ts', flavour: 'parse5', select: true },
  { name: 'webloom, links only', file: 'webloom.ts' },
  { name: 'webloom, title', file: 'webloom.ts', select: true },
  {
    name: 'webloom, Redis set, 1 worker',
    file: 'webloom.ts',
    select: true,
    flavour: 'redis-set',
    needs: 'redis',
  },
  {
    name: 'webloom, Redis set, 2 workers',
    file: 'webloom.ts',
    select: true,
    flavour: 'redis-set',
    needs: 'redis',
    processes: 2,
  },
  {
    name: 'webloom, Redis Bloom, 1 worker',
    file: 'webloom.ts',
    select: true,
    flavour: 'redis-bloom',
    needs: 'redis',
  },
  {
    name: 'webloom, Redis Bloom, 2 workers',
    file: 'webloom.ts',
    select: true,
    flavour: 'redis-bloom',
    needs: 'redis',
    processes: 2,
  },
  { name: 'Scrapy, links only', file: 'scrapy_pages.py', flavour: 'plain' },
  { name: 'Scrapy, title', file: 'scrapy_pages.py', select: true, flavour: 'plain' },
  {
    name: 'scrapy-redis, title',
    file: 'scrapy_pages.py',
    select: true,
    flavour: 'redis',
    needs: 'redis',
    runsOnce: true,
  },
  {
    name: 'scrapy-redis-bloomfilter, title',
    file: 'scrapy_pages.py',
    select: true,
    flavour: 'redis-bloom',
    needs: 'redis',
    runsOnce: true,
  },
  { name: 'Crawlee, storage in memory, links only', file: 'crawlee.ts' },
  { name: 'Crawlee, storage in memory, title', file: 'crawlee.ts', select: true },
  { name: 'Crawlee, default storage, title', file: 'crawlee.ts', select: true, needs: 'storage' },
  { name: 'node-crawler, links only', file: 'node-crawler.ts' },
  { name: 'node-crawler, title', file: 'node-crawler.ts', select: true },
  { name: 'Colly, links only', file: 'colly' },
  { name: 'Colly, title', file: 'colly', select: true },
  { name: 'spider, links only', file: 'spider' },
  { name: 'spider, title', file: 'spider', select: true },
]

interface Measured {
  readonly pagesPerSecond: number
  readonly cpuMsPerPage: number
  readonly rssMb: number
  /** CPU of Redis, for systems that use one. */
  readonly redisMicros: number
}

async function measure(system: System, site: BenchSite): Promise<Measured> {
  await using redis = await startRedis()
  await using storage = await tempDir()
  const task: PeerTask = {
    seeds: system.needs === 'urls' ? site.urls : [site.start],
    concurrency: CONCURRENCY,
    select: system.select ?? false,
    flavour: system.flavour ?? '',
    redis: system.needs === 'redis' ? redis.url : null,
    storage: system.needs === 'storage' ? storage.path : null,
  }
  const [program, ...before] = commandOf(system)
  // Ten thousand URLs are more than a command line takes.
  const taskFile = storage.join('task.json')
  await writeFile(taskFile, JSON.stringify(task))
  const args = [...before, taskFile]
  const ended = await Promise.all(
    Array.from({ length: system.processes ?? 1 }, () =>
      runProcess(program!, args, { cwd: storage.path, timeoutMs: RUN_MS_MAX }),
    ),
  )
  const used = ended.map(({ code, stdout, stderr }) => {
    if (code !== 0) throw new Error(`${system.name} ended with ${code}: ${stderr}`)
    return JSON.parse(stdout.trim().split('\n').at(-1)!) as ProcessUse
  })
  const visits = await site.visits()
  const least = isBloom(system) ? Math.floor(pages * (1 - BLOOM_MISSED_MAX)) : pages
  if (visits.different < least || visits.pages > visits.different * (1 + TWICE_MAX))
    throw new Error(
      `${system.name} asked ${visits.pages} times for ${visits.different} different pages of ${pages}`,
    )
  const info = String(await redis.command('INFO', 'cpu'))
  const redisSeconds = ['user', 'sys'].reduce(
    (sum, kind) => sum + Number(new RegExp(`^used_cpu_${kind}:([\\d.]+)`, 'm').exec(info)?.[1] ?? 0),
    0,
  )
  return {
    pagesPerSecond: visits.pages / visits.seconds,
    cpuMsPerPage: (1000 * used.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)) / visits.pages,
    rssMb: Math.max(...used.map(({ rssMb }) => rssMb)),
    redisMicros: (redisSeconds * 1e6) / visits.pages,
  }
}

function commandOf({ file }: System): string[] {
  const compiled = compiledPeers.get(file)
  if (compiled) return [compiled.program]
  return [
    file.endsWith('.py') ? installed.python : process.execPath,
    join(import.meta.dirname, 'peers', file),
  ]
}

/** A Bloom filter may take a page for a seen one. */
function isBloom({ flavour }: System): boolean {
  return flavour?.includes('bloom') ?? false
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!
}

function row({ name, needs }: System, all: readonly Measured[], scrapy: number): string {
  const speeds = all.map(({ pagesPerSecond }) => pagesPerSecond)
  const of = (field: keyof Measured) => median(all.map((one) => one[field]))
  const times = scrapy > 0 ? (of('pagesPerSecond') / scrapy).toFixed(1) : ''
  const redis = needs === 'redis' ? Math.round(of('redisMicros')) : ''
  const spread = `${Math.min(...speeds).toFixed(0)}–${Math.max(...speeds).toFixed(0)}`
  return `| ${name} | ${of('pagesPerSecond').toFixed(0)} | ${spread} | ${times} | ${of('cpuMsPerPage').toFixed(2)} | ${of('rssMb').toFixed(0)} | ${redis} |`
}

const { only } = values
const wanted = SYSTEMS.filter(({ name }) => !only || only.some((part) => name.includes(part)))
const compiledPeers: CompiledPeers = await compilePeers(
  wanted.map(({ file }) => file).filter((file) => COMPILED_PEERS.includes(file)),
)
const systems = wanted.filter(({ file }) => !COMPILED_PEERS.includes(file) || compiledPeers.has(file))
const installed: Installed = await installPeers(systems.some(({ file }) => INSTALLED_FILES.includes(file)))
const versions = [...installed.versions, ...[...compiledPeers.values()].map(({ version }) => version)]
await using site = await serveBenchSite(pages)
const results = new Map<System, Measured[]>(systems.map((system) => [system, []]))
for (let round = 1; round <= rounds; round++) {
  for (const system of systems.filter(({ runsOnce }) => round === 1 || !runsOnce)) {
    await site.visits()
    const measured = await measure(system, site)
    results.get(system)!.push(measured)
    console.error(`round ${round}: ${system.name}: ${measured.pagesPerSecond.toFixed(0)} pages/s`)
  }
}

const scrapySpeeds = [...results].find(([{ name }]) => name === 'Scrapy, title')?.[1] ?? []
const scrapy = scrapySpeeds.length > 0 ? median(scrapySpeeds.map(({ pagesPerSecond }) => pagesPerSecond)) : 0
const nginx = (await promisify(execFile)('nginx', ['-v'])).stderr.trim()
const options = process.argv.slice(2).map((word) => (word.includes(' ') ? `'${word}'` : word))
const command = ['npm run build && node benchmarks/peers-bench.ts', ...options].join(' ')
const text = `${new Date().toISOString().slice(0, 10)} · ${cpus().length} cores, ${cpus()[0]!.model} · Node ${process.versions.node} · ${nginx} · ${versions.join(' · ')}

\`${command}\`: ${pages} pages of 7.4 KB with 30 links, ${CONCURRENCY} at a time, ${rounds} rounds, medians.

| system | pages/s | spread | × Scrapy | CPU ms/page | peak MB | Redis µs/page |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
${[...results].map(([system, all]) => row(system, all, scrapy)).join('\n')}
`
console.log(text)
if (values.out !== undefined) await writeFile(values.out, text)
