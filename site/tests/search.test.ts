/** The index that the site’s search reads, asked for every name there is. */

import { globSync } from 'node:fs'
import { join } from 'node:path'
import { ERROR_CODES, SETTINGS_TABLE } from '@webloom/core'
import MiniSearch from 'minisearch'
import { beforeAll, describe, expect, test } from 'vitest'
import { SEARCH } from '../source/search.ts'
import { addressOf, builtStage, DIST } from './site-server.ts'

const stage = builtStage()
const [settings, errors] = [addressOf('settings'), addressOf('errors')]

let index: MiniSearch
beforeAll(async () => {
  const [file] = globSync('assets/chunks/@localSearchIndex*.js', { cwd: DIST })
  const { default: text } = (await import(join(DIST, file!))) as { default: string }
  index = MiniSearch.loadJSON(text, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    searchOptions: SEARCH.searchOptions,
    ...SEARCH.options,
  })
})

/** Those that are not the first that is found, with what is. Two of one name are both right. */
function hidden(names: readonly (readonly [name: string, place: string])[]): string[] {
  const places = Map.groupBy(names, ([name]) => name)
  return [...places].flatMap(([name, ones]) => {
    const found = index.search(name)[0]?.id as string | undefined
    return ones.some(([, place]) => found === place) ? [] : [`${name}: ${found}`]
  })
}

describe('each name is the first that is found', () => {
  test('settings', () => {
    expect(hidden(SETTINGS_TABLE.map(({ name }) => [name, `${settings}#${name}`]))).toEqual([])
  })
  test('error codes', () => {
    expect(hidden(Object.keys(ERROR_CODES).map((code) => [code, `${errors}#${code}`]))).toEqual([])
  })
  test('exports', () => {
    const places = stage.exports.map(
      ({ name, path }) => [name, `/${path.replace(/\.md$/, '.html')}#${name.toLowerCase()}`] as const,
    )
    expect(hidden(places)).toEqual([])
  })
})

test.each([
  ['log in', '/guides/login.html'],
  ['proxies', '/guides/proxies.html'],
  ['next page', '/guides/pagination.html'],
  ['infinite scroll', '/guides/infinite-scroll.html'],
  ['crawlee', '/guides/from-crawlee.html'],
  ['bloom filter', '/tutorial/bloom.html'],
  ['npm create', '/packages/create-webloom/'],
])('words of everyday language lead to the page that is about them: %s', (words, page) => {
  expect(index.search(words)[0]?.id).toMatch(new RegExp(`^${page}#`))
})
