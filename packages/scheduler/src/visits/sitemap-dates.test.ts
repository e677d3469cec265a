import { type DateRecord, KnownHosts, type Visit } from '@webloom/core'
import { expect, test } from 'vitest'
import { NO_EVIDENCE } from './intervals/change-evidence.ts'
import { changedWithin, SitemapDates } from './sitemap-dates.ts'

const HOUR = 3_600_000
const NOW = Date.UTC(2026, 5, 10, 12)
const HONEST: DateRecord = { changedRight: 12, changedWrong: 0, sameRight: 20, sameWrong: 0 }

function datesOf(lastmod?: DateRecord) {
  const hosts = new KnownHosts({ notes: async (names) => names.map(() => undefined), note: async () => {} })
  if (lastmod) hosts.learn('a.example', { lastmod })
  return { hosts, dates: new SitemapDates({ hosts, minHours: 2, maxHours: 240 }) }
}
const page = (n = 0) => ({ fingerprint: `${n}`, url: `http://a.example/${n}` })
/** Visited so many hours ago, and due in so many. */
const visit = (ago: number, due: number, more: Partial<Visit> = {}): Visit => ({
  visitedAt: NOW - ago * HOUR,
  dueAt: NOW + due * HOUR,
  contentHash: 'abc',
  visits: 3,
  changes: 1,
  evidence: NO_EVIDENCE,
  failures: 0,
  goneAnswers: 0,
  callbackVersion: 1,
  isOutdated: false,
  ...more,
})
const changed = (hoursAgo: number) => ({ fromMs: NOW - hoursAgo * HOUR, toMs: NOW - hoursAgo * HOUR })
const inHours = (at: number | undefined) => at && (at - NOW) / HOUR

test('a page that has changed is due now, though not sooner than is allowed', () => {
  const { dates } = datesOf(HONEST)
  expect(dates.heard(page(), visit(24, 100), changed(1), NOW)).toBe(NOW)
  expect(inHours(dates.heard(page(), visit(0.5, 100), changed(0.1), NOW))).toBe(1.5)
  expect(dates.heard(page(), visit(24, -1), changed(1), NOW)).toBeUndefined()
})

test('a page that has not changed and is due before long is put off, never beyond the longest interval', () => {
  const { dates } = datesOf(HONEST)
  expect(inHours(dates.heard(page(), visit(20, 4), changed(100), NOW))).toBe(24)
  expect(dates.heard(page(), visit(4, 20), changed(100), NOW)).toBeUndefined()
  expect(inHours(dates.heard(page(), visit(200, 10), changed(300), NOW))).toBe(40)
})

test('a host that has proved nothing is believed for ten pages, and puts off none', () => {
  const { dates } = datesOf()
  const due = Array.from({ length: 50 }, (_, n) => dates.heard(page(n), visit(24, 100), changed(1), NOW))
  expect(due.filter((at) => at !== undefined)).toHaveLength(10)
  expect(dates.heard(page(99), visit(20, 4), changed(100), NOW)).toBeUndefined()
})

test('visits show what its dates are worth: a host that writes today beside each page is soon passed over', () => {
  const { dates, hosts } = datesOf()
  for (let n = 0; n < 3; n++) {
    dates.heard(page(n), visit(24, 100), changed(1), NOW)
    expect(dates.visited(page(n), visit(24, 100), false)).toMatchObject({ changedAt: NOW - HOUR })
  }
  expect(hosts.of('a.example').lastmod).toMatchObject({ changedRight: 0, sameWrong: 0 })
  expect(dates.heard(page(9), visit(24, 100), changed(1), NOW)).toBeUndefined()
  expect(dates.visited(page(8), visit(24, 100), false)).toBeUndefined()
})

test('a page that failed or is gone comes at its hour, whatever its sitemap says', () => {
  const { dates } = datesOf(HONEST)
  expect(dates.heard(page(), visit(24, 100, { failures: 1 }), changed(1), NOW)).toBeUndefined()
  expect(dates.heard(page(), visit(24, 100, { goneAnswers: 2 }), changed(1), NOW)).toBeUndefined()
})

test('a day says nothing of a visit on that day, and what is no date or lies ahead says nothing at all', () => {
  const { dates } = datesOf(HONEST)
  const today = changedWithin('2026-06-10', NOW)!
  expect(dates.heard(page(), visit(3, 100), today, NOW)).toBeUndefined()
  expect(dates.heard(page(), visit(24, 100), today, NOW)).toBe(NOW)
  for (const lastmod of ['', 'yesterday', '2026-13-01', '2027-01-01', 12, null, ['2026-01-01']])
    expect(changedWithin(lastmod, NOW)).toBeUndefined()
  expect(changedWithin(' 2026-06-10T10:00:00+02:00 ', NOW)).toEqual({
    fromMs: Date.UTC(2026, 5, 10, 8),
    toMs: Date.UTC(2026, 5, 10, 8),
  })
})
