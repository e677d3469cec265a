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

test.each([
  ['by its port', { 'b.test:8080': { delay: 12 } }, 12_000, 8],
  ['by a URL of it', { 'https://b.test/x': { delay: 12, concurrency: 2 } }, 12_000, 2],
  ['with capitals', { 'B.test': { delay: 12 } }, 12_000, 8],
  [
    'twice: the slower one',
    { 'b.test:1': { delay: 3 }, 'b.test:2': { delay: 12 }, 'b.test:3': { delay: 4 } },
    12_000,
    8,
  ],
  ['faster: it is for a slot of one’s own', { 'b.test:1': { delay: 0, concurrency: 64 } }, 1000, 8],
  ['beside its own entry', { 'b.test:1': { delay: 12 }, 'b.test': { delay: 0 } }, 0, 8],
])('a host that is named %s', (_, slots, delayMs, concurrency) => {
  const settings = { DOWNLOAD_DELAY: 1, CONCURRENT_REQUESTS_PER_DOMAIN: 8, DOWNLOAD_SLOTS: slots }
  expect(paceOf(new Settings(settings))('b.test')).toMatchObject({ delayMs, concurrency })
})

test.each([
  [
    1,
    'DOWNLOAD_SLOTS["a.test"] is 1 (from the settings given in code); expected an object, such as {"delay": 2',
  ],
  [
    { dleay: 3 },
    '"] has dleay (from the settings given in code); known are delay, concurrency, jitter, randomize_delay. Did you mean delay?',
  ],
  [{ constructor: 3 }, '"] has constructor (from the settings given in code); known are delay'],
  [
    { delay: '3 s' },
    '"].delay is "3 s" (from the settings given in code); expected seconds, a number from 0 on',
  ],
  [
    { concurrency: -1 },
    '"].concurrency is -1 (from the settings given in code); expected a whole number from 0 on (0: no bound)',
  ],
  [{ jitter: 2 }, '"].jitter is 2 (from the settings given in code); expected a number from 0 to 1'],
  [
    { randomize_delay: 'no' },
    '"].randomize_delay is "no" (from the settings given in code); expected true or false',
  ],
])('an entry that cannot be is refused, with its place and what it should be: %j', (entry, words) => {
  const settings = new Settings({ DOWNLOAD_SLOTS: { 'a.test': entry } } as never)
  expect(() => paceOf(settings)).toThrow(words)
})
