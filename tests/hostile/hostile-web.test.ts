/** One crawl, by a real process, of everything that a hostile web does to a single exchange. */

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Expected,
  type HostileUrl,
  type HostileWeb,
  runProcess,
  startHostileWeb,
  tempDir,
} from '@webloom/testkit'
import { expect, test } from 'vitest'
import {
  EXPIRED_CERTIFICATE,
  LOCAL_CA_FILE,
  LOCAL_CERTIFICATE,
  SELF_SIGNED_CERTIFICATE,
} from '../../packages/downloader/testing/local-certificates.ts'
import { LEAN_MALLOC } from '../../packages/webloom/src/processes/worker-process.ts'

const PACKAGE = join(import.meta.dirname, '../../packages/webloom')

const SPIDER = `
import { readFileSync, writeFileSync } from 'node:fs'
import { Request, Spider } from 'webloom'

export class Hostile extends Spider {
  override name = 'hostile'
  override handleHttpstatusList = [404, 410]

  override async *start() {
    for (const { url, meta } of JSON.parse(readFileSync('urls.json', 'utf8')))
      yield new Request(url, { errback: 'failed', cbKwargs: { url }, meta, dontFilter: true })
  }

  *parse(response, { url }) {
    const links = response.linkUrls().length
    const title = response.css('title::text').get() ?? ''
    yield { url, outcome: 'page', title, characters: response.text.length, links }
  }

  *failed({ request, error }) {
    yield { url: request.cbKwargs.url, outcome: error.kind ?? error.name, message: error.message }
  }

  override closed() {
    writeFileSync('memory.txt', readFileSync('/proc/self/status'))
  }
}
`

const SETTINGS = {
  ROBOTSTXT_OBEY: false,
  DOWNLOAD_VERIFY_CERTIFICATES: true,
  DOWNLOAD_CA_CERTIFICATES: LOCAL_CA_FILE,
  // What is retried is retried once, and soon.
  RETRY_TIMES: 1,
  RETRY_BACKOFF: 0.05,
  DOWNLOAD_RATE_WINDOW: 3,
}

/** Only what never comes is not waited for as long as pages are. */
const request = ({ url, expected }: HostileUrl) => ({
  url,
  meta: expected.reason === 'deadline' ? { download_timeout: 2 } : {},
})

interface Item {
  readonly url: string
  readonly outcome: string
  readonly message?: string
  readonly title?: string
  readonly characters?: number
}

/** The items of the crawl by URL, its stats, and the most memory that its process had, in bytes. */
async function crawled(web: HostileWeb) {
  await using dir = await tempDir()
  mkdirSync(dir.join('node_modules'))
  symlinkSync(PACKAGE, dir.join('node_modules/webloom'))
  writeFileSync(dir.join('spider.ts'), SPIDER)
  writeFileSync(dir.join('urls.json'), JSON.stringify(web.urls.map(request)))
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-s', `${name}=${value}`])
  const { stderr } = await runProcess(
    process.execPath,
    [
      join(PACKAGE, 'bin/webloom.js'),
      'runspider',
      'spider.ts',
      '-o',
      'items.jsonl',
      '--stats-file',
      'stats.json',
      ...settings,
    ],
    // As `worker --processes` and the image start one.
    { cwd: dir.path, timeoutMs: 300_000, env: LEAN_MALLOC },
  )
  const items = readFileSync(dir.join('items.jsonl'), 'utf8').trim().split('\n')
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(dir.join('memory.txt'), 'utf8'))!
  return {
    items: new Map(items.map((line) => JSON.parse(line) as Item).map((item) => [item.url, item])),
    stats: JSON.parse(readFileSync(dir.join('stats.json'), 'utf8')),
    peakBytes: Number(kilobytes) * 1024,
    stderr,
  }
}

/**
 * All of the process included: some 150 MB before its first request, and garbage, of which there is more where the collector
 * has to share its core: up to 344 MB were seen.
 */
const PEAK_BYTES_MAX = 500_000_000

test('every attack ends as it should and is counted, every page among them is fetched, and the crawl finishes', async () => {
  await using web = await startHostileWeb({
    valid: LOCAL_CERTIFICATE,
    expired: EXPIRED_CERTIFICATE,
    'self-signed': SELF_SIGNED_CERTIFICATE,
  })
  const { items, stats, peakBytes, stderr } = await crawled(web)
  expect(stderr).toContain('crawl ended: finished')
  expect(made(web, items)).toEqual(web.urls.map(({ url, expected }) => [url, toBeMade(url, expected)]))
  expect(reasonsCounted(stats)).toEqual(reasonsExpected(web))
  expect(stats).toMatchObject(statsExpected(web))
  expect(stats['retry/count']).toBe(web.urls.filter(({ expected }) => expected.isRetried).length)
  expect(peakBytes).toBeLessThan(PEAK_BYTES_MAX)
}, 330_000)

const TRIES = 1 + SETTINGS.RETRY_TIMES

function made(web: HostileWeb, items: ReadonlyMap<string, Item>) {
  return web.urls.map(({ url, expected }) => {
    const { outcome, title, characters } = items.get(url) ?? { outcome: 'nothing' }
    return [
      url,
      {
        outcome,
        ...(outcome === 'page' && { title }),
        ...(expected.characters !== undefined && { characters }),
      },
    ]
  })
}

function toBeMade(url: string, { outcome, title, characters }: Expected) {
  return {
    outcome,
    ...(outcome === 'page' && { title: title ?? new URL(url).pathname.slice(1) }),
    ...(characters !== undefined && { characters }),
  }
}

const PREFIX = 'downloader/protection/'

function reasonsCounted(stats: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(stats)
      .filter(([key]) => key.startsWith(PREFIX))
      .map(([key, count]) => [key.slice(PREFIX.length), count]),
  )
}

function reasonsExpected(web: HostileWeb): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { expected } of web.urls)
    if (expected.reason) counts[expected.reason] = (counts[expected.reason] ?? 0) + triesExpected(expected)
  return counts
}

function triesExpected({ isRetried }: Expected): number {
  return isRetried ? TRIES : 1
}

/** What cases add to other counters, all together. */
function statsExpected(web: HostileWeb): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { expected } of web.urls)
    for (const [key, count] of Object.entries(expected.stats ?? {})) sums[key] = (sums[key] ?? 0) + count
  return sums
}
