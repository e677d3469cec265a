import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryStatsCollector } from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { feedsOfFile } from '../../testing/feeds-of-file.ts'

const feeds = feedsOfFile()
const { feedOf, run, textOf } = feeds

describe('items in a file', () => {
  test('plain objects, instances, dates and toJSON are written as their author means them', async () => {
    class Quote {
      readonly text = 'hi'
      readonly at = new Date(0)
      readonly #secret = 'x'
      get shout() {
        return this.#secret
      }
    }
    const items = [new Quote(), { toJSON: () => ({ a: 1 }) }, { gone: undefined, here: null }]
    await run('out.jsonl', items)
    await run('out.csv', items, { fields: ['text', 'at', 'a'] })
    expect(textOf('out.jsonl')).toBe(
      '{"text":"hi","at":"1970-01-01T00:00:00.000Z"}\n{"a":1}\n{"here":null}\n',
    )
    expect(textOf('out.csv')).toBe('text,at,a\r\nhi,1970-01-01T00:00:00.000Z,\r\n,,1\r\n,,\r\n')
  })

  test.each(['out.jsonl', 'out.json', 'out.csv'])(
    '%s: an item that cannot be written stops no other one',
    async (uri) => {
      const cycle: Record<string, unknown> = { n: 1 }
      cycle.deep = { cycle }
      const lost: unknown[] = []
      const stats = new MemoryStatsCollector()
      const items = [cycle, { n: 2, deep: { big: 1n } }, { n: 3 }, Symbol('no'), { n: 4 }]
      await run(uri, items, {}, { onUnserializable: (item) => lost.push(item), stats })
      expect(lost).toEqual([items[0], items[1], items[3]])
      expect(feeds.said.map(({ level }) => level)).toEqual(['error', 'error', 'error'])
      expect(textOf(uri).match(/[0-9]/g)).toEqual(['3', '4'])
      expect(stats.snapshot()).toEqual({
        'feedexport/success_count/FileFeedStorage': 1,
        'feedexport/unserializable_count': 3,
        'feedexport/written_count': 2,
      })
    },
  )

  test('pages that finish at the same moment: whole batches, in the order of the calls', async () => {
    const feed = feedOf('out.jsonl')
    await feed.open()
    const batches = Array.from({ length: 300 }, (_, page) =>
      Array.from({ length: 1 + (page % 7) }, (_, index) => ({
        page,
        index,
        text: 'ü'.repeat((page * 997) % 5000),
      })),
    )
    await Promise.all(batches.map((batch) => feed.write(batch)))
    const lines = textOf('out.jsonl').trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(batches.flat())
    await feed.close('finished')
  })

  test('what write() has promised is in the file before the next thing happens', async () => {
    for (const uri of ['out.jsonl', 'out.csv']) {
      const feed = feedOf(uri)
      await feed.open()
      await feed.write([{ a: 1 }])
      expect(textOf(uri)).toContain('1')
      await feed.write([{ a: 2 }])
      expect(textOf(uri)).toContain('2')
      await feed.close('finished')
    }
  })

  test('-o appends, -O replaces', async () => {
    for (const uri of ['out.jsonl', 'out.csv']) {
      await run(uri, [{ a: 1 }])
      await run(uri, [{ a: 2 }])
      expect(textOf(uri).match(/\d/g)).toEqual(['1', '2'])
      await run(uri, [{ a: 3 }], { overwrite: true })
      expect(textOf(uri).match(/\d/g)).toEqual(['3'])
    }
  })

  test('a crawl that does not start leaves the file that -O would have replaced', async () => {
    for (const uri of ['out.jsonl', 'out.json', 'out.csv']) {
      writeFileSync(join(feeds.folder, uri), 'precious')
      const feed = feedOf(uri, { overwrite: true })
      await feed.open()
      // The engine closes with this reason when another part could not be opened.
      await (feed as { close(reason?: string): Promise<void> }).close('not_opened')
      expect(textOf(uri)).toBe('precious')
    }
  })

  test('closing a feed that was never opened, or twice, changes nothing', async () => {
    const feed = feedOf('out.jsonl')
    await feed.close('finished')
    expect(readdirSync(feeds.folder)).toEqual([])
    await feed.open()
    await feed.close('finished')
    rmSync(join(feeds.folder, 'out.jsonl'))
    await feed.close('finished')
    expect(readdirSync(feeds.folder)).toEqual([])
  })

  test('FEED_STORE_EMPTY: a crawl without items leaves an empty output, or none', async () => {
    for (const [uri, empty] of [
      ['a.jsonl', ''],
      ['a.json', '[]'],
      ['a.csv', ''],
    ] as const) {
      const feed = feedOf(uri, { store_empty: false })
      await feed.open()
      expect(existsSync(join(feeds.folder, uri))).toBe(false)
      await feed.write([])
      await feed.close('finished')
      expect(readdirSync(feeds.folder)).toEqual([])
      await run(uri, [], { store_empty: true })
      expect(textOf(uri)).toBe(empty)
      rmSync(join(feeds.folder, uri))
    }
  })
})

describe('a torn end', () => {
  test('jsonl: half an item is cut off and told, a whole one without its line end is kept', async () => {
    writeFileSync(join(feeds.folder, 'out.jsonl'), '{"a":1}\n{"a":2,"te')
    await run('out.jsonl', [{ a: 3 }])
    expect(textOf('out.jsonl')).toBe('{"a":1}\n{"a":3}\n')
    expect(feeds.said).toMatchObject([{ level: 'warn', fields: { bytes: 10, text: '{"a":2,"te' } }])

    writeFileSync(join(feeds.folder, 'out.jsonl'), '{"a":1}')
    await run('out.jsonl', [{ a: 3 }])
    expect(textOf('out.jsonl')).toBe('{"a":1}\n{"a":3}\n')
  })

  test('jsonl: an end longer than a piece of reading', async () => {
    const long = 'y'.repeat(2_500_000)
    writeFileSync(join(feeds.folder, 'out.jsonl'), `{"a":1}\n{"a":"${long}`)
    await run('out.jsonl', [{ a: 3 }])
    expect(textOf('out.jsonl')).toBe('{"a":1}\n{"a":3}\n')
    expect(String(feeds.said[0]?.fields.text).length).toBe(500)
  })

  test('a text file that is not JSON keeps its last line', async () => {
    writeFileSync(join(feeds.folder, 'notes.txt'), 'dear diary\nno line end')
    await run('notes.txt', [{ a: 3 }], { format: 'jsonl' })
    expect(textOf('notes.txt')).toBe('dear diary\nno line end\n{"a":3}\n')
  })

  test.each([
    ['a row that lacks cells', 'a,b\r\n1,2\r\n3', 'a,b\r\n1,2\r\n'],
    [
      'a quoted cell that never ends, with line breaks in it',
      'a,b\r\n1,2\r\n3,"x\r\n4,5\r\n',
      'a,b\r\n1,2\r\n',
    ],
    ['a whole row without its line end', 'a,b\r\n1,"2\n"', 'a,b\r\n1,"2\n"\r\n'],
    ['a row cut between CR and LF', 'a,b\r\n1,2\r', 'a,b\r\n1,2\r\n'],
    ['only a header', 'a,b', 'a,b\r\n'],
    ['a quote that is not quoting', 'a,b\n5" nail,1\n', 'a,b\n5" nail,1\n'],
    ['a byte order mark', '\ufeff"a",b\n1,2', '\ufeff"a",b\n1,2\r\n'],
  ])('csv: %s', async (_, before, kept) => {
    writeFileSync(join(feeds.folder, 'out.csv'), before)
    await run('out.csv', [{ b: 8, a: 7 }])
    expect(textOf('out.csv')).toBe(`${kept}7,8\r\n`)
    expect(feeds.said.length).toBe(kept.startsWith(before) ? 0 : 1)
  })
})
