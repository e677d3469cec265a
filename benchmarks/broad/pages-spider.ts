/**
 * The spider of the broad crawls, copied into a folder where `webloom` is the code under measurement. It does what
 * `task.json` there says, and leaves `use-<pid>.json` when its process ends.
 */

import { subscribe } from 'node:diagnostics_channel'
import { readFileSync, writeFileSync } from 'node:fs'
import { Request, type Response, Spider } from 'webloom'
import { hostOf, pageUrl, SILENT_HOST, type WebAddress } from './hosts.ts'

export interface SpiderTask {
  readonly web: WebAddress
  /** Follow the links of pages, from the first page of the first host. Otherwise `start()` requests every page. */
  readonly follow: boolean
  readonly hosts: number
  readonly pagesPerHost: number
  /** How many pages of one more host `start()` requests, after all others; and one page of a host that never answers. */
  readonly hotPages: number
  /** Keep the moments at which requests leave. */
  readonly leaves: boolean
  /** After so many pages of this process its RSS is noted. */
  readonly halfAt: number
}

export interface SpiderUse {
  readonly cpuSeconds: number
  /** Of that, what pages took that came after the first one: neither starting nor ending counts. */
  readonly afterFirst: { readonly pages: number; readonly cpuSeconds: number }
  readonly peakRssMb: number
  readonly halfRssMb: number
  readonly endRssMb: number
  readonly leaves: readonly { readonly host: number; readonly atMs: number }[]
}

// The question is a system call: on a virtual machine it has taken a fifth of a page's time.
const CPU_ASKED_EVERY = 100

const task = JSON.parse(readFileSync('task.json', 'utf8')) as SpiderTask
const leaves: { host: number; atMs: number }[] = []
let [pages, halfRssMb] = [0, 0]
/** What the process had used when its first page came, and after the last full hundred pages more. */
let [cpuAtFirst, cpuAtHundreds] = [0, 0]

if (task.leaves)
  subscribe('undici:client:sendHeaders', (message) => {
    const { origin, path } = (message as { request: { origin: string | URL; path: string } }).request
    if (!path.startsWith('/p/')) return
    leaves.push({
      host: hostOf(new URL(origin).hostname),
      atMs: performance.timeOrigin + performance.now(),
    })
  })

process.once('exit', () => {
  const use: SpiderUse = {
    cpuSeconds: cpuSeconds(),
    afterFirst: {
      pages: pages - 1 - ((pages - 1) % CPU_ASKED_EVERY),
      cpuSeconds: cpuAtHundreds - cpuAtFirst,
    },
    peakRssMb: process.resourceUsage().maxRSS / 1024,
    halfRssMb,
    endRssMb: rssMb(),
    leaves,
  }
  writeFileSync(`use-${process.pid}.json`, JSON.stringify(use))
})

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

function rssMb(): number {
  return process.memoryUsage.rss() / 2 ** 20
}

export class Pages extends Spider {
  override name = 'pages'

  override *start(): Generator<unknown> {
    const { web, follow, hosts, pagesPerHost, hotPages } = task
    if (follow) {
      yield new Request(pageUrl(web, 0, 0))
      return
    }
    if (hotPages > 0) yield new Request(pageUrl(web, SILENT_HOST, 0))
    for (let page = 0; page < pagesPerHost; page++)
      for (let host = 0; host < hosts; host++) yield new Request(pageUrl(web, host, page))
    for (let page = 0; page < hotPages; page++) yield new Request(pageUrl(web, hosts, page))
  }

  override *parse(response: Response): Generator<unknown> {
    if (pages % CPU_ASKED_EVERY === 0) {
      cpuAtHundreds = cpuSeconds()
      if (pages === 0) cpuAtFirst = cpuAtHundreds
    }
    if (++pages === task.halfAt) halfRssMb = rssMb()
    if (task.follow) yield* response.followAll()
  }
}
