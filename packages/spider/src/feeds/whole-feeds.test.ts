/** Outputs that are put together at the end: XML, compressed files, batches; and who may write them. */

import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import {
  type CrawlRecord,
  type ItemFeed,
  type JsonObject,
  Settings,
  type SettingsInput,
  silentLogger,
} from '@webloom/core'
import { type TempDir, tempDir } from '@webloom/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FeedsContext, feedsFrom } from './feed-options.ts'
import type { ItemExporter, ItemExporterOptions } from './formats/own-format.ts'

let folder: TempDir
beforeEach(async () => {
  folder = await tempDir()
})
afterEach(() => folder[Symbol.asyncDispose]())

function feedOf(
  uri: string,
  options: object = {},
  context: Partial<FeedsContext> = {},
  settings: SettingsInput = {},
): ItemFeed {
  const [feed] = feedsFrom(new Settings({ ...settings, FEEDS: { [uri]: options } }), {
    spiderName: 'quotes',
    startedAt: new Date(),
    cwd: folder.path,
    ...context,
  })
  return feed!
}

async function run(
  uri: string,
  items: readonly unknown[],
  options: object = {},
  settings: SettingsInput = {},
) {
  const feed = feedOf(uri, options, {}, settings)
  await feed.open()
  await feed.write(items)
  await feed.close('finished')
}

const bytesOf = (name: string) => readFileSync(join(folder.path, name))
const textOf = (name: string) => bytesOf(name).toString()
const names = () => readdirSync(folder.path).sort()

/** The record of a crawl that is resumed: it remembers which outputs were begun. */
function rememberingRecord(): Pick<CrawlRecord, 'outputBegun' | 'beginOutput'> {
  const begun = new Set<string>()
  return {
    outputBegun: async (path) => begun.has(path),
    beginOutput: async (path) => void begun.add(path),
  }
}

const items = [
  { name: 'Lamp <1> & "2"', price: 1.5, tags: ['old', 'brass'], size: { w: 1, h: null } },
  { name: 'Bed', inStock: true },
]

describe('a format of one’s own', () => {
  class Markdown implements ItemExporter {
    readonly #fields: readonly string[]
    constructor({ fields = ['name'] }: ItemExporterOptions) {
      this.#fields = fields
    }
    start = () => '# Things\n'
    item(item: JsonObject) {
      if (item.name === 'Chair') throw new Error('no chairs')
      return `- ${this.#fields.map((field) => item[field]).join(', ')}\n`
    }
    end = () => '(end)\n'
  }
  const FEED_EXPORTERS = { md: Markdown }

  test('is chosen by extension or name, and gets the fields that were asked for', async () => {
    await run('out.md', items, {}, { FEED_EXPORTERS })
    await run('out.txt.gz', items, { format: 'md', fields: { price: 'cost' } }, { FEED_EXPORTERS })
    await run('none.md', [], {}, { FEED_EXPORTERS })
    expect(textOf('out.md')).toBe('# Things\n- Lamp <1> & "2"\n- Bed\n(end)\n')
    expect(gunzipSync(bytesOf('out.txt.gz')).toString()).toBe('# Things\n- 1.5\n- \n(end)\n')
    expect(textOf('none.md')).toBe('# Things\n(end)\n')
  })

  test('an item that it cannot write is lost alone', async () => {
    const lost: unknown[] = []
    const onUnserializable = (item: unknown) => lost.push(item)
    const feed = feedOf('out.md', {}, { onUnserializable }, { FEED_EXPORTERS })
    await feed.open()
    await feed.write([{ name: 'Chair' }, { name: 'Bed' }])
    await feed.close('finished')
    expect([textOf('out.md'), lost]).toEqual(['# Things\n- Bed\n(end)\n', [{ name: 'Chair' }]])
  })

  test.each<[string, Partial<Record<keyof ItemExporter, () => unknown>>, string]>([
    [
      'item() gives nothing',
      { item: () => undefined },
      'item() with undefined; expected a string; is a return missing?',
    ],
    [
      'item() is async',
      { item: async () => 'text' },
      'item() with a Promise; expected a string; it may not be async',
    ],
    ['item() gives a number', { item: () => 5 }, 'item() with 5 (a number); expected a string'],
  ])('an exporter whose %s loses its items by name', async (_what, methods, told) => {
    class Broken {}
    Object.assign(Broken.prototype, methods)
    const reasons: unknown[] = []
    const onUnserializable = (_item: unknown, error: unknown) => reasons.push(error)
    const settings = { FEED_EXPORTERS: { md: Broken } }
    const feed = feedOf('out.md', {}, { onUnserializable }, settings)
    await feed.open()
    await feed.write([{ name: 'Bed' }])
    await feed.close('finished')
    expect(reasons).toMatchObject([
      { code: 'WL_COMPONENT_ANSWER', message: `the exporter Broken answered ${told}` },
    ])
    expect(textOf('out.md')).toBe('')
  })

  test.each(['start', 'end'])('an output whose exporter has an async %s() has failed', async (method) => {
    class Broken {
      item = () => 'x'
    }
    Object.assign(Broken.prototype, { [method]: async () => 'text' })
    await expect(run('out.md', items, {}, { FEED_EXPORTERS: { md: Broken } })).rejects.toMatchObject({
      code: 'WL_OUTPUT_FAILED',
      message: expect.stringContaining(`the exporter Broken answered ${method}() with a Promise`),
    })
    expect(names()).toContain('out.md.spool')
  })

  test.each([
    [
      'throws',
      class Broken {
        constructor() {
          throw new Error('no table')
        }
      },
      'the exporter Broken (FEED_EXPORTERS) could not be made: its constructor threw Error: no table',
    ],
    ['has no item()', class Broken {}, 'the exporter Broken (FEED_EXPORTERS) has no item; it needs item'],
  ])('an exporter that %s is refused before anything is fetched', (_what, Broken, message) => {
    expect(() => feedOf('out.md', {}, {}, { FEED_EXPORTERS: { md: Broken } })).toThrow(
      expect.objectContaining({ code: 'WL_COMPONENT_LOAD', message: expect.stringContaining(message) }),
    )
  })

  test('what is not a class is refused by the name of the setting', () => {
    expect(() => feedOf('out.md', {}, {}, { FEED_EXPORTERS: { md: 'markdown' } })).toThrow(
      'FEED_EXPORTERS has "markdown" for md; expected ./file.ts#Export or a class',
    )
  })
})

describe('xml', () => {
  test('is what XmlItemExporter writes', async () => {
    await run('0.xml', items)
    await run('null.xml', items, { indent: null })
    await run('2.xml', [{ name: 'a', tags: ['b', { c: 1 }] }], { indent: 2 })
    await run('none.xml', [])
    const lamp =
      '<item><name>Lamp &lt;1&gt; &amp; "2"</name><price>1.5</price><tags><value>old</value><value>brass</value></tags><size><w>1</w><h></h></size></item>'
    const bed = '<item><name>Bed</name><inStock>true</inStock></item>'
    const declaration = '<?xml version="1.0" encoding="utf-8"?>\n'
    expect(textOf('0.xml')).toBe(`${declaration}<items>\n${lamp}\n${bed}\n</items>\n`)
    expect(textOf('null.xml')).toBe(`${declaration}<items>${lamp}${bed}</items>`)
    expect(textOf('2.xml')).toBe(
      `${declaration}<items>\n  <item>\n    <name>a</name>\n    <tags>\n      <value>b</value>\n      <value>\n        <c>1</c>\n      </value>\n    </tags>\n  </item>\n</items>\n`,
    )
    expect(textOf('none.xml')).toBe(`${declaration}<items>\n</items>\n`)
  })

  test('stays XML whatever the page says', async () => {
    await run('out.xml', [{ 'a b': 'x\u0000\u001b\ud800\uffffy\r\n', '1st': [[]], 'ü.-_': 1 }])
    expect(textOf('out.xml')).toContain(
      '<item><a_b>xy&#13;\n</a_b><_1st><value></value></_1st><ü.-_>1</ü.-_></item>',
    )
  })
})

describe('compressed', () => {
  test.each([
    ['out.jsonl.gz', gunzipSync, {}],
    ['out.jsonl.zst', zstdDecompressSync, {}],
    ['out.csv.gz', gunzipSync, { gz_compresslevel: 9 }],
    ['out.xml.zst', zstdDecompressSync, { zstd_compresslevel: 19 }],
    ['out.json.gz', gunzipSync, {}],
    ['packed.csv', gunzipSync, { postprocessing: ['scrapy.extensions.postprocessing.GzipPlugin'] }],
  ] as const)('%s holds what the plain file would', async (uri, unpack, options) => {
    await run(uri, items, { fields: { name: 'Name', price: 'Price' }, ...options })
    const plain = uri.replace(/\.(gz|zst)$/, '').replace('packed', 'plain')
    await run(plain, items, { fields: { name: 'Name', price: 'Price' } })
    expect(unpack(bytesOf(uri)).toString()).toBe(textOf(plain))
    expect(names()).toEqual([plain, uri].sort())
  })

  test('an existing one is not appended to', async () => {
    writeFileSync(join(folder.path, 'out.jsonl.gz'), 'x')
    await expect(feedOf('out.jsonl.gz').open()).rejects.toThrow(
      /a compressed file cannot be appended to; use -O/,
    )
    expect(names()).toEqual(['out.jsonl.gz'])
  })
})

describe('batches', () => {
  test('a new file begins after so many items, also in the middle of a page', async () => {
    const feed = feedOf('%(batch_id)02d.jsonl', { batch_item_count: 2 })
    await feed.open()
    await Promise.all([feed.write([1, 2, 3].map((n) => ({ n }))), feed.write([{ n: 4 }, { n: 5 }])])
    await feed.close('finished')
    expect(Object.fromEntries(names().map((name) => [name, textOf(name)]))).toEqual({
      '01.jsonl': '{"n":1}\n{"n":2}\n',
      '02.jsonl': '{"n":3}\n{"n":4}\n',
      '03.jsonl': '{"n":5}\n',
    })
  })

  test('each is whole as soon as its last item has come', async () => {
    const feed = feedOf('%(batch_id)d.json.gz', {}, {}, { FEED_EXPORT_BATCH_ITEM_COUNT: 1 })
    await feed.open()
    await feed.write([{ n: 1 }])
    expect(names()).toEqual(['1.json.gz'])
    expect(gunzipSync(bytesOf('1.json.gz')).toString()).toBe('[\n{"n":1}\n]')
    await feed.close('finished')
    expect(names()).toEqual(['1.json.gz'])
  })

  test('%(batch_time)s is another one for each', async () => {
    await run('%(batch_time)s.jsonl', [{ n: 1 }, { n: 2 }, { n: 3 }], { batch_item_count: 1 })
    expect(names()).toHaveLength(3)
    for (const name of names()) expect(name).toMatch(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{6}\+00-00\.jsonl$/)
  })

  test('a resumed crawl goes on in its last batch', async () => {
    const record = rememberingRecord()
    for (const page of [
      [1, 2, 3],
      [4, 5, 6],
    ]) {
      const feed = feedOf('%(batch_id)d.json', { batch_item_count: 2, overwrite: true }, { record })
      await feed.open()
      await feed.write(page.map((n) => ({ n })))
      await feed.close('shutdown')
    }
    const batches = [1, 2, 3].map((id) => JSON.parse(textOf(`${id}.json`)).map(({ n }: { n: number }) => n))
    expect(batches).toEqual([[1, 2], [3, 4, 5], [6]])
  })
})

describe('a crawl that is stopped', () => {
  const warnings: unknown[] = []
  const logger = { ...silentLogger, warn: (...line: unknown[]) => void warnings.push(line) }
  beforeEach(() => void warnings.splice(0))

  async function stopped(uri: string, name: string, context: Partial<FeedsContext>, reason = 'shutdown') {
    const feed = feedOf(uri, { overwrite: true }, { ...context, logger })
    await feed.open()
    await feed.write([{ name }])
    await feed.close(reason)
  }

  test.each(['out.json', 'out.xml', 'out.jsonl.gz', 'out.csv.zst'])(
    'and cannot be resumed leaves %s whole, no spool, and nothing for the next to warn of',
    async (uri) => {
      for (const reason of ['shutdown', 'cancelled', 'closespider_itemcount', 'stopped', 'error']) {
        await stopped(uri, 'Lamp', {}, reason)
        expect(names()).toEqual([uri])
        expect(bytesOf(uri).length).toBeGreaterThan(10)
      }
      expect(warnings).toEqual([])
    },
  )

  test('and can be resumed keeps its items for the next run of it, which removes them at its end', async () => {
    const record = rememberingRecord()
    await stopped('out.json', 'Lamp', { record })
    expect(names()).toEqual(['out.json', 'out.json.resume'])
    const idle = feedOf('out.json', { overwrite: true }, { record, logger })
    await idle.open()
    await idle.close('not_opened')
    expect(names()).toEqual(['out.json', 'out.json.resume'])
    await stopped('out.json', 'Bed', { record }, 'finished')
    expect(JSON.parse(textOf('out.json'))).toEqual([{ name: 'Lamp' }, { name: 'Bed' }])
    expect(names()).toEqual(['out.json'])
    expect(warnings).toEqual([])
  })

  test('and is begun anew instead has nothing lost to tell of', async () => {
    await stopped('out.json', 'Lamp', { record: rememberingRecord() })
    await stopped('out.json', 'Bed', { record: rememberingRecord() }, 'finished')
    expect(JSON.parse(textOf('out.json'))).toEqual([{ name: 'Bed' }])
    expect(names()).toEqual(['out.json'])
    expect(warnings).toEqual([])
  })

  test.each(['resume', 'spool'])(
    'and is begun anew without -O puts its output aside and tells it; a run that left a %s',
    async (left) => {
      await stopped('out.json', 'Lamp', { record: rememberingRecord() })
      if (left === 'spool')
        renameSync(join(folder.path, 'out.json.resume'), join(folder.path, 'out.json.spool'))
      const next = feedOf('out.json', {}, { record: rememberingRecord(), logger })
      await next.open()
      await next.write([{ name: 'Bed' }])
      await next.close('finished')
      expect(JSON.parse(textOf('out.json'))).toEqual([{ name: 'Bed' }])
      const kept = names().filter((name) => /^out\.json\.\d/.test(name))
      expect(kept.map((name) => JSON.parse(textOf(name)))).toEqual([[{ name: 'Lamp' }]])
      expect(names().filter((name) => /resume$|spool$/.test(name))).toEqual([])
      expect(JSON.stringify(warnings[0])).toContain(`its items are in ${join(folder.path, kept[0]!)}`)
    },
  )

  test('and can be resumed is not replaced by a crawl that keeps no record, without -O', async () => {
    await stopped('out.json', 'Lamp', { record: rememberingRecord() })
    await expect(feedOf('out.json', {}, { logger }).open()).rejects.toThrow('it holds something')
    expect(names()).toEqual(['out.json', 'out.json.resume'])
  })

  test('on a cluster keeps nothing under a worker’s own name, which no later one has', async () => {
    await stopped('%(worker)s.json', 'Lamp', { record: rememberingRecord(), worker: 'one' })
    expect(names()).toEqual(['one.json'])
  })
})

describe('a second writer', () => {
  test('of two workers that replace a shared file, the second keeps what the first has written', async () => {
    writeFileSync(join(folder.path, 'out.jsonl'), '{"old":1}\n')
    const record = rememberingRecord()
    const feeds = [1, 2].map(() => feedOf('out.jsonl', { overwrite: true }, { record }))
    for (const feed of feeds) await feed.open()
    await Promise.all(feeds.map((feed, n) => feed.write([{ n }])))
    for (const feed of feeds) await feed.close('finished')
    expect(textOf('out.jsonl').split('\n').sort()).toEqual(['', '{"n":0}', '{"n":1}'])
    expect(existsSync(join(folder.path, 'out.jsonl.lock'))).toBe(false)
  })
})
