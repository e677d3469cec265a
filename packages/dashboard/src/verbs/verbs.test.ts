import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { VERBS } from './verbs.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../../../docs/reference/http-api.md'), 'utf8')

test('the page of the docs has each verb with its address, and no other', () => {
  const rows = [...PAGE.matchAll(/^\| `(\w+)` \| (GET|POST) (?:\/api|…)([\w/]+)/gm)]
  expect(rows.map(([, name, method, path]) => `${name} ${method} ${path}`)).toEqual(
    VERBS.map(({ name, method, path }) => `${name} ${method.toUpperCase()} ${path}`),
  )
})
