import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryStatsCollector } from '@webloom/core'
import { IN_FULL } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { feedsOfFile } from '../../testing/feeds-of-file.ts'

const feeds = feedsOfFile()
const { feedOf, run, textOf, program, here } = feeds
const ITEMS = IN_FULL ? 120_000 : 60_000

describe('json', () => {
  test('one array, and no spool left beside it', async () => {
    const items = [{ a: 'ü\n' }, { b: [1, { c: null }] }]
    await run('deep/er/out.json', items)
    expect(JSON.parse(textOf('deep/er/out.json'))).toEqual(items)
    expect(readdirSync(join(feeds.folder, 'deep/er'))).toEqual(['out.json'])
  })

  test('while the crawl runs the items are in the spool, and the old array is still there', async () => {
    writeFileSync(join(feeds.folder, 'out.json'), '["old"]', { mode: 0o640 })
    const feed = feedOf('out.json', { overwrite: true })
    await feed.open()
    await feed.write([{ a: 1 }])
    expect(textOf('out.json.spool')).toBe('{"a":1}\n')
    expect(textOf('out.json')).toBe('["old"]')
    await feed.close('finished')
    expect(JSON.parse(textOf('out.json'))).toEqual([{ a: 1 }])
    expect(statSync(join(feeds.folder, 'out.json')).mode & 0o777).toBe(0o640)
  })

  test('a symbolic link stays one', async () => {
    writeFileSync(join(feeds.folder, 'real.json'), '')
    symlinkSync('real.json', join(feeds.folder, 'out.json'))
    await run('out.json', [{ a: 1 }])
    expect(JSON.parse(textOf('real.json'))).toEqual([{ a: 1 }])
  })

  test('appending to an array is refused, and the way out named; an empty file will do', async () => {
    writeFileSync(join(feeds.folder, 'out.json'), '[{"a":1}]')
    await expect(feedOf('out.json').open()).rejects.toMatchObject({
      code: 'WL_OUTPUT_UNWRITABLE',
      message: expect.stringMatching(/cannot be appended to; use -O .* or \.jsonl/),
    })
    expect(textOf('out.json')).toBe('[{"a":1}]')
    writeFileSync(join(feeds.folder, 'out.json'), '')
    await run('out.json', [{ a: 2 }])
    expect(JSON.parse(textOf('out.json'))).toEqual([{ a: 2 }])
  })

  test('the spool of a killed run is told and kept, run after run', async () => {
    for (const count of [1, 2]) {
      writeFileSync(join(feeds.folder, 'out.json.spool'), `{"earlier":${count}}\n`)
      await run('out.json', [{ a: count }], { overwrite: true })
    }
    const kept = readdirSync(feeds.folder).filter((name) => name.startsWith('out.json.spool.'))
    expect(kept.map(textOf).sort()).toEqual(['{"earlier":1}\n', '{"earlier":2}\n'])
    expect(feeds.said.map(({ message }) => message)).toEqual(
      expect.arrayContaining(
        kept.map((name) => expect.stringContaining(`${join(feeds.folder, name)}, one a line`)),
      ),
    )
    expect(JSON.parse(textOf('out.json'))).toEqual([{ a: 2 }])
  })

  test('an array that cannot be made at the end: the items stay in the spool, and the message says so', async () => {
    const stats = new MemoryStatsCollector()
    const feed = feedOf('out.json', {}, { stats })
    await feed.open()
    await feed.write([{ a: 1 }])
    mkdirSync(join(feeds.folder, 'out.json'))
    await expect(feed.close('finished')).rejects.toMatchObject({
      code: 'WL_OUTPUT_FAILED',
      message: expect.stringContaining(
        `The items are in ${join(feeds.folder, 'out.json.spool')}, one a line`,
      ),
    })
    expect(textOf('out.json.spool')).toBe('{"a":1}\n')
    expect(readdirSync(feeds.folder).sort()).toEqual(['out.json', 'out.json.spool'])
    expect(stats.get('feedexport/failed_count/FileFeedStorage')).toBe(1)
  })

  test(`${ITEMS} items of 1 kB in an array, by a process that has 40 MB for objects`, () => {
    const body = `
      const text = 'x'.repeat(1000)
      for (let page = 0; page < ${ITEMS / 100}; page++)
        await feed.write(Array.from({ length: 100 }, (_, index) => ({ id: page * 100 + index, text })))
      const before = process.resourceUsage().maxRSS
      await feed.close()
      writeSync(1, String((process.resourceUsage().maxRSS - before) / 1024))`
    const args = ['--max-old-space-size=40', ...program('out.json', { indent: 1 }, body)]
    const child = spawnSync(process.execPath, args, here)
    expect(child.stderr.toString()).toBe('')
    // The array is of so many kB; its making needs a few pieces of 1 MiB, and what the collector has not returned yet.
    expect(Number(child.stdout.toString())).toBeLessThan(ITEMS / 1200)
    const items: { id: number }[] = JSON.parse(textOf('out.json'))
    expect(items.length).toBe(ITEMS)
    expect(items.every(({ id }, index) => id === index)).toBe(true)
  })
})
