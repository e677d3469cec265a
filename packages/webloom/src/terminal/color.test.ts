import { expect, test } from 'vitest'
import { colorWanted, painter } from './color.ts'

test.each([
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: '1' }, false],
  [true, { NO_COLOR: '' }, true],
  [false, { FORCE_COLOR: '1' }, true],
  [false, { FORCE_COLOR: '' }, true],
  [true, { FORCE_COLOR: '0' }, false],
  [false, { FORCE_COLOR: '3', NO_COLOR: '1' }, true],
  [true, { TERM: 'dumb' }, false],
])('terminal %s with %j: %s', (isTty, env, wanted) => expect(colorWanted(isTty, env)).toBe(wanted))

test('paints only when wanted', () => {
  expect(painter(true)('red', 'a')).toBe('\u001b[31ma\u001b[39m')
  expect(painter(false)('red', 'a')).toBe('a')
})
