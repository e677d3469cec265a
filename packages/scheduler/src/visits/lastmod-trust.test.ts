import type { DateRecord } from '@webloom/core'
import { expect, test } from 'vitest'
import { datesAreEvidence, lastmodAdvice, NO_LASTMOD, withLastmod } from './lastmod-trust.ts'

const after = (...visits: [saidChanged: boolean, changed: boolean][]): DateRecord =>
  visits.reduce((record, [said, changed]) => withLastmod(record, said, changed), NO_LASTMOD)
const times = (count: number, visit: [boolean, boolean]): [boolean, boolean][] => Array(count).fill(visit)

test('a date behind the last visit is believed at first', () => {
  expect(lastmodAdvice(NO_LASTMOD, true)).toBe('visit now')
  expect(lastmodAdvice(NO_LASTMOD, false)).toBe('no advice')
})

test('a host that dates each page today is believed no more after two visits in vain', () => {
  const liar = after(...times(2, [true, false]))
  expect(lastmodAdvice(liar, true)).toBe('no advice')
  expect(datesAreEvidence(liar)).toBe(false)
})

test('a host that dates honestly keeps its pages from visits, and its dates count as evidence', () => {
  const honest = after(...times(12, [false, false]), ...times(3, [true, true]))
  expect(lastmodAdvice(honest, false)).toBe('wait longer')
  expect(lastmodAdvice(honest, true)).toBe('visit now')
  expect(datesAreEvidence(honest)).toBe(true)
})

test('a host whose pages change without another date is not waited for', () => {
  expect(lastmodAdvice(after(...times(12, [false, false]), ...times(3, [false, true])), false)).toBe(
    'no advice',
  )
})

test('a host that becomes honest is believed again', () => {
  expect(lastmodAdvice(after(...times(20, [true, false]), ...times(40, [true, true])), true)).toBe(
    'visit now',
  )
})
