import { UsageError } from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { parseOutputArgument } from './output-argument.ts'

describe('-o and -O', () => {
  test.each([
    ['out.jsonl', { uri: 'out.jsonl' }],
    ['out.JSON', { uri: 'out.JSON' }],
    ['out.xml', { uri: 'out.xml' }],
    ['out.jsonl.gz', { uri: 'out.jsonl.gz' }],
    ['s3://bucket/a/out.csv.zst', { uri: 's3://bucket/a/out.csv.zst' }],
    ['a.b/out.jl', { uri: 'a.b/out.jl' }],
    ['out.csv:jsonl', { uri: 'out.csv', format: 'jsonl' }],
    ['out.txt:jsonlines', { uri: 'out.txt', format: 'jsonl' }],
    ['out.md', { uri: 'out.md' }],
    ['out.txt:own', { uri: 'out.txt', format: 'own' }],
    ['out:csv', { uri: 'out', format: 'csv' }],
    ['-:json', { uri: '-', format: 'json' }],
    ['stdout:csv', { uri: 'stdout:', format: 'csv' }],
    ['stdout::csv', { uri: 'stdout:', format: 'csv' }],
    ['file:///tmp/out.csv', { uri: 'file:///tmp/out.csv' }],
    ['file:///tmp/out:json', { uri: 'file:///tmp/out', format: 'json' }],
    ['%(name)s-%(time)s.jsonl', { uri: '%(name)s-%(time)s.jsonl' }],
    ['C:\\crawl\\out.csv', { uri: 'C:\\crawl\\out.csv' }],
    ['C:\\crawl\\out.txt:csv', { uri: 'C:\\crawl\\out.txt', format: 'csv' }],
    ['a:b.csv', { uri: 'a:b.csv' }],
    ['2026-11-21T12:00.jsonl', { uri: '2026-11-21T12:00.jsonl' }],
  ])('%s', (text, expected) => {
    expect(parseOutputArgument(text, true)).toEqual({ ...expected, overwrite: true })
    expect(parseOutputArgument(text, false)).toEqual({ ...expected, overwrite: false })
  })

  test.each([
    ['out.gz', 'names no format'],
    ['out', 'Write out.jsonl or out:jsonl'],
    ['.hidden', 'Write .hidden.jsonl'],
    ['folder/', 'Write folder/out.jsonl'],
    ['-', '-:jsonl'],
    ['', 'is empty'],
  ])('%j is refused, with the way out', (text, words) => {
    const refused = () => parseOutputArgument(text, false)
    expect(refused).toThrow(UsageError)
    expect(refused).toThrow(
      expect.objectContaining({ code: 'WL_USAGE', message: expect.stringContaining(words) }),
    )
  })
})
