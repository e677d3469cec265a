import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Settings, SettingsError, type SettingsInput } from '@webloom/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { feedsFrom } from './feed-options.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'webloom-feeds-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const startedAt = new Date('2026-11-21T12:00:00.5Z')

function feedsOf(settings: SettingsInput) {
  return feedsFrom(new Settings(settings), { spiderName: 'quotes', startedAt, cwd: folder })
}

function problemsOf(feeds: Record<string, unknown>, settings: SettingsInput = {}): readonly string[] {
  try {
    feedsOf({ ...settings, FEEDS: feeds })
  } catch (error) {
    if (error instanceof SettingsError) return error.problems
    throw error
  }
  return []
}

async function written(settings: SettingsInput, items: unknown[]): Promise<Record<string, string>> {
  const feeds = feedsOf(settings)
  for (const feed of feeds) {
    await feed.open()
    await feed.write(items)
    await feed.close('finished')
  }
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  )
}

describe('FEEDS', () => {
  test('no feeds without FEEDS', () => {
    expect(feedsOf({})).toEqual([])
  })

  test('each entry is a feed, its format is told by the extension or by name', async () => {
    const files = await written(
      {
        FEEDS: { 'a.jsonl': {}, 'b.json': {}, 'c.csv': {}, 'd.txt': { format: 'jl' }, e: { format: 'csv' } },
      },
      [{ x: 1 }],
    )
    expect(files).toEqual({
      'a.jsonl': '{"x":1}\n',
      'b.json': '[\n{"x":1}\n]',
      'c.csv': 'x\r\n1\r\n',
      'd.txt': '{"x":1}\n',
      e: 'x\r\n1\r\n',
    })
  })

  test('%(name)s and %(time)s become the spider and the start, in a path and in a file:// URL', async () => {
    const url = `${pathToFileURL(folder)}/%(name)s.csv`
    const files = await written({ FEEDS: { '%(name)s-%(time)s.jsonl': {}, [url]: {} } }, [{ x: 1 }])
    expect(Object.keys(files).sort()).toEqual(['quotes-2026-11-21T12-00-00+00-00.jsonl', 'quotes.csv'])
  })

  test('FEED_EXPORT_FIELDS chooses and orders fields in every format; a feed may say otherwise', async () => {
    const files = await written(
      {
        FEED_EXPORT_FIELDS: ['b', 'a'],
        FEEDS: {
          '1.jsonl': {},
          '2.csv': {},
          '3.jsonl': { fields: { a: 'A' } },
          '4.csv': { fields: { a: 'A', z: 'Z' } },
        },
      },
      [{ a: 1, b: 2, c: 3 }, { a: 4 }],
    )
    expect(files).toEqual({
      '1.jsonl': '{"b":2,"a":1}\n{"a":4}\n',
      '2.csv': 'b,a\r\n2,1\r\n,4\r\n',
      '3.jsonl': '{"A":1}\n{"A":4}\n',
      '4.csv': 'A,Z\r\n1,\r\n4,\r\n',
    })
  })

  test('FEED_EXPORT_INDENT: 0 is an item a line, null one line, more is JSON.stringify', async () => {
    const items = [{ a: { b: [1, 'x\ny'] } }, { c: 2 }]
    const files = await written(
      {
        FEED_EXPORT_INDENT: 2,
        FEEDS: { '0.json': { indent: 0 }, '2.json': {}, 'null.json': { indent: null } },
      },
      items,
    )
    expect(files['0.json']).toBe(`[\n${JSON.stringify(items[0])},\n${JSON.stringify(items[1])}\n]`)
    expect(files['2.json']).toBe(JSON.stringify(items, null, 2))
    expect(files['null.json']).toBe(JSON.stringify(items))
  })

  test('all that is wrong is said at once', () => {
    const problems = problemsOf({
      's3://bucket': { format: 'csv' },
      's3://bucket/out.jsonl': {},
      'ftp://host/out': { format: 'csv' },
      's3://key:secret@bucket/out': {},
      'a.jsonl': {
        formt: 'json',
        overwrite: 'yes',
        indent: 11,
        encoding: 'latin-1',
        fields: [1],
        store_empty: 0,
      },
      'b.jsonl': { batch_item_count: 100, postprocessing: ['lzma'], item_filter: 'x', item_classes: [1] },
      'c.pickle': { format: 'pickle' },
      'c.csv.gz': { gz_compresslevel: 10 },
      '-': { format: 'csv', postprocessing: ['gzip'] },
      '%(nobody)s.jsonl': {},
      'folder/': { format: 'csv' },
      noextension: {},
      'd.jsonl': 'jsonl',
    })
    expect(problems).toEqual([
      expect.stringContaining('it names no object of a bucket'),
      expect.stringContaining('set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'),
      expect.stringContaining('ftp:// is not in this release'),
      expect.stringMatching(
        /^FEEDS\["s3:\/\/bucket\/out"\]: no format is named; write "format": "jsonl" for s3:\/\/bucket/,
      ),
      expect.stringContaining('unknown option "formt". Did you mean format? There are format, overwrite'),
      expect.stringContaining('encoding is "latin-1"'),
      expect.stringContaining('overwrite is "yes"; expected true or false'),
      expect.stringContaining('store_empty is 0'),
      expect.stringContaining('fields is [1]'),
      expect.stringContaining('indent is 11'),
      expect.stringContaining('postprocessing is ["lzma"]; expected ["gzip"] or ["zstd"]'),
      expect.stringContaining('each 100 items begin a new output, which needs %(batch_id)d'),
      expect.stringContaining('item_classes is [1]'),
      expect.stringContaining('item_filter is "x"; expected a function'),
      expect.stringContaining('pickle is not in this release'),
      expect.stringContaining('gz_compresslevel is 10; expected a whole number from 0 to 9'),
      expect.stringContaining('standard output is not compressed here'),
      expect.stringContaining('%(nobody)s is not a placeholder; known are name, time'),
      expect.stringContaining('it names a folder'),
      expect.stringContaining('no format is named'),
      expect.stringContaining('expected an object of options'),
    ])
  })

  test('the name may hold fields of the spider, the worker, and what FEED_URI_PARAMS makes of them', async () => {
    const feeds = feedsFrom(
      new Settings({
        FEEDS: { '%(site)s-%(depth)03d-%(worker)s-%(day)s.jsonl': {} },
        FEED_URI_PARAMS: (params: { name: string }, spider: { site: string }) => ({
          day: `${params.name}@${spider.site}`,
        }),
      }),
      { spiderName: 'q', spider: { site: 'a.b', depth: 7 }, startedAt, worker: 'box:41:af', cwd: folder },
    )
    expect(feeds.map(({ uri }) => uri)).toEqual(['a.b-007-box-41-af-q@a.b.jsonl'])
  })

  test('a feed takes some items only: by class, by name of it, by a function', async () => {
    class Quote {
      n = 1
    }
    class Author {
      n = 2
    }
    const files = await written(
      {
        FEEDS: {
          'class.jsonl': { itemClasses: [Quote] },
          'name.jsonl': { item_classes: ['Author'] },
          'filter.jsonl': { item_filter: ({ n }: { n: number }) => n > 1 },
          'both.jsonl': { item_classes: [Author, Quote], item_filter: { accepts: () => false } },
        },
      },
      [new Quote(), new Author(), { n: 3 }],
    )
    expect(files).toEqual({
      'class.jsonl': '{"n":1}\n',
      'name.jsonl': '{"n":2}\n',
      'filter.jsonl': '{"n":2}\n{"n":3}\n',
      'both.jsonl': '',
    })
  })

  test('workers of one crawl may not send to one object of S3', () => {
    const settings = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }
    const feedsOfWorker = (uri: string) =>
      feedsFrom(new Settings({ ...settings, FEEDS: { [uri]: {} } }), {
        spiderName: 'q',
        startedAt,
        isWorker: true,
      })
    expect(() => feedsOfWorker('s3://bucket/out.jsonl')).toThrow(/put %\(worker\)s into its name/)
    expect(feedsOfWorker('s3://bucket/%(worker)s.jsonl')).toHaveLength(1)
  })

  test('Scrapy\'s ways to write "not used" are no problem', () => {
    const options = { encoding: 'utf8', batch_item_count: 0, item_filter: null, indent: 4, storeEmpty: false }
    expect(problemsOf({ 'a.jsonl': options })).toEqual([])
  })

  test('two feeds to the same file are refused, also by another spelling or a link', () => {
    symlinkSync(folder, join(folder, 'link'))
    expect(problemsOf({ 'a.jsonl': {}, './a.jsonl': {} })).toHaveLength(1)
    expect(problemsOf({ 'a.jsonl': {}, 'link/a.jsonl': {} })).toHaveLength(1)
    expect(problemsOf({ '-': { format: 'csv' }, 'stdout:': { format: 'json' } })).toEqual([
      'FEEDS: - and stdout: both lead to standard output; give each its own',
    ])
  })
})
