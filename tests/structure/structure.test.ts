import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { outdatedCommands } from '../../scripts/command-docs.ts'
import { outdatedFiles } from '../../scripts/settings-docs.ts'
import { circleProblems, folderCircleProblems } from './checks/circles.ts'
import { docstringProblems } from './checks/docstrings.ts'
import { importProblems } from './checks/imports.ts'
import { mergeMarkerProblems } from './checks/merge-markers.ts'
import { unseenFiles } from './files/source-files.ts'
import { errorCodeProblems, metaKeyProblems, redisKeyProblems, settingProblems } from './pages/documented.ts'
import { linkProblems } from './pages/links.ts'

const ROOT = join(import.meta.dirname, '../..')
const fixture = (name: string) => join(import.meta.dirname, 'fixtures', name)

/** What READMEs and guides import from. */
const IMPORTED = [
  ...['webloom/index', 'webloom/ports', 'webloom/testing'],
  ...['browser/index', 'selectors/index', 'url/index'],
]

describe('this repository', () => {
  test.each([
    [
      'no sibling imports a sibling, core and selectors import url alone, url and testkit none of ours',
      importProblems,
    ],
    ['no file is imported by what it imports, types included', (root: string) => circleProblems(root)],
    ['no folder imports what imports it, types included', folderCircleProblems],
    ['docs/settings.md lists the settings, no more and no less', settingProblems],
    ['docs/errors.md lists the error codes, no more and no less', errorCodeProblems],
    ['docs/meta.md lists the keys of meta, no more and no less', metaKeyProblems],
    ['docs/settings.md and the type SettingsInput are what the settings table makes', outdatedFiles],
    ['docs/reference/commands.md is what the command line makes', outdatedCommands],
    ['docs/redis-keys.md lists the Redis keys, no more and no less', redisKeyProblems],
    ['every link and path in a page points at something, a heading where it names one', linkProblems],
    ['no tracked file has a merge marker', mergeMarkerProblems],
    [
      'every export of packages that people import from has a docstring, and so have its members',
      (root: string) => docstringProblems(root, IMPORTED),
    ],
  ])('%s', (_, check) => {
    expect(check(ROOT)).toEqual([])
    expect(unseenFiles(ROOT)).toEqual([])
  })
})

describe('each check can fail', () => {
  test('on a sibling that imports a sibling, a core that imports one of ours, and a path out of a package', () => {
    expect(importProblems(fixture('imports'))).toEqual([
      'packages/core/src/index.ts imports @webloom/queue; core may import @webloom/url',
      'packages/queue/src/index.ts imports @webloom/dupefilter; queue may import @webloom/core',
      'packages/queue/src/outside.ts imports ../../dupefilter/src/index.ts, which is outside its package',
    ])
  })
  test('on files that import one another, by types and in a row', () => {
    const circle = ['lease.ts', 'turns/line.ts', 'turns/turn.tsx'].map((file) => `packages/queue/src/${file}`)
    expect(circleProblems(fixture('circles'))).toEqual([
      `packages/queue has a circle of imports: ${circle.join(', ')}`,
    ])
  })
  test('on folders that import one another; a folder within one is a part of it', () => {
    expect(folderCircleProblems(fixture('folder-circles'))).toEqual([
      'packages/queue/src has a circle of folders: leasing, turns (leasing/lease.ts imports turns/turn.ts; turns/line.ts imports leasing/dispatcher.ts)',
    ])
  })
  test('on a setting that is missing from the docs, and one that only they have', () => {
    expect(settingProblems(fixture('documented'))).toEqual([
      'setting DOWNLOAD_DELAY is missing from docs/settings.md',
      'docs/settings.md has setting DOWNLOAD_DELEY, which the code does not have',
    ])
  })
  test('on an error code that is missing from the docs, and one that only they have', () => {
    expect(errorCodeProblems(fixture('documented'))).toEqual([
      'error code WL_NEW is missing from docs/errors.md',
      'docs/errors.md has error code WL_OLD, which the code does not have',
    ])
  })
  test('on a key of meta that is missing from the docs, and one that only they have', () => {
    expect(metaKeyProblems(fixture('documented'))).toEqual([
      'meta key dont_retry is missing from docs/meta.md',
      'docs/meta.md has meta key dont_retri, which the code does not have',
    ])
  })
  test('on a Redis key that is missing from the docs, and one that only they have', () => {
    expect(redisKeyProblems(fixture('documented'))).toEqual([
      'Redis key %(spider)s:items is missing from docs/redis-keys.md',
      'docs/redis-keys.md has Redis key %(name)s:gone, which the code does not have',
    ])
  })
  test('on each side of a merge that nobody resolved', async () => {
    await using folder = await tempDir()
    const sides = ['<'.repeat(7), '>'.repeat(7)].map((marker) => `${marker} HEAD\n`)
    writeFileSync(folder.join('notes.md'), sides.join('ours\n'))
    for (const args of [['init'], ['add', 'notes.md']])
      execFileSync('git', args, { cwd: folder.path, stdio: 'ignore' })
    const problem = 'has a merge marker: choose between both sides'
    expect(mergeMarkerProblems(folder.path)).toEqual([`notes.md:1 ${problem}`, `notes.md:3 ${problem}`])
  })
  test('on a link, a part of a page and a path that point at nothing', () => {
    expect(linkProblems(fixture('links'))).toEqual([
      'ARCHITECTURE.md points at packages/gone/, which is not there',
      'README.md points at docs/gone.md, which is not there',
      'README.md points at docs/here.md#b-part, and no heading there has that name',
      'README.md points at #gone, and no heading there has that name',
    ])
  })
  test('on an export without a docstring, and members of one', () => {
    expect(docstringProblems(fixture('docstrings'), ['webloom/index'], 'built')).toEqual(
      ['bare', 'Filter.size', 'Options.capacity'].map(
        (name) => `${name} has no docstring (packages/webloom/built/parts.ts)`,
      ),
    )
  })
})
