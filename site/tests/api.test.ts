/** The pages of exports, against what the packages export when they are imported. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as selectors from '@webloom/selectors'
import * as url from '@webloom/url'
import { expect, test } from 'vitest'
import * as webloom from 'webloom'
import * as ports from 'webloom/ports'
import * as testing from 'webloom/testing'
import { builtStage, DIST } from './site-server.ts'

const stage = builtStage()

test.each(Object.entries({ webloom, ports, testing, selectors, url }))(
  'each export of %s has a page',
  (_, exported) => {
    const names = new Set(stage.exports.map(({ name }) => name))
    expect(Object.keys(exported).filter((name) => !names.has(name))).toEqual([])
  },
)

test('each page is built, with a line to import it by and what its docstring says', () => {
  const missing = stage.exports.filter(({ path }) => !existsSync(join(DIST, path.replace(/\.md$/, '.html'))))
  expect(missing).toEqual([])
  const page = readFileSync(join(DIST, 'api/webloom-ports/DupeFilter.md'), 'utf8')
  expect(page).toContain('Remembers which requests this crawl has already seen.')
  expect(page).toContain("import type { DupeFilter } from 'webloom/ports'")
  expect(page).toContain('## requestSeen')
})
