/**
 * Feeds of 200 MB: what a process needs at a fifth it needs at the end, and when the output has been put together.
 *
 * V8's young generation begins at 1 MiB and grows whenever what survived its collections adds up to its size, so that any
 * process that works for a while comes to have it at its full size: here that happened during the fifth, the end or
 * the closing, by chance, and 20 to 50 MiB were counted as the feed's. It has that size from the first here, as in a
 * crawl that has fetched some hundred pages.
 *
 * And the tests of feeds beside it, with more items, kills and formats.
 */

import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import './array-feeds.test.ts'
import './feed-processes.test.ts'
import './stdout-feeds.test.ts'

const ITEMS = 200_000
const ITEMS_PER_PAGE = 100

// MiB; V8's default for the largest on 64 bits.
const YOUNG_GENERATION = '--min-semi-space-size=32'

interface Sizes {
  readonly fifth: number
  readonly end: number
  readonly closed: number
}

/** Writes the items in a process of its own; returns its resident memory in bytes at three moments. */
function sizesOf(uri: string, cwd: string): Sizes {
  const source = `
    import { feedsFrom } from ${JSON.stringify(join(import.meta.dirname, 'index.ts'))}
    import { Settings } from '@webloom/core'
    const settings = new Settings({ FEEDS: { ${JSON.stringify(uri)}: {} } })
    const context = { spiderName: 'big', startedAt: new Date(), cwd: ${JSON.stringify(cwd)} }
    const [feed] = feedsFrom(settings, context)
    await feed.open()
    // Random, so that a compressed output is big as well.
    const text = () => Buffer.from(Array.from({ length: 700 }, () => Math.random() * 256)).toString('base64')
    const texts = Array.from({ length: 1000 }, text)
    const sizes = {}
    for (let from = 0; from < ${ITEMS}; from += ${ITEMS_PER_PAGE}) {
      await feed.write(Array.from({ length: ${ITEMS_PER_PAGE} }, (_, n) => ({ n: from + n, text: texts[(from + n) % 1000] })))
      if (from === ${ITEMS / 5}) sizes.fifth = process.memoryUsage.rss()
    }
    sizes.end = process.memoryUsage.rss()
    await feed.close('finished')
    sizes.closed = process.memoryUsage.rss()
    process.stdout.write(JSON.stringify(sizes))`
  const args = [
    YOUNG_GENERATION,
    '--conditions=webloom-source',
    '--no-warnings',
    '--input-type=module',
    '-e',
    source,
  ]
  const child = spawnSync(process.execPath, args, { cwd: import.meta.dirname })
  expect(child.stderr.toString()).toBe('')
  return JSON.parse(child.stdout.toString())
}

test.each(['out.jsonl', 'out.csv', 'out.json', 'out.xml', 'out.jsonl.gz', 'out.jsonl.zst'])(
  '%s',
  { timeout: 120_000 },
  async (uri) => {
    await using folder = await tempDir()
    const { fifth, end, closed } = sizesOf(uri, folder.path)
    const shown = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`
    console.log(`${uri}: ${shown(fifth)} at a fifth, ${shown(end)} at the end, ${shown(closed)} when closed`)
    expect(end).toBeLessThan(fifth * 1.2)
    expect(closed).toBeLessThan(fifth * 1.2)
    if (!/\.(gz|zst)$/.test(uri)) expect(statSync(join(folder.path, uri)).size).toBeGreaterThan(180_000_000)
  },
)
