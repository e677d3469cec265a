/**
 * Memory of a queue on disk: RSS of a fresh process that has filled a JOBDIR with so many requests, and of one that
 * opens it again, at 100 000 and at 1 000 000.
 *
 *     node --conditions=webloom-source benchmarks/jobdir-memory-bench.ts [hosts]
 */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { Request } from '@webloom/core'
import { JobDir, MemoryHostClock } from '@webloom/queue'

const [FEW, MANY] = [100_000, 1_000_000]
/** Links of one page. */
const BATCH = 100
const PAGES_AFTER_OPEN = 2_000

interface Measured {
  readonly rssMiB: number
  readonly seconds: number
}

function jobDir(folder: string): JobDir {
  const clock = new MemoryHostClock({ pace: { delayMs: 0, concurrency: 8, randomize: false } })
  return new JobDir({ folder, spiderName: 'bench', clock })
}

/** What `Scheduler.enqueue` does: ask, push, settle. */
async function fill(folder: string, count: number, hosts: number): Promise<void> {
  const { queue, filter, record } = jobDir(folder)
  await record.open()
  await filter.open()
  await queue.open()
  for (let at = 0; at < count; at += BATCH) {
    const requests = Array.from({ length: BATCH }, (_, n) => requestOf(at + n, hosts))
    const asker = `page/${at}`
    const seen = await filter.requestsSeen(requests, asker)
    const fresh = requests.filter((_, n) => !seen[n]).map((request) => ({ id: request.url, request }))
    await queue.push(fresh, asker)
    await queue.settled(asker)
  }
  report()
  await queue.close()
  await filter.close()
  await record.close()
}

/** What a resumed crawl does first: open, and fetch some pages. */
async function resume(folder: string): Promise<void> {
  const { queue, filter, record } = jobDir(folder)
  await record.open()
  await filter.open()
  await queue.open()
  for (let pages = 0; pages < PAGES_AFTER_OPEN; ) {
    for (const lease of await queue.lease(16)) {
      await queue.commit(lease)
      pages++
    }
  }
  report()
  await queue.close()
  await filter.close()
  await record.close()
}

function requestOf(n: number, hosts: number): Request {
  return new Request(
    `https://www.host-${n % hosts}.example/catalogue/section-${n % 97}/page-${n}.html?sort=asc`,
    {
      meta: { depth: n % 12 },
    },
  )
}

function report(): void {
  const { rss } = process.memoryUsage()
  process.stdout.write(JSON.stringify({ rssMiB: rss / 2 ** 20, seconds: performance.now() / 1000 }))
}

/** In a process of its own: memory that another phase has left behind does not count. */
function inProcess(...args: string[]): Measured {
  const command = ['--conditions=webloom-source', import.meta.filename, ...args]
  return JSON.parse(execFileSync(process.execPath, command, { encoding: 'utf8' })) as Measured
}

// As the command line has it with a JOBDIR; given as an argument of node, the flag does nothing.
setFlagsFromString('--semi-space-growth-factor=1')

const [phase, folder, count, hosts = '1000'] = process.argv.slice(2)
if (phase === 'fill') await fill(folder!, Number(count), Number(hosts))
else if (phase === 'resume') await resume(folder!)
else {
  const folders = mkdtempSync(join(tmpdir(), 'webloom-memory-'))
  try {
    const hostCount = phase ?? '1000'
    const measured = [FEW, MANY].map((requests) => {
      const path = join(folders, String(requests))
      const filled = inProcess('fill', path, String(requests), hostCount)
      const resumed = inProcess('resume', path)
      const mib = statSync(join(path, 'webloom.sqlite')).size / 2 ** 20
      console.log(
        `${requests} requests on ${hostCount} hosts: filled in ${filled.seconds.toFixed(1)} s, RSS ${filled.rssMiB.toFixed(0)} MiB; opened again: RSS ${resumed.rssMiB.toFixed(0)} MiB; file ${mib.toFixed(0)} MiB`,
      )
      return { filled, resumed }
    })
    const [few, many] = measured
    console.log(
      `RSS at ${MANY} / RSS at ${FEW}: filling ${(many!.filled.rssMiB / few!.filled.rssMiB).toFixed(2)}, opened again ${(many!.resumed.rssMiB / few!.resumed.rssMiB).toFixed(2)}`,
    )
  } finally {
    rmSync(folders, { recursive: true, force: true })
  }
}
