import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { strippedOnce } from './stripped-cache.ts'

let folder = ''
let path = ''
let stripped = 0

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'webloom-stripped-'))
  mkdirSync(join(folder, 'node_modules'))
  mkdirSync(join(folder, 'spiders'))
  path = join(folder, 'spiders', 'quotes.ts')
  stripped = 0
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

function ask(source: string): string {
  return strippedOnce(path, source, () => {
    stripped++
    return source.replace(': number', '        ')
  })
}

const CACHE = ['node_modules', '.cache', 'webloom']
const TEXT = 'const a: number = 1\nconst b = 2\n'
const WITHOUT_TYPES = 'const a         = 1\nconst b = 2\n'

test('a text is stripped once, and again when the file has changed', () => {
  expect([ask(TEXT), ask(TEXT), stripped]).toEqual([WITHOUT_TYPES, WITHOUT_TYPES, 1])
  expect([ask('const c = 3'), ask('const c = 3'), stripped]).toEqual(['const c = 3', 'const c = 3', 2])
  expect([ask(TEXT), stripped]).toEqual([WITHOUT_TYPES, 3])
  // One entry a file, whatever was written into it, and nothing that was begun.
  expect(readdirSync(join(folder, ...CACHE))).toHaveLength(1)
})

test('an entry that is cut off is not used', () => {
  ask(TEXT)
  const [entry] = readdirSync(join(folder, ...CACHE))
  const kept = join(folder, ...CACHE, entry!)
  const whole = readFileSync(kept, 'utf8')
  writeFileSync(kept, whole.slice(0, 20))
  expect([ask(TEXT), stripped]).toEqual([WITHOUT_TYPES, 2])
  expect(readFileSync(kept, 'utf8')).toBe(whole)
})

test('what is wrong with a file is told each time', () => {
  const failing = () =>
    strippedOnce(path, 'enum', () => {
      throw new Error('an enum')
    })
  expect(failing).toThrow('an enum')
  expect(failing).toThrow('an enum')
})

test.each([
  ['no node_modules', () => rmSync(join(folder, 'node_modules'), { recursive: true })],
  ['one that cannot be written to', () => writeFileSync(join(folder, 'node_modules', '.cache'), '')],
])('with %s a file is stripped each time', (_, make) => {
  make()
  expect([ask(TEXT), ask(TEXT), stripped]).toEqual([WITHOUT_TYPES, WITHOUT_TYPES, 2])
})
