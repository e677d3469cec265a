import { Settings } from '@webloom/core'
import { expect, test } from 'vitest'
import { paceOf } from './host-pace.ts'

test.each([
  ['a host', 'a.test', 'a.test'],
  ['its port, as status shows it', 'a.test:8080', 'a.test'],
  ['a URL of it', 'https://a.test/x', 'a.test'],
  ['a name with capitals', 'A.test', 'a.test'],
  ['a slot of one’s own, which may look like that', 'proxy:8080', 'proxy:8080'],
])('DOWNLOAD_SLOTS may name %s', (_what, name, slot) => {
  const pace = paceOf(new Settings({ DOWNLOAD_SLOTS: { [name]: { delay: 12 } } }))
  expect(pace(slot).delayMs).toBe(12_000)
  expect(pace('b.test').delayMs).toBe(0)
})

test('an entry by the name of the slot itself goes before one by its port', () => {
  const pace = paceOf(
    new Settings({ DOWNLOAD_SLOTS: { 'a.test:8080': { delay: 12 }, 'a.test': { delay: 3 } } }),
  )
  expect(pace('a.test').delayMs).toBe(3000)
})
