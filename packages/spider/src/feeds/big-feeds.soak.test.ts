/**
 * Feeds of 200 MB: what a process holds at a fifth it holds at the end, and when the output has been put together.
 *
 * What it holds is counted after a collection of garbage. Its resident memory tells of V8's mood, too: where the disk is slow, lines that
 * wait for it grow old, and V8 lets 100 MiB of old ones gather before it looks. So that is only bounded by the feed's size: a feed
 * that is kept in memory would be 160 MB more at the end than at a fifth.
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

const MIB = 2 ** 20
const HELD_MORE_MAX = 20 * MIB
const RESIDENT_MORE_MAX = 140 * MIB

/** Bytes: what the program holds, in V8's heap and beside it, and what the process has of memory. */
interface Size {
  readonly held: number
  readonly resident: number
}

interface Sizes {
  readonly fifth: Size
  readonly end: Size
  readonly closed: Size
}

/** Writes the items in a process of its own; returns its memory at three moments. */
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
    const size = () => {
      gc()
      const { heapUsed, external, rss } = process.memoryUsage()
      return { held: heapUsed + external, resident: rss }
    }
    const sizes = {}
    for (let from = 0; from < ${ITEMS}; from += ${ITEMS_PER_PAGE}) {
      await feed.write(Array.from({ length: ${ITEMS_PER_PAGE} }, (_, n) => ({ n: from + n, text: texts[(from + n) % 1000] })))
      if (from === ${ITEMS / 5}) sizes.fifth = size()
    }
    sizes.end = size()
    await feed.close('finished')
    sizes.closed = size()
    process.stdout.write(JSON.stringify(sizes))`
  const args = [
    '--expose-gc',
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
    const shown = ({ held, resident }: Size) =>
      `${Math.round(held / MIB)} MiB held, ${Math.round(resident / MIB)} resident`
    console.log(`${uri}: ${shown(fifth)} at a fifth; ${shown(end)} at the end; ${shown(closed)} when closed`)
    for (const later of [end, closed]) {
      expect(later.held - fifth.held).toBeLessThan(HELD_MORE_MAX)
      expect(later.resident - fifth.resident).toBeLessThan(RESIDENT_MORE_MAX)
    }
    if (!/\.(gz|zst)$/.test(uri)) expect(statSync(join(folder.path, uri)).size).toBeGreaterThan(180_000_000)
  },
)
