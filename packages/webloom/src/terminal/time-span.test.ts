import { expect, test } from 'vitest'
import { spanMs } from './time-span.ts'

test.each([
  ['10', 10_000],
  ['2.5', 2500],
  ['500ms', 500],
  ['90s', 90_000],
  ['10m', 600_000],
  ['10 min', 600_000],
  ['2h', 7_200_000],
  ['1d', 86_400_000],
  ['0', 0],
])('%s', (text, ms) => {
  expect(spanMs(text, '--pause')).toBe(ms)
})

test.each(['', '-1', 'ten', '10x', '1e3', '10m 5s'])('%j is refused with what to write', (text) => {
  expect(() => spanMs(text, '--pause')).toThrow(
    /^--pause ".*" is not a span of time; write seconds, or 500ms, /,
  )
})
