import { Settings } from '@webloom/core'
import { expect, test } from 'vitest'
import { paceOf } from './host-pace.ts'

const SLOTS = { 'a.test': { delay: 3 }, 'a.test:8080': { delay: 0 }, constructor: { delay: 4 } }

test.each([
  ['a host', 'a.test', 3000],
  ['a slot of one’s own, which may look like a host with its port and is none', 'a.test:8080', 0],
  ['a slot with the name of what objects inherit', 'constructor', 4000],
  ['all others', 'valueOf', 1000],
])('DOWNLOAD_SLOTS holds for the slots it names: %s', (_, slot, delayMs) => {
  const pace = paceOf(new Settings({ DOWNLOAD_DELAY: 1, DOWNLOAD_SLOTS: SLOTS }))
  expect(pace(slot).delayMs).toBe(delayMs)
})
