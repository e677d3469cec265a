/**
 * Memory of a crawl in one process without a JOBDIR: bytes of the heap that a request takes which was met, and which waits in
 * the queue, spread over so many hosts. The URLs have 80 characters.
 *
 *     node --expose-gc --conditions=webloom-source benchmarks/local-memory-bench.ts [requests]
 */

import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { Request } from '@webloom/core'
import { MemoryDupeFilter } from '@webloom/dupefilter'
import { MemoryHostClock, MemoryRequestQueue } from '@webloom/queue'

/** Links of one page. */
const BATCH = 100
const [requests = 300_000, hostsOfPart] = process.argv.slice(2).map(Number)

function heapBytes(): number {
  globalThis.gc!()
  globalThis.gc!()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

async function measure(hosts: number): Promise<void> {
  const clock = new MemoryHostClock({ pace: { delayMs: 0, concurrency: 8, randomize: false } })
  const queue = new MemoryRequestQueue({ clock })
  const filter = new MemoryDupeFilter()
  const before = heapBytes()
  for (let at = 0; at < requests; at += BATCH) {
    const asker = `page/${at}`
    await filter.requestsSeen(batch(at, hosts), asker)
    await filter.settled(asker)
  }
  const met = heapBytes()
  for (let at = 0; at < requests; at += BATCH) {
    const asker = `page/${at}`
    await queue.push(
      batch(at, hosts).map((request) => ({ id: hash('sha1', request.url), request })),
      asker,
    )
    await queue.settled(asker)
  }
  const queued = heapBytes()
  const { waiting } = await queue.counts()
  const { count } = await filter.describe()
  const each = (bytes: number) => `${(bytes / requests).toFixed(0)} B`
  console.log(
    `${waiting} requests queued over ${hosts} hosts: ${each(queued - met)} each; ${count} met: ${each(met - before)} each`,
  )
}

function batch(at: number, hosts: number): Request[] {
  return Array.from({ length: BATCH }, (_, n) => requestOf(at + n, hosts))
}

function requestOf(n: number, hosts: number): Request {
  return new Request(
    `https://www.host-${n % hosts}.example/catalogue/section-${n % 97}/page-${n}.html?sort=asc`,
    { meta: { depth: n % 12 } },
  )
}

if (hostsOfPart !== undefined) await measure(hostsOfPart)
else {
  for (const hosts of [1, 1000, requests]) {
    // In a process of its own: what another part has left behind does not count.
    const args = ['--expose-gc', '--conditions=webloom-source', import.meta.filename, requests, hosts].map(
      String,
    )
    execFileSync(process.execPath, args, { stdio: 'inherit' })
  }
}
