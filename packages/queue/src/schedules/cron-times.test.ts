import { expect, test } from 'vitest'
import { checkCron, nextTime } from './cron-times.ts'

test.each([
  ['61 6 * * *', 'expected range 0-59'],
  ['0 6 * *', 'it has 4 fields'],
  ['', 'it has 0 fields'],
  ['0 6 * * foo', 'foo'],
  ['0 0 31 2 *', 'no such day of a month ever comes'],
  ['0 0 31 4,6 *', 'no such day of a month ever comes'],
  ['*/0 * * * *', 'every 0 time. Expected five fields'],
  ['H 6 * * *', 'H names no time'],
  ['@nonsense', 'it has 1 field'],
  ['*/90 * * * *', '*/90 as its minute begins once each hour'],
  ['0 0/36 * * *', '0/36 as its hour begins once each day'],
])('%j is refused: %s', (cron, why) => {
  expect(() => checkCron(cron, 'UTC')).toThrow(why)
  expect(() => checkCron(cron, 'UTC')).toThrow("'0 6 * * *' is each day at six")
})

test('a time zone that there is not is refused, with the one that was meant', () => {
  expect(() => checkCron('@daily', 'Europe/Berln')).toThrow('Did you mean Europe/Berlin')
  expect(() => checkCron('@daily', 'Europe/Berlin')).not.toThrow()
})

test('an hour that clocks skip is begun at the next one, and one that comes twice is begun once', () => {
  const from = (date: string) => {
    const first = nextTime('30 2 * * *', 'Europe/Berlin', new Date(date))
    return [first, nextTime('30 2 * * *', 'Europe/Berlin', first)].map((at) => at.toISOString())
  }
  expect(from('2026-03-28T12:00:00Z')).toEqual(['2026-03-29T01:30:00.000Z', '2026-03-30T00:30:00.000Z'])
  expect(from('2026-10-24T12:00:00Z')).toEqual(['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z'])
})

test('of an hour that clocks skip all times are begun; who comes late to one that comes twice begins it no more', () => {
  const at = (cron: string, since: string, count: number) => {
    const times = [new Date(since)]
    for (let n = 0; n < count; n++) times.push(nextTime(cron, 'Europe/Berlin', times.at(-1)!))
    return times.slice(1).map((time) => time.toISOString().slice(5, 16))
  }
  expect(at('15,45 2 * * *', '2027-03-28T00:00:00Z', 3)).toEqual([
    '03-28T01:15',
    '03-28T01:45',
    '03-29T00:15',
  ])
  expect(at('0,30 2 * * *', '2027-03-28T00:00:00Z', 3)).toEqual(['03-28T01:00', '03-28T01:30', '03-29T00:00'])
  expect(at('30 2 * * *', '2026-10-25T01:10:00Z', 1)).toEqual(['10-26T01:30'])
  expect(at('0 * * * *', '2026-10-24T23:50:00Z', 3)).toEqual(['10-25T00:00', '10-25T01:00', '10-25T02:00'])
})

test.each([
  ['0 0 * * *', 'America/Santiago', '2027-09-04T12:00:00Z', '2027-09-05T04:00:00.000Z'],
  ['15 2 * * *', 'Australia/Lord_Howe', '2027-10-02T12:00:00Z', '2027-10-02T15:45:00.000Z'],
  ['15 2 3 10 *', 'Australia/Lord_Howe', '2027-01-02T12:00:00Z', '2027-10-02T15:45:00.000Z'],
])('what is skipped at midnight, or for half an hour, is begun: %s in %s', (cron, tz, since, next) => {
  const first = nextTime(cron, tz, new Date(since))
  expect(first.toISOString()).toBe(next)
  expect(nextTime(cron, tz, first).getTime()).toBeGreaterThan(first.getTime() + 20 * 3_600_000)
})

test.each(['*/15 * * * *', '@hourly', '30 1,2 * * *'])('%s: each time that comes, and none twice', (cron) => {
  for (const [tz, since] of [
    ['Europe/Berlin', '2026-10-24T22:00:00Z'],
    ['Europe/Berlin', '2026-03-28T22:00:00Z'],
    ['America/Santiago', '2027-09-05T02:00:00Z'],
    ['America/Santiago', '2027-04-04T01:00:00Z'],
  ] as const) {
    let at = new Date(since)
    // Past the hour in which clocks change.
    const until = at.getTime() + 5 * 3_600_000
    while (at.getTime() < until) {
      const next = nextTime(cron, tz, at)
      expect(next.getTime()).toBeGreaterThan(at.getTime())
      at = next
    }
  }
})
