/** A sitemap of 50 MB in a process whose heap has room for its text and little more: a tree of it would not fit. */

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { runProcess, startFakeWeb, tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'

const PACKAGE = join(import.meta.dirname, '../../packages/webloom')
const SITEMAP_BYTES = 50_000_000
const HEAP_MB = 128
/** Every so many entries one is wanted. */
const WANTED_EVERY = 10_000

test.each(['/sitemap.xml', '/sitemap.xml.gz'])('%s of 50 MB is read in bounded memory', async (path) => {
  await using web = await startFakeWeb({ seed: 1, pagesPerHost: 1 })
  await using folder = await tempDir()
  const origin = new URL(web.seeds[0]!).origin
  const { xml, entries } = sitemap(origin)
  const body = path.endsWith('.gz') ? gzipSync(xml) : xml
  web.route(null, path, (_, response) =>
    response.setHeader('content-type', 'application/octet-stream').end(body),
  )

  mkdirSync(folder.join('node_modules'))
  symlinkSync(PACKAGE, folder.join('node_modules/webloom'))
  writeFileSync(folder.join('spider.ts'), SPIDER.replace('SITEMAP', origin + path))
  const { code, stderr } = await runProcess(
    process.execPath,
    [
      `--max-old-space-size=${HEAP_MB}`,
      join(PACKAGE, 'bin/webloom.js'),
      'runspider',
      'spider.ts',
      '-O',
      'out.jsonl',
    ],
    { cwd: folder.path, timeoutMs: 120_000 },
  )
  expect(code, stderr).toBe(0)
  const [summary] = readFileSync(folder.join('out.jsonl'), 'utf8').trim().split('\n')
  expect(JSON.parse(summary!)).toEqual({ entries, wanted: Math.ceil(entries / WANTED_EVERY) })
})

/** It follows no entry: what is measured is the reading. */
const SPIDER = `import { type Response, type SitemapEntry, SitemapSpider } from 'webloom'

export default class Counting extends SitemapSpider {
  name = 'counting'
  sitemapUrls = ['SITEMAP']
  sitemapRules = [['wanted', 'parse']] as const
  entries = 0
  wanted = 0;

  *sitemapFilter(entries: Iterable<SitemapEntry>) {
    for (const entry of entries) {
      this.entries++
      if (entry.priority === '1.0') this.wanted++
      else yield entry
    }
  }

  async *parseSitemap(response: Response) {
    yield* super.parseSitemap(response)
    yield { entries: this.entries, wanted: this.wanted } as never
  }
}
`

function sitemap(origin: string): { xml: string; entries: number } {
  const parts = [
    '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n',
  ]
  let bytes = 0
  let entries = 0
  while (bytes < SITEMAP_BYTES) {
    const priority = entries % WANTED_EVERY === 0 ? '1.0' : '0.5'
    const entry = `<url><loc>${origin}/shop/products/${entries}?colour=madder&amp;size=${entries % 7}</loc><lastmod>2024-05-17</lastmod><priority>${priority}</priority></url>\n`
    parts.push(entry)
    bytes += entry.length
    entries++
  }
  return { xml: `${parts.join('')}</urlset>`, entries }
}
