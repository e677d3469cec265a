import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { silentLogger } from '@webloom/core'
import { IN_FULL } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { CsvFormat } from './formats/csv-format.ts'
import { JsonArrayFormat, JsonLinesFormat } from './formats/json-format.ts'

const here = { cwd: import.meta.dirname }

/** A program that writes to standard output; `body` finds `feed` open. */
function program(format: string, options: object, body: string): string[] {
  const source = `
    import { feedsFrom } from ${JSON.stringify(join(import.meta.dirname, 'index.ts'))}
    import { MemoryStatsCollector, Settings } from '@webloom/core'
    import { writeSync } from 'node:fs'
    const stats = new MemoryStatsCollector()
    const settings = new Settings({ FEEDS: { '-': ${JSON.stringify({ format, ...options })} } })
    const [feed] = feedsFrom(settings, { spiderName: 'quotes', startedAt: new Date(), stats })
    await feed.open()
    ${body}
  `
  return ['--conditions=webloom-source', '--no-warnings', '--input-type=module', '-e', source]
}

describe('standard output', () => {
  const piped: [string, object, string][] = [
    ['jsonl', {}, '{"a":"\u009b"}\n{"b":2}\n'],
    ['json', {}, '[\n{"a":"\u009b"},\n{"b":2}\n]\n'],
    ['json', { indent: 2 }, `${JSON.stringify([{ a: '\u009b' }, { b: 2 }], null, 2)}\n`],
    ['csv', { fields: ['a', 'b'] }, 'a,b\r\n\u009b,\r\n,2\r\n'],
  ]
  // Each is a process.
  test.each(IN_FULL ? piped : piped.slice(2, 3))(
    '%s %j in a pipe is what a file would hold, and the stream stays open',
    (format, options, expected) => {
      const body = `
      await feed.write([{ a: '\\u009b' }])
      await feed.write([{ b: 2 }])
      await feed.close()
      process.stdout.write('after')
      writeSync(2, JSON.stringify(stats.snapshot()))`
      const { stdout, stderr } = spawnSync(process.execPath, program(format, options, body), here)
      expect(stdout.toString()).toBe(`${expected}after`)
      expect(stderr.toString()).toBe(
        '{"feedexport/success_count/StdoutFeedStorage":1,"feedexport/written_count":2}',
      )
    },
  )

  test('a crawl without items prints an empty array, or nothing when FEED_STORE_EMPTY is off', () => {
    const printed = (options: object) =>
      spawnSync(process.execPath, program('json', options, 'await feed.close()'), here).stdout.toString()
    expect(printed({})).toBe('[]\n')
    expect(printed({ store_empty: false })).toBe('')
  })

  test('`| head -1`: a calm message instead of a stack trace', () => {
    const body = `
      const text = 'x'.repeat(1000)
      try {
        for (let n = 0; n < 100_000; n++) await feed.write([{ n, text }])
      } catch (error) {
        writeSync(2, error.code + ' ' + error.message)
      }
      await feed.close()
      writeSync(2, JSON.stringify(stats.snapshot()))`
    const script = '"$0" "$@" | head -1 | cut -c1-8'
    const { stdout, stderr } = spawnSync(
      'bash',
      ['-c', script, process.execPath, ...program('jsonl', {}, body)],
      here,
    )
    expect(stdout.toString()).toBe('{"n":0,"\n')
    const [, told, stats] = /^(.*?)(\{.*)$/.exec(stderr.toString())!
    expect(told).toBe(
      'WL_OUTPUT_FAILED Writing to standard output failed: its reader has closed it, as "| head" does. ' +
        'What was written before stays. Nothing is wrong if that was wanted.',
    )
    expect(JSON.parse(stats!)).toEqual({
      'feedexport/failed_count/StdoutFeedStorage': 1,
      'feedexport/written_count': expect.any(Number),
    })
  })

  test.runIf(process.platform === 'linux')('a full disk behind `>`', () => {
    const body = `await feed.write([{ a: 1 }]).catch((error) => writeSync(2, error.code))`
    const args = ['-c', '"$0" "$@" > /dev/full', process.execPath, ...program('jsonl', {}, body)]
    expect(spawnSync('bash', args, here).stderr.toString()).toBe('WL_OUTPUT_FAILED')
  })
})

describe('on a terminal', () => {
  const reports = { uri: '-', logger: silentLogger, lost() {} }
  const hostile = { 'k\u0085': '\x1b[2Jred\u009b31m\x7f\r\nline\t"' }

  test('JSON says the same without a control character', () => {
    for (const format of [
      new JsonLinesFormat({ reports, forTerminal: true }),
      new JsonArrayFormat({ reports, forTerminal: true, indent: 2 }),
    ]) {
      const text = format.text([hostile]) + format.end()
      expect(text).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f]/)
      expect([JSON.parse(text)].flat()).toEqual([hostile])
    }
  })

  test('CSV shows them as \\xNN, in the header too', () => {
    const text = new CsvFormat({ reports, forTerminal: true }).text([hostile])
    expect(text).toBe('k\\x85\r\n"\\x1b[2Jred\\x9b31m\\x7f\\x0d\nline\t"""\r\n')
  })
})
