/** What another file system or another machine would stumble over. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { OF_ANOTHER_PACKAGE } from '../../scripts/bundle.ts'
import { publicPackages } from '../../scripts/release/public-packages.ts'
import { staleOutputs } from '../../scripts/stale-outputs.ts'
import { type LockEntry, lockEntries, placeOf } from './lock.ts'

const ROOT = join(import.meta.dirname, '../..')
const TRACKED = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 })
  .split('\0')
  .filter((path) => path !== '')

const entries = lockEntries(ROOT)

test('no two files differ by case alone, which macOS and Windows take for one', () => {
  const names = TRACKED.map((path) => path.toLowerCase())
  expect(names.filter((path, at) => names.indexOf(path) !== at)).toEqual([])
})

test('the build takes no file for another package, on Windows neither', () => {
  const ids = ['node:fs', 'undici', '@webloom/core', './a.ts', '/home/a/b.ts', 'D:\\a\\b.ts', 'd:/a/b.ts']
  expect(ids.filter((id) => OF_ANOTHER_PACKAGE.test(id))).toEqual(['node:fs', 'undici', '@webloom/core'])
})

test('every file has a name that Windows allows, of a length that it allows', () => {
  const refused = /[<>:"|?*\\]|[. ](\/|$)|(^|\/)(con|prn|aux|nul|com\d|lpt\d)(\.|\/|$)/i
  expect(TRACKED.filter((path) => refused.test(path) || path.length > 160)).toEqual([])
})

test('every workspace is linked in the lock, with what its package.json asks for', () => {
  for (const { name, folder, manifest } of publicPackages(ROOT)) {
    expect(placeOf(entries, '', name), name).toBe(folder)
    const { dependencies = {}, version } = entries[folder]!
    expect({ dependencies, version }, `${name}: run npm install`).toEqual({
      dependencies: manifest.dependencies ?? {},
      version: manifest.version,
    })
  }
})

test('every native part has an entry in the lock for each platform it is made for', () => {
  const missing = Object.entries(entries).flatMap(
    ([place, { optionalDependencies = {} }]: [string, LockEntry]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !placeOf(entries, place, name))
        .map((name) => `${place} wants ${name}, and npm ci goes without: take a release that has all parts`),
  )
  expect(missing).toEqual([])
  const platforms = new Set(Object.values(entries).flatMap(({ os = [] }) => os))
  expect([...platforms]).toEqual(expect.arrayContaining(['linux', 'darwin', 'win32']))
})

test('the lock names no registry', () => {
  const named = Object.entries(entries).filter(([, { resolved, link }]) => resolved !== undefined && !link)
  expect(named).toEqual([])
})

test('the declarations of a source that is gone are found', async () => {
  await using folder = await tempDir()
  const write = (path: string) => {
    mkdirSync(folder.join(path, '..'), { recursive: true })
    writeFileSync(folder.join(path), '')
  }
  const kept = [
    'packages/core/src/a/kept.ts',
    'packages/core/dist/index.js',
    'packages/core/dist/a/kept.d.ts.map',
  ]
  const gone = [
    'packages/core/dist/a/gone.d.ts',
    'packages/core/dist/a/gone.d.ts.map',
    'packages/core/dist/kept.d.ts',
  ]
  for (const path of [...kept, 'packages/core/dist/data.json', ...gone]) write(path)
  expect(staleOutputs(folder.path)).toEqual(gone)
})
