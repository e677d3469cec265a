/** What Scrapy makes of `response.follow(text)` and `response.follow_all([text])`. */

import { readFileSync } from 'node:fs'
import { Request } from '@webloom/core'
import { expect, test } from 'vitest'
import { Response } from './response.ts'

interface Golden {
  readonly encoding: string
  readonly base: string
  readonly rel: string
  readonly follow?: string
}

const { made_with: madeWith, cases } = JSON.parse(
  readFileSync(new URL('../../../url/testdata/w3lib-2.5.json', import.meta.url), 'utf8'),
) as { made_with: string; cases: Golden[] }
const followed = cases.filter(({ follow, encoding }) => follow !== undefined && encoding === 'utf-8')

test(`follow() and followAll() join a text as it is written: ${followed.length} odd ones as ${madeWith}`, () => {
  expect(followed.length).toBeGreaterThan(500)
  for (const { base, rel, follow } of followed) {
    const page = new Response(base, { body: '', request: new Request(base) })
    const context = JSON.stringify([base, rel])
    expect(page.follow(rel).url, context).toBe(follow)
    // Other schemes are left out of a list.
    const all = page.followAll([rel]).map(({ url }) => url)
    expect(all, context).toEqual(/^(?:https?|file|ftp):/i.test(follow!) ? [follow] : [])
  }
})
