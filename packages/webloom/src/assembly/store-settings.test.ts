import { Settings } from '@webloom/core'
import { expect, test } from 'vitest'
import { alikeSettingsOf } from './store-settings.ts'

const slotsNoted = (slots: Record<string, Record<string, number>>) =>
  alikeSettingsOf(new Settings({ DOWNLOAD_SLOTS: slots })).told.find(({ name }) => name === 'DOWNLOAD_SLOTS')!
    .value

test('DOWNLOAD_SLOTS is the same in whatever order it is written', () => {
  const one = slotsNoted({ 'a.test': { delay: 2, concurrency: 1 }, 'b.test': { delay: 3 } })
  expect(slotsNoted({ 'b.test': { delay: 3 }, 'a.test': { concurrency: 1, delay: 2 } })).toBe(one)
  expect(one).toBe('{"a.test":{"concurrency":1,"delay":2},"b.test":{"delay":3}}')
})

test('what is longer than a line is noted by its beginning, and differs by its end', () => {
  const hosts = (last: number) =>
    Object.fromEntries(
      Array.from({ length: 21 }, (_, n) => [`host${n}.test`, { delay: n === 20 ? last : 1 }]),
    )
  const one = slotsNoted(hosts(2))
  expect(one).toMatch(/^\{"host0.test":.*… \(\d+ characters, SHA-256 \w{12}\)$/)
  expect(one.length).toBeLessThan(460)
  expect(slotsNoted(hosts(2))).toBe(one)
  expect(slotsNoted(hosts(3))).not.toBe(one)
})
