import { spawn, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Logger, MemoryStatsCollector, Settings, silentLogger, type WebloomError } from '@webloom/core'
import { parse } from 'csv-parse/sync'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FeedsContext, feedsFrom } from './feed-options.ts'

// These have /proc and /dev/full.
const onLinux = process.platform === 'linux'

let folder: string
let said: { level: string; fields: Record<string, unknown>; message: string }[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'webloom-feeds-'))
  said = []
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const logger: Logger = { ...silentLogger, warn: saying('warn'), error: saying('error'), info: saying('info') }

function saying(level: string) {
  return (fields: object | string, message = '') =>
    void said.push({ level, fields: { ...(fields as object) }, message: message || String(fields) })
}

function feedOf(uri: string, options: object = {}, context: Partial<FeedsContext> = {}) {
  const settings = new Settings({ FEEDS: { [uri]: options } })
  const [feed] = feedsFrom(settings, {
    spiderName: 'quotes',
    startedAt: new Date(),
    cwd: folder,
    logger,
    ...context,
  })
  return feed!
}

async function run(
  uri: string,
  items: readonly unknown[],
  options: object = {},
  context: Partial<FeedsContext> = {},
) {
  const feed = feedOf(uri, options, context)
  await feed.open()
  await feed.write(items)
  await feed.close('finished')
}

function textOf(name: string): string {
  return readFileSync(join(folder, name), 'utf8')
}

/** A program that uses the feeds' sources; `body` finds `feed` open and the folder in `folder`. */
function program(uri: string, options: object, body: string): string[] {
  const source = `
    import { feedsFrom } from ${JSON.stringify(join(import.meta.dirname, 'index.ts'))}
    import { Settings } from '@webloom/core'
    import { writeSync } from 'node:fs'
    const folder = ${JSON.stringify(folder)}
    const settings = new Settings({ FEEDS: { ${JSON.stringify(uri)}: ${JSON.stringify(options)} } })
    const [feed] = feedsFrom(settings, { spiderName: 'quotes', startedAt: new Date(), cwd: folder })
    await feed.open()
    ${body}
  `
  return ['--conditions=webloom-source', '--no-warnings', '--input-type=module', '-e', source]
}

/** The program's folder decides where `@webloom/core` is found. */
const here = { cwd: import.meta.dirname }

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
      expect(said.map(({ level }) => level)).toEqual(['error', 'error', 'error'])
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
      writeFileSync(join(folder, uri), 'precious')
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
    expect(readdirSync(folder)).toEqual([])
    await feed.open()
    await feed.close('finished')
    rmSync(join(folder, 'out.jsonl'))
    await feed.close('finished')
    expect(readdirSync(folder)).toEqual([])
  })

  test('FEED_STORE_EMPTY: a crawl without items leaves an empty output, or none', async () => {
    for (const [uri, empty] of [
      ['a.jsonl', ''],
      ['a.json', '[]'],
      ['a.csv', ''],
    ] as const) {
      const feed = feedOf(uri, { store_empty: false })
      await feed.open()
      expect(existsSync(join(folder, uri))).toBe(false)
      await feed.write([])
      await feed.close('finished')
      expect(readdirSync(folder)).toEqual([])
      await run(uri, [], { store_empty: true })
      expect(textOf(uri)).toBe(empty)
      rmSync(join(folder, uri))
    }
  })

  test('kill -9 while writing: every line parses, and so it is after the next run', async () => {
    const body = `
      const text = 'x'.repeat(300_000)
      writeSync(1, 'begun')
      for (let n = 0; ; n++) await feed.write([{ n, text }, { n, text }])`
    for (let round = 0; round < 3; round++) {
      const child = spawn(process.execPath, program('out.jsonl', {}, body), {
        ...here,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const exited = new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)))
      await new Promise((resolve) => child.stdout.once('data', resolve))
      while (!existsSync(join(folder, 'out.jsonl')) || statSync(join(folder, 'out.jsonl')).size < 3_000_000)
        await new Promise((resolve) => setImmediate(resolve))
      child.kill('SIGKILL')
      expect(await exited).toBe('SIGKILL')
      await run('out.jsonl', [{ round }])
      const lines = textOf('out.jsonl')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(lines.at(-1)).toEqual({ round })
      rmSync(join(folder, 'out.jsonl'))
    }
  })
})

describe('a torn end', () => {
  test('jsonl: half an item is cut off and told, a whole one without its line end is kept', async () => {
    writeFileSync(join(folder, 'out.jsonl'), '{"a":1}\n{"a":2,"te')
    await run('out.jsonl', [{ a: 3 }])
    expect(textOf('out.jsonl')).toBe('{"a":1}\n{"a":3}\n')
    expect(said).toMatchObject([{ level: 'warn', fields: { bytes: 10, text: '{"a":2,"te' } }])

    writeFileSync(join(folder, 'out.jsonl'), '{"a":1}')
    await run('out.jsonl', [{ a: 3 }])
    expect(textOf('out.jsonl')).toBe('{"a":1}\n{"a":3}\n')
  })

  test('jsonl: an end longer than a piece of reading', async () => {
    const long = 'y'.repeat(2_500_000)
    writeFileSync(join(folder, 'out.jsonl'), `{"a":1}\n{"a":"${long}`)
    await run('out.jsonl', [{ a: 3 }])
    expect(textOf('out.jsonl')).toBe('{"a":1}\n{"a":3}\n')
    expect(String(said[0]?.fields.text).length).toBe(500)
  })

  test('a text file that is no JSON keeps its last line', async () => {
    writeFileSync(join(folder, 'notes.txt'), 'dear diary\nno line end')
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
    ['a quote that is no quoting', 'a,b\n5" nail,1\n', 'a,b\n5" nail,1\n'],
    ['a byte order mark', '\ufeff"a",b\n1,2', '\ufeff"a",b\n1,2\r\n'],
  ])('csv: %s', async (_, before, kept) => {
    writeFileSync(join(folder, 'out.csv'), before)
    await run('out.csv', [{ b: 8, a: 7 }])
    expect(textOf('out.csv')).toBe(`${kept}7,8\r\n`)
    expect(said.length).toBe(kept.startsWith(before) ? 0 : 1)
  })

  test.runIf(onLinux)('a disk that is full in the middle of a batch leaves whole lines', () => {
    const body = `
      const text = 'x'.repeat(3000)
      for (let n = 0; n < 100; n++) await feed.write([{ n, text }]).catch((error) => {
        writeSync(1, error.code + ' ' + error.message)
        process.exit(3)
      })`
    const script = `ulimit -f 100; exec "$0" "$@"`
    const child = spawnSync('bash', ['-c', script, process.execPath, ...program('out.jsonl', {}, body)], here)
    expect(child.stderr.toString()).toBe('')
    expect(child.stdout.toString()).toContain(
      'WL_OUTPUT_FAILED Writing out.jsonl failed: the file is as big as files may be',
    )
    const lines = textOf('out.jsonl').split('\n')
    expect(lines.pop()).toBe('')
    expect(lines.length).toBeGreaterThan(10)
    for (const line of lines) JSON.parse(line)
  })
})

describe('csv', () => {
  test('the first item gives the header; lists are joined, objects are JSON, nothing is empty', async () => {
    await run('out.csv', [
      {
        name: 'a "b", c',
        tags: ['x', 'y', 3, null, { z: 1 }],
        deep: { k: [1] },
        none: null,
        gone: undefined,
      },
      { none: true, name: 'two\nlines', tags: [], when: new Date(0), deep: 12n },
    ])
    expect(textOf('out.csv')).toBe(
      'name,tags,deep,none,gone\r\n"a ""b"", c","x,y,3,,{""z"":1}","{""k"":[1]}",,\r\n"two\nlines",,12,true,\r\n',
    )
  })

  test('fields that came too late for a column are told once and counted', async () => {
    await run('out.csv', [{ a: 1 }, { a: 2, late: 1 }, { late: 2, later: 3 }])
    expect(textOf('out.csv')).toBe('a\r\n1\r\n2\r\n""\r\n')
    expect(said).toMatchObject([
      { level: 'warn', fields: { fields: ['late'] } },
      { level: 'info', fields: { items: { late: 2, later: 1 } } },
    ])
  })

  test('fields that FEED_EXPORT_FIELDS does not name are left out without a word', async () => {
    await run('out.csv', [{ a: 1, b: 2 }], { fields: ['a'] })
    expect(said).toEqual([])
  })

  test('appending keeps the header of the file, whatever the order of the fields', async () => {
    writeFileSync(join(folder, 'out.csv'), 'b,"a\nx",c\r\n1,2,3\r\n')
    await run('out.csv', [{ 'a\nx': 'A', b: 'B', d: 'D' }])
    expect(textOf('out.csv')).toBe('b,"a\nx",c\r\n1,2,3\r\nB,A,\r\n')
    expect(said[0]).toMatchObject({ level: 'warn', fields: { fields: ['d'] } })
  })

  test('appending with other names for the fields fills the columns of these names', async () => {
    writeFileSync(join(folder, 'out.csv'), 'B,A\r\n')
    await run('out.csv', [{ a: 1, b: 2, c: 3, d: 4 }], { fields: { a: 'A', b: 'B', c: 'C' } })
    expect(textOf('out.csv')).toBe('B,A\r\n2,1\r\n')
    expect(said[0]).toMatchObject({ fields: { fields: ['c'] } })
  })

  test('what is written is read back the same', async () => {
    const rows = ['', ' x ', '"', '""', ',', '\n', '\r', '\r\n', 'ü€😀', '\0', "'=1+1"].map((a, b) => ({
      a,
      b: String(b),
    }))
    await run('out.csv', rows)
    expect(parse(textOf('out.csv'), { columns: true })).toEqual(rows)
  })

  test('a file without a header is refused', async () => {
    writeFileSync(join(folder, 'out.csv'), '\r\n\r\n')
    await expect(feedOf('out.csv').open()).rejects.toThrow('its first line is no CSV header')
  })
})

describe('json', () => {
  test('one array, and no spool left beside it', async () => {
    const items = [{ a: 'ü\n' }, { b: [1, { c: null }] }]
    await run('deep/er/out.json', items)
    expect(JSON.parse(textOf('deep/er/out.json'))).toEqual(items)
    expect(readdirSync(join(folder, 'deep/er'))).toEqual(['out.json'])
  })

  test('while the crawl runs the items are in the spool, and the old array is still there', async () => {
    writeFileSync(join(folder, 'out.json'), '["old"]', { mode: 0o640 })
    const feed = feedOf('out.json', { overwrite: true })
    await feed.open()
    await feed.write([{ a: 1 }])
    expect(textOf('out.json.spool')).toBe('{"a":1}\n')
    expect(textOf('out.json')).toBe('["old"]')
    await feed.close('finished')
    expect(JSON.parse(textOf('out.json'))).toEqual([{ a: 1 }])
    expect(statSync(join(folder, 'out.json')).mode & 0o777).toBe(0o640)
  })

  test('a symbolic link stays one', async () => {
    writeFileSync(join(folder, 'real.json'), '')
    symlinkSync('real.json', join(folder, 'out.json'))
    await run('out.json', [{ a: 1 }])
    expect(JSON.parse(textOf('real.json'))).toEqual([{ a: 1 }])
  })

  test('appending to an array is refused, and the way out named; an empty file will do', async () => {
    writeFileSync(join(folder, 'out.json'), '[{"a":1}]')
    await expect(feedOf('out.json').open()).rejects.toMatchObject({
      code: 'WL_OUTPUT_UNWRITABLE',
      message: expect.stringMatching(/cannot be appended to; use -O .* or \.jsonl/),
    })
    expect(textOf('out.json')).toBe('[{"a":1}]')
    writeFileSync(join(folder, 'out.json'), '')
    await run('out.json', [{ a: 2 }])
    expect(JSON.parse(textOf('out.json'))).toEqual([{ a: 2 }])
  })

  test('the spool of a killed run is told and kept, run after run', async () => {
    for (const count of [1, 2]) {
      writeFileSync(join(folder, 'out.json.spool'), `{"earlier":${count}}\n`)
      await run('out.json', [{ a: count }], { overwrite: true })
    }
    const kept = readdirSync(folder).filter((name) => name.startsWith('out.json.spool.'))
    expect(kept.map(textOf).sort()).toEqual(['{"earlier":1}\n', '{"earlier":2}\n'])
    expect(said.map(({ message }) => message)).toEqual(
      expect.arrayContaining(
        kept.map((name) => expect.stringContaining(`${join(folder, name)}, one a line`)),
      ),
    )
    expect(JSON.parse(textOf('out.json'))).toEqual([{ a: 2 }])
  })

  test('an array that cannot be made at the end: the items stay in the spool, and the message says so', async () => {
    const stats = new MemoryStatsCollector()
    const feed = feedOf('out.json', {}, { stats })
    await feed.open()
    await feed.write([{ a: 1 }])
    mkdirSync(join(folder, 'out.json'))
    await expect(feed.close('finished')).rejects.toMatchObject({
      code: 'WL_OUTPUT_FAILED',
      message: expect.stringContaining(`The items are in ${join(folder, 'out.json.spool')}, one a line`),
    })
    expect(textOf('out.json.spool')).toBe('{"a":1}\n')
    expect(readdirSync(folder).sort()).toEqual(['out.json', 'out.json.spool'])
    expect(stats.get('feedexport/failed_count/FileFeedStorage')).toBe(1)
  })

  test('200 000 items of 1 kB in an array, by a process that has 40 MB for objects', () => {
    const body = `
      const text = 'x'.repeat(1000)
      for (let page = 0; page < 2000; page++)
        await feed.write(Array.from({ length: 100 }, (_, index) => ({ id: page * 100 + index, text })))
      const before = process.resourceUsage().maxRSS
      await feed.close()
      writeSync(1, String((process.resourceUsage().maxRSS - before) / 1024))`
    const args = ['--max-old-space-size=40', ...program('out.json', { indent: 1 }, body)]
    const child = spawnSync(process.execPath, args, here)
    expect(child.stderr.toString()).toBe('')
    // The array is 200 MB; its making needs a few pieces of 1 MiB, and what the collector has not returned yet.
    expect(Number(child.stdout.toString())).toBeLessThan(140)
    const items: { id: number }[] = JSON.parse(textOf('out.json'))
    expect(items.length).toBe(200_000)
    expect(items.every(({ id }, index) => id === index)).toBe(true)
  })
})

describe('an output that cannot be written', () => {
  const unwritableEvenForRoot: [string, string][] = [
    ['/proc/out', 'nothing can be created in that folder'],
    // mkdir's own `recursive` never comes back from this one.
    ['/proc/deep/out', 'nothing can be created in that folder'],
  ]

  test.each(['jsonl', 'json', 'csv'])(
    '%s: refused at open, with the cause in words and the way out',
    async (format) => {
      mkdirSync(join(folder, 'folder'))
      writeFileSync(join(folder, 'file'), 'x')
      symlinkSync('circle', join(folder, 'circle'))
      const refusals: [string, string][] = [
        ['folder', 'it is a folder. Name a file in it'],
        ['file/out', `the file ${join(folder, 'file')} stands where a folder is needed. Choose another path`],
        ['file/deep/out', `the file ${join(folder, 'file')} stands where a folder is needed`],
        ...(onLinux ? unwritableEvenForRoot : []),
        ['circle', 'its symbolic links lead in a circle'],
        ['n'.repeat(300), 'its name is too long'],
      ]
      for (const [uri, words] of refusals) {
        const error = await feedOf(uri, { format })
          .open()
          .then(
            () => undefined,
            (error: WebloomError) => error,
          )
        expect(error, uri).toMatchObject({
          code: 'WL_OUTPUT_UNWRITABLE',
          message: expect.stringContaining(words),
        })
        expect(error?.message).toContain(uri)
        expect(error?.cause).toBeInstanceOf(Error)
      }
      expect(readdirSync(folder).sort()).toEqual(['circle', 'file', 'folder'])
    },
  )

  test.runIf(onLinux)('a full disk: write() fails, stays failed, and closing is quiet', async () => {
    const stats = new MemoryStatsCollector()
    const feed = feedOf('/dev/full', { format: 'jsonl' }, { stats })
    await feed.open()
    const failure = {
      code: 'WL_OUTPUT_FAILED',
      message:
        'Writing /dev/full failed: the disk is full. What was written before stays. Make room, or choose a path on another disk.',
    }
    const results = await Promise.allSettled([feed.write([{ a: 1 }]), feed.write([{ a: 2 }])])
    expect(results).toMatchObject([{ reason: failure }, { reason: failure }])
    await expect(feed.write([{ a: 3 }])).rejects.toMatchObject(failure)
    await feed.close('finished')
    expect(stats.snapshot()).toEqual({ 'feedexport/failed_count/FileFeedStorage': 1 })
  })

  test('a device takes lines but no array', async () => {
    await run('/dev/null', [{ a: 1 }], { format: 'jsonl' })
    await run('/dev/null', [{ a: 1 }], { format: 'csv', overwrite: true })
    await expect(feedOf('/dev/null', { format: 'json' }).open()).rejects.toThrow('use the format jsonl')
    expect(existsSync('/dev/null.spool')).toBe(false)
  })

  test('two processes that append to one file: whole lines of both', async () => {
    const body = `
      const text = 'x'.repeat(20_000)
      for (let n = 0; n < 200; n++) await feed.write([{ pid: process.pid, n, text }])
      await feed.close()`
    const exits = [1, 2].map(() => {
      const child = spawn(process.execPath, program('out.jsonl', {}, body), { ...here, stdio: 'inherit' })
      return new Promise((resolve) => child.once('exit', resolve))
    })
    expect(await Promise.all(exits)).toEqual([0, 0])
    const lines = textOf('out.jsonl')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.length).toBe(400)
  })

  test('a torn end in a file that grows is left to who writes it', async () => {
    const { cutRest } = await import('./formats/file-end.ts')
    const { open } = await import('node:fs/promises')
    const path = join(folder, 'out.jsonl')
    writeFileSync(path, '{"a"')
    await using file = await open(path, 'a+')
    appendFileSync(path, ':1}\n')
    await cutRest(file, 4, 0, '{"a"', { uri: 'out.jsonl', logger, lost() {} })
    expect(textOf('out.jsonl')).toBe('{"a":1}\n')
    expect(said).toMatchObject([{ level: 'warn' }])
  })
})
