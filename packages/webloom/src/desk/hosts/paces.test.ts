import { Settings } from '@webloom/core'
import { expect, test } from 'vitest'
import { paceAsTold, setByOf } from './paces.ts'

const own = new Settings({ DOWNLOAD_DELAY: 99, DOWNLOAD_SLOTS: { 'a.test': { delay: 98 } } })
const told = (settings: Readonly<Record<string, unknown>>) => ({
  seedKey: null,
  settings: Object.entries(settings).map(([name, value]) => ({ name, value, source: 'config' as const })),
})
const pace = (settings: Readonly<Record<string, unknown>>) => {
  const asTold = paceAsTold(own, told(settings))
  return [asTold.getFloat('DOWNLOAD_DELAY'), asTold.getDict('DOWNLOAD_SLOTS')]
}

test('the pace is that of the workers, also where they have the default', () => {
  const slots = { 'b.test': { delay: 1 } }
  expect(pace({ DOWNLOAD_DELAY: 6, DOWNLOAD_SLOTS: slots })).toEqual([6, slots])
  expect(pace({})).toEqual([0, {}])
  expect(paceAsTold(own, undefined)).toBe(own)
})

test.each([
  ['one that was cut', '{"a.test":… (too long to be kept)'],
  ['what a newer release knows', { 'a.test': { delay: 1, burst: 3 } }],
])('a value that cannot be read costs no other: %s', (_, slots) => {
  expect(pace({ DOWNLOAD_DELAY: 6, DOWNLOAD_SLOTS: slots })).toEqual([6, own.getDict('DOWNLOAD_SLOTS')])
})

test('who has set it is told of the value that is used', () => {
  const asked = new Settings({ DOWNLOAD_DELAY: 99 })
  const slots = { 'a.test': { delay: 1 } }
  expect(setByOf(asked, undefined, 'DOWNLOAD_DELAY')).toBe(asked.source('DOWNLOAD_DELAY'))
  expect(setByOf(asked, told({}), 'DOWNLOAD_DELAY')).toBe('default')
  expect(setByOf(asked, told({ DOWNLOAD_SLOTS: slots }), 'DOWNLOAD_SLOTS')).toBe('config')
  expect(setByOf(asked, told({ DOWNLOAD_SLOTS: '{"a' }), 'DOWNLOAD_SLOTS')).toBe('default')
})
