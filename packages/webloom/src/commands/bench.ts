import { execFile, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { UsageError } from '@webloom/core'
import type { BenchFigures, BenchTask } from '../bench/bench-system.ts'
import { VERSION } from '../version.ts'

export interface BenchFlags {
  readonly pages: string
  readonly rounds: string
  readonly json?: boolean
}

type System = Pick<BenchTask, 'system' | 'settings' | 'isShared'> & { readonly name: string }

interface Row extends BenchFigures {
  readonly name: string
  /** Of the rounds, the one in the middle by speed. */
  readonly pagesPerSecond: number
}

const CONCURRENCY = 32
const RUN_MS_MAX = 600_000
/** Measures how fast this machine is: a site of its own is crawled, each system in a fresh process, in turn. */
export async function bench(flags: BenchFlags): Promise<void> {
  const [pages, rounds] = [wholeNumber(flags.pages, '--pages'), wholeNumber(flags.rounds, '--rounds')]
  const site = await startSite(pages)
  try {
    const rows: Row[] = []
    for (const system of systems()) rows.push(await measured(system, site.url, pages, rounds))
    if (flags.json) console.log(JSON.stringify(rows))
    else print(rows, pages, rounds)
  } finally {
    site.stop()
  }
}

function systems(): System[] {
  const systems: System[] = [
    { name: 'floor: pages fetched, nothing else', system: 'floor', settings: {}, isShared: false },
    { name: 'one process, titles and all links', system: 'crawl', settings: {}, isShared: false },
  ]
  if (!REDIS_VARIABLES.some((name) => process.env[name])) return systems
  const onRedis = ['redis-set', 'redis-bloom'].map((filter) => ({
    name: `one worker on Redis, ${filter}`,
    system: 'crawl' as const,
    settings: { DUPEFILTER_CLASS: filter },
    isShared: true,
  }))
  return [...systems, ...onRedis]
}

const REDIS_VARIABLES = ['REDIS_URL', 'QUEUE_REDIS_URL', 'DUPEFILTER_REDIS_URL']

async function measured(
  { name, ...system }: System,
  site: string,
  pages: number,
  rounds: number,
): Promise<Row> {
  const all: BenchFigures[] = []
  for (let round = 0; round < rounds; round++) {
    // A crawl of its own each time.
    const settings = { ...system.settings, CRAWL_ID: `bench-${randomUUID()}` }
    all.push(await run({ ...system, settings, site, pages, concurrency: CONCURRENCY }))
    if (process.stderr.isTTY) process.stderr.write(`\r${name}: ${round + 1} of ${rounds}   `)
  }
  if (process.stderr.isTTY) process.stderr.write('\n')
  const middle = all.sort((a, b) => a.pages / a.seconds - b.pages / b.seconds)[Math.floor(rounds / 2)]!
  return { name, ...middle, pagesPerSecond: middle.pages / middle.seconds }
}

async function run(task: BenchTask): Promise<BenchFigures> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...process.execArgv, beside('bench-system'), JSON.stringify(task)],
    { timeout: RUN_MS_MAX, env: task.isShared ? process.env : withoutRedis },
  )
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as BenchFigures
}

const withoutRedis = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !REDIS_VARIABLES.includes(name)),
)

async function startSite(pages: number): Promise<{ url: string; stop(): void }> {
  const site = fork(beside('bench-site'), [String(pages)])
  const [url] = (await once(site, 'message', { signal: AbortSignal.timeout(30_000) })) as [string]
  return { url, stop: () => void site.kill() }
}

/** Returns the path of the file as it runs here: built, or as a source. */
function beside(name: string): string {
  const suffix = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return fileURLToPath(new URL(`../bench/${name}.${suffix}`, import.meta.url))
}

function print(rows: readonly Row[], pages: number, rounds: number): void {
  const [floor] = rows
  console.log(
    `webloom ${VERSION}, Node ${process.versions.node}, ${cpus().length} cores: ${pages} pages of 7.4 KB with 30 links, ${CONCURRENCY} at a time, ${rounds} rounds\n`,
  )
  console.log(
    `${'pages/s'.padStart(9)}${'of floor'.padStart(10)}${'ms CPU/page'.padStart(13)}${'peak MB'.padStart(9)}`,
  )
  for (const { name, pagesPerSecond, cpuSeconds, pages: done, rssMb } of rows) {
    const cells = [
      pagesPerSecond.toFixed(0).padStart(9),
      `${((100 * pagesPerSecond) / floor!.pagesPerSecond).toFixed(0)} %`.padStart(10),
      ((1000 * cpuSeconds) / done).toFixed(2).padStart(13),
      rssMb.toFixed(0).padStart(9),
    ]
    console.log(`${cells.join('')}  ${name}`)
  }
}

function wholeNumber(text: string, flag: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= 1) return number
  throw new UsageError('WL_USAGE', `${flag} ${text}: expected a whole number from 1`)
}
