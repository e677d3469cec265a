import type { RunSeen } from '@webloom/core'
import { expect, test } from 'vitest'
import { comparedLines, runLines } from './run-lines.ts'

const RUN: RunSeen = {
  ...{ run: 'r', state: 'finished', finishReason: 'finished' },
  ...{ begunAt: '2026-11-27T00:00:00.000Z', endedAt: '2026-11-27T00:01:00.000Z' },
  ...{ requests: 10, pages: 10, items: 10, errors: 0, givenUp: 0, filtered: 0, bytes: 100 },
  ...{ statuses: { 200: 10 }, fields: { title: 10 } },
}
const WELL: RunSeen = { ...RUN, fields: { title: 10, price: 10 } }

test('a field that is gone is compared in each run that lacks it, and so is one that a monitor names', () => {
  const alerts = [{ id: 'coverage/seller.name', words: '', at: '' }]
  const lines = comparedLines([{ ...RUN, alerts }, RUN, WELL])
  expect(lines.filter((line) => line.startsWith('field '))).toEqual([
    expect.stringMatching(/^field price +0\.0 % +0\.0 %$/),
    expect.stringMatching(/^field seller\.name +0\.0 % +0\.0 %$/),
    expect.stringMatching(/^field title +100\.0 % +100\.0 %$/),
  ])
})

test('a field that is called as what each object inherits is counted as any other', () => {
  const lines = comparedLines([RUN, { ...RUN, fields: { constructor: 5 } as unknown as RunSeen['fields'] }])
  expect(lines).toContainEqual(expect.stringMatching(/^field constructor +50\.0 % +0\.0 %$/))
})

test('a field whose name has control characters stands in its column', () => {
  const odd = { ...RUN, fields: { 'a\x1b[31m': 10, title: 10 } as RunSeen['fields'] }
  const lines = comparedLines([odd, odd]).filter((line) => line.startsWith('field '))
  expect(new Set(lines.map((line) => line.length)).size).toBe(1)
  expect(lines[0]).toMatch(/^field a\\x1b\[31m +100/)
})

test('a run that goes on is not compared with the one before: what it has not fetched yet is not missing', () => {
  const { endedAt: _, finishReason: __, ...ended } = RUN
  const running: RunSeen = { ...ended, state: 'running', pages: 5 }
  expect(comparedLines([running, WELL]).join('\n')).not.toMatch(/[−±+]\d/)
  const [now, before] = runLines({ runs: [running, WELL, RUN], crawl: 'crawl "a"', place: '' })
  expect(now).toMatch(/pages 5 +items 10 +errors/)
  expect(before).toContain('pages 10 (±0 %)')
})

test('a run that comes back to known pages is not compared in the list: a quiet day is no rot', () => {
  const quiet: RunSeen = { ...RUN, pages: 0, items: 0, itemPages: 0 }
  const [next, now] = runLines({ runs: [RUN, quiet, WELL], crawl: 'crawl "a"', place: '' })
  expect(now).toMatch(/pages 0 +items 0 +errors/)
  expect(next).toMatch(/pages 10 +items 10 +errors/)
})
