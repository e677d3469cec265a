import { type HostOrders, Settings } from '@webloom/core'
import { paceOf } from '@webloom/queue'
import { expect, test } from 'vitest'
import { delayFrom } from './read-one-host.ts'

const SLOTS = { 'a.test': { delay: 5 }, 'c.test': { concurrency: 2 } }
const settings = new Settings({ DOWNLOAD_DELAY: 2, DOWNLOAD_SLOTS: SLOTS })
const orders: HostOrders = new Map([
  ['set.test', { delayMs: 0, isBoosted: false, at: Date.UTC(2026, 0, 2) }],
  ['boosted.test', { isBoosted: true, at: 0 }],
])
const paces = { settings, orders, pace: paceOf(settings), setBy: (name: string) => `${name} by them` }
const from = (slot: string, delayMs: number) => delayFrom({ slot, delayMs }, paces)

test.each([
  ['an order comes first, also one of no delay', 'set.test', 0, 'set by hand, 2026-01-02T00:00:00.000Z'],
  ['an order of something else is none', 'boosted.test', 2000, 'DOWNLOAD_DELAY (DOWNLOAD_DELAY by them)'],
  ['longer than the settings say was learned', 'b.test', 2001, 'learned: its robots.txt, or its answers'],
  ['that of a slot of its own', 'a.test', 5000, 'DOWNLOAD_SLOTS (DOWNLOAD_SLOTS by them)'],
  ['a slot of its own without a delay', 'c.test', 2000, 'DOWNLOAD_DELAY (DOWNLOAD_DELAY by them)'],
  [
    'a slot with the name of what objects inherit',
    'constructor',
    2000,
    'DOWNLOAD_DELAY (DOWNLOAD_DELAY by them)',
  ],
  ['longer than that was learned', 'a.test', 6000, 'learned: its robots.txt, or its answers'],
  ['there is none', 'b.test', 0, null],
])('where a delay comes from: %s', (_, slot, delayMs, words) => {
  expect(from(slot, delayMs)).toBe(words)
})
