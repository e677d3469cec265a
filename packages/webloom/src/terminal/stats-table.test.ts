import { describe, expect, test } from 'vitest'
import { byteSize, duration, durationInWords, grouped } from './figures.ts'
import { statsTable } from './stats-table.ts'

const STATS = {
  'downloader/request_bytes': 1_234_567,
  'downloader/request_count': 1234,
  'downloader/response_bytes': 512,
  elapsed_time_seconds: 83.2149,
  finish_reason: 'finished',
  item_scraped_count: 20,
  'log_count/ERROR': 3,
  'memusage/max': 104_857_600,
}

describe('the table', () => {
  test('has whole keys in groups, numbers below numbers, and says what bytes and seconds are', () => {
    expect(statsTable(STATS)).toBe(`  elapsed_time_seconds            83.215  (1 min 23 s)
  finish_reason              finished
  item_scraped_count                  20

  downloader/request_bytes     1,234,567  (1.2 MiB)
  downloader/request_count         1,234
  downloader/response_bytes          512

  log_count/ERROR                      3

  memusage/max               104,857,600  (100.0 MiB)
`)
  })

  test.each([40, 60, 80, 200])('fits %i columns', (columns) => {
    const key = 'downloader/exception_type_count/DownloadConnectionRefusedError'
    const lines = statsTable({ ...STATS, [key]: 7 }, { columns }).split('\n')
    const rows = lines.filter((line) => !line.includes('DownloadConnection'))
    expect(Math.max(...rows.map((line) => line.length))).toBeLessThan(columns)
    expect(lines.join('\n')).toContain(key)
  })

  test('no control character comes through', () => {
    const text = statsTable({ 'item_dropped_reasons_count/\u001b[2J\n': 1, finish_reason: '\u009bx' })
    expect(text).toContain('\\x1b[2J\\n')
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
  })

  test('of no stats is empty', () => expect(statsTable({})).toBe(''))

  test('marks what went wrong when it may use colours', () => {
    expect(statsTable(STATS, { color: true })).toContain('\u001b[31mlog_count/ERROR')
    expect(statsTable({ 'log_count/ERROR': 0 }, { color: true })).not.toContain('\u001b[31m')
  })
})

test.each([
  [0, '0'],
  [1234567.8912, '1,234,567.891'],
  [-1000, '-1,000'],
])('grouped(%d)', (value, text) => expect(grouped(value)).toBe(text))

test.each([
  [0, '0 B'],
  [1023, '1,023 B'],
  [1024, '1.0 KiB'],
  [1024 ** 2 - 1, '1.0 MiB'],
  [1536 * 1024 ** 2, '1.5 GiB'],
])('byteSize(%d)', (bytes, text) => expect(byteSize(bytes)).toBe(text))

test.each([
  [0, '00:00'],
  [61_999, '01:01'],
  [3_725_000, '1:02:05'],
  [100 * 3_600_000, '100:00:00'],
])('duration(%d)', (milliseconds, text) => expect(duration(milliseconds)).toBe(text))

test.each([
  [0.04, '0 s'],
  [5.44, '5.4 s'],
  [59.96, '60 s'],
  [60, '1 min'],
  [3725.4, '1 h 2 min 5 s'],
  [90_000, '1 d 1 h'],
])('durationInWords(%d)', (seconds, text) => expect(durationInWords(seconds)).toBe(text))
