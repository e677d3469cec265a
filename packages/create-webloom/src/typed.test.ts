import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { typed } from './typed.ts'

test.each([
  ['my-crawler'],
  ['a b/c'],
  ["Anna's/c"],
  ['$(touch x)/`y`/c'],
  ['line\nfeed/c'],
  ['-n/c'],
  ['~/c'],
  ['ü/c'],
])('a shell has %j as it is', (path) => {
  const read = execFileSync('sh', ['-c', `printf %s ${typed(path, 'linux')}`], { encoding: 'utf8' })
  expect(read).toBe(path.startsWith('-') ? `./${path}` : path)
})

test('what needs no quotes has none; on Windows they are double ones', () => {
  expect([typed('../my-crawler', 'linux'), typed('deep\\my-crawler', 'win32')]).toEqual([
    '../my-crawler',
    'deep\\my-crawler',
  ])
  expect(typed('a b\\c', 'win32')).toBe('"a b\\c"')
})
