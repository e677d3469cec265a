/** What holds for each template, also for one that is added later: a folder, and nothing else to tell of it. */

import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SHARED_FILES, templateNamed, templates } from './templates.ts'

const ROOT = join(import.meta.dirname, '../../..')
const FILES_MAX = 8
// "Every file short": what a reader takes in without scrolling twice.
const LINES_MAX = 70

const all = templates()
const filesIn = (folder: string) =>
  globSync('**/*', { cwd: folder, withFileTypes: true, exclude: ['**/node_modules'] })
    .concat(globSync('.*/*', { cwd: folder, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

test('each folder is a template, the default first', () => {
  const folders = readdirSync(join(import.meta.dirname, '../templates'))
  expect(all.map(({ name }) => name).toSorted()).toEqual(folders.toSorted())
  expect(all[0]?.name).toBe('quotes')
  expect(templateNamed('site').name).toBe('site')
})

test('an unknown one is refused with what there is', () => {
  expect(() => templateNamed('sites')).toThrow(/^there is no template "sites"\. There are:\n\n {2}quotes +\w/)
})

describe.each(all)('$name', ({ path, description }) => {
  const files = [...filesIn(SHARED_FILES), ...filesIn(path)]
  const packageJson = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  const root = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

  test('has eight files at most, all of them short and, but for JSON, with a comment on top', () => {
    expect(files.length).toBeLessThanOrEqual(FILES_MAX)
    for (const file of files) {
      const text = readFileSync(file, 'utf8')
      expect(text.split('\n').length, file).toBeLessThanOrEqual(LINES_MAX)
      if (/\.(?:ts|yml|html)$/.test(file))
        expect(text, file).toMatch(/^(?:<!doctype html>\n)?(?:\/\*\*|#|<!--) ?/)
    }
  })

  test('has a description, the scripts that the next steps speak of, and the versions that are tested here', () => {
    expect(description).toMatch(/\w/)
    expect(packageJson.scripts).toMatchObject({
      start: 'webloom runspider spider.ts -O items.jsonl',
      test: 'node --test',
      check: 'tsc',
    })
    expect(packageJson.engines).toEqual(root.engines)
    expect(Object.keys(packageJson.dependencies)).toContain('webloom')
    expect(Object.values(packageJson.dependencies).filter((version) => version !== '*')).toEqual([])
    for (const [name, version] of Object.entries(packageJson.devDependencies))
      expect([name, version]).toEqual([name, root.devDependencies[name]])
  })

  test('the debugger starts the same command as npm start', () => {
    const launch = readFileSync(join(SHARED_FILES, '.vscode/launch.json'), 'utf8')
    const [, args] = /"args": \[(.*)\]/.exec(launch)!
    expect(`webloom ${args!.replaceAll(/[",]/g, '')}`).toBe(packageJson.scripts.start)
  })
})
