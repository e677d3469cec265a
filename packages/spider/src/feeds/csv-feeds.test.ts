import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { feedsOfFile } from '../../testing/feeds-of-file.ts'

const feeds = feedsOfFile()
const { feedOf, run, textOf } = feeds

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
    expect(feeds.said).toMatchObject([
      { level: 'warn', fields: { fields: ['late'] } },
      { level: 'info', fields: { items: { late: 2, later: 1 } } },
    ])
  })

  test('fields that FEED_EXPORT_FIELDS does not name are left out without a word', async () => {
    await run('out.csv', [{ a: 1, b: 2 }], { fields: ['a'] })
    expect(feeds.said).toEqual([])
  })

  test('appending keeps the header of the file, whatever the order of the fields', async () => {
    writeFileSync(join(feeds.folder, 'out.csv'), 'b,"a\nx",c\r\n1,2,3\r\n')
    await run('out.csv', [{ 'a\nx': 'A', b: 'B', d: 'D' }])
    expect(textOf('out.csv')).toBe('b,"a\nx",c\r\n1,2,3\r\nB,A,\r\n')
    expect(feeds.said[0]).toMatchObject({ level: 'warn', fields: { fields: ['d'] } })
  })

  test('appending with other names for the fields fills the columns of these names', async () => {
    writeFileSync(join(feeds.folder, 'out.csv'), 'B,A\r\n')
    await run('out.csv', [{ a: 1, b: 2, c: 3, d: 4 }], { fields: { a: 'A', b: 'B', c: 'C' } })
    expect(textOf('out.csv')).toBe('B,A\r\n2,1\r\n')
    expect(feeds.said[0]).toMatchObject({ fields: { fields: ['c'] } })
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
    writeFileSync(join(feeds.folder, 'out.csv'), '\r\n\r\n')
    await expect(feedOf('out.csv').open()).rejects.toThrow('its first line is not CSV header')
  })
})
