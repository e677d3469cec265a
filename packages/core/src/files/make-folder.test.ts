import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { makeFolder } from './make-folder.ts'

const place = mkdtempSync(join(tmpdir(), 'make-folder-'))
afterAll(() => rmSync(place, { recursive: true }))

test('all that are missing are made, and one that is there stays', () => {
  makeFolder(join(place, 'a/b/c'))
  makeFolder(join(place, 'a/b/c'))
  expect(statSync(join(place, 'a/b/c')).isDirectory()).toBe(true)
})

test('a file in the way is an error', () => {
  writeFileSync(join(place, 'file'), '')
  expect(() => makeFolder(join(place, 'file'))).toThrow('EEXIST')
  expect(() => makeFolder(join(place, 'file/below'))).toThrow('ENOTDIR')
})

// With Node's own `recursive` this never returns.
test.runIf(process.platform === 'linux')('where nothing can be made, ENOENT ends it', () => {
  expect(() => makeFolder('/proc/x/y')).toThrow('ENOENT')
})
