/**
 * Pages a second of our engine beside the floor, on the same fake site, in turn, in one run:
 *
 *     node --conditions=webloom-source benchmarks/crawl-bench.ts [rounds] [pages]
 *
 * The site runs in a process of its own; every system runs in a fresh process each round. Medians and spread are
 * printed: on a shared machine only ratios within one run mean something.
 */

import { join } from 'node:path'
import { runProcess, startFakeWebProcess } from '@webloom/testkit'
import type { Report, Task } from './measured.ts'

const rounds = Number(process.argv[2] ?? 5)
const pages = Number(process.argv[3] ?? 10_000)

const SYSTEMS = [
  { name: 'floor: undici + htmlparser2 stream + Set', file: 'floor.ts', select: false },
  { name: 'webloom, links only', file: 'webloom.ts', select: false },
  { name: 'webloom, title selected', file: 'webloom.ts', select: true },
] as const

// Four hosts, so that no host's line is a bottleneck; 7.4 KB and 30 links a page as in the figures others publish.
await using web = await startFakeWebProcess({
  seed: 1,
  hosts: 4,
  pagesPerHost: Math.ceil(pages / 4),
  linksPerPage: 30,
  pageBytes: 7400,
  crossHostLinks: 0.1,
  hitHeaders: false,
})

const results = new Map<string, Report[]>(SYSTEMS.map(({ name }) => [name, []]))
for (let round = 0; round <= rounds; round++) {
  for (const { name, file, select } of SYSTEMS) {
    const report = await run(file, { seeds: [...web.seeds], concurrency: 32, select })
    await web.resetHits()
    // The first round fills the site's cache.
    if (round > 0) results.get(name)?.push(report)
  }
}

const floor = median(results.get(SYSTEMS[0].name)!.map(speed))
console.log(
  `${pages} pages of 7.4 KB with 30 links, 32 at a time, ${rounds} rounds; node ${process.versions.node}\n`,
)
console.log(
  '| system | pages/s (median) | spread | of the floor | CPU ms/page | peak MB |\n| --- | ---: | ---: | ---: | ---: | ---: |',
)
for (const [name, reports] of results) {
  const speeds = reports.map(speed)
  const rate = median(speeds)
  console.log(
    `| ${name} | ${rate.toFixed(0)} | ${Math.min(...speeds).toFixed(0)}–${Math.max(...speeds).toFixed(0)} | ${((rate / floor) * 100).toFixed(0)} % | ${median(reports.map(({ cpuSeconds, pages: done }) => (cpuSeconds * 1000) / done)).toFixed(2)} | ${median(reports.map(({ rssMb }) => rssMb)).toFixed(0)} |`,
  )
}

async function run(file: string, task: Task): Promise<Report> {
  const { code, stdout, stderr } = await runProcess(
    process.execPath,
    ['--conditions=webloom-source', join(import.meta.dirname, 'systems', file), JSON.stringify(task)],
    { timeoutMs: 300_000 },
  )
  if (code !== 0) throw new Error(`${file} ended with ${code}: ${stderr}`)
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as Report
}

function speed({ pages: done, seconds }: Report): number {
  return done / seconds
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}
