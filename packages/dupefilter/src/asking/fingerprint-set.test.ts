import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { FingerprintSet } from './fingerprint-set.ts'

const fingerprintOf = (n: number) => createHash('sha1').update(String(n)).digest('hex')

/** How many of these numbers’ fingerprints are known. */
function knownOf(set: FingerprintSet, from: number, to: number, named = fingerprintOf): number {
  let known = 0
  for (let n = from; n < to; n++) if (set.has(named(n))) known++
  return known
}

function addTo(set: FingerprintSet, from: number, to: number, named = fingerprintOf): void {
  for (let n = from; n < to; n++) set.add(named(n))
}

test('has what was added, once, until it is cleared', () => {
  const set = new FingerprintSet(100)
  addTo(set, 1, 3)
  addTo(set, 1, 3)
  expect([knownOf(set, 1, 3), set.has(fingerprintOf(3)), set.size]).toEqual([2, false, 2])
  set.clear()
  expect([knownOf(set, 1, 3), set.size]).toEqual([0, 0])
})

// A link that is taken for another one is never crawled.
test('takes none for another: not by its beginning or end, in capitals, or of another length', () => {
  const set = new FingerprintSet(1000)
  const one = fingerprintOf(1)
  const digits = [...one].map(
    (digit, at) => `${one.slice(0, at)}${digit === '0' ? '1' : '0'}${one.slice(at + 1)}`,
  )
  const texts = [
    ...[one, one.toUpperCase(), `${one}0`, `0${one}`, one.slice(1), ...digits],
    ...['g', '€', '\n', '/', ':', '`'].map((end) => `${one.slice(0, 39)}${end}`),
    ...['', 'f', '0'.repeat(39), '0'.repeat(40), '0'.repeat(41)],
    createHash('sha256').update('1').digest('hex'),
  ]
  for (const text of texts) {
    expect(set.has(text), text).toBe(false)
    set.add(text)
    expect(set.has(text), text).toBe(true)
  }
})

test('knows nearly all while there is room, and then nearly all of the last ones', () => {
  const set = new FingerprintSet(10_000)
  addTo(set, 0, 5000)
  expect(knownOf(set, 0, 5000), 'half full').toBeGreaterThan(4900)
  addTo(set, 5000, 30_000)
  expect(set.size).toBe(10_000)
  expect(knownOf(set, 25_000, 30_000), 'the last ones').toBeGreaterThan(4500)
  expect(knownOf(set, 0, 10_000), 'the first ones').toBeLessThan(500)
})

test('keeps those that are met again and again, whatever comes between', () => {
  const set = new FingerprintSet(1000)
  addTo(set, 0, 100)
  let lost = 0
  for (let n = 100; n < 20_000; n++) {
    set.add(fingerprintOf(n))
    const again = fingerprintOf(n % 100)
    if (set.has(again)) continue
    lost++
    set.add(again)
  }
  expect(lost).toBeLessThan(200)
})

test('fingerprints that differ in a few digits only, as numbers with zeros before them do, find as much room', () => {
  const set = new FingerprintSet(10_000)
  const numbered = (n: number) => String(n).padStart(40, '0')
  addTo(set, 0, 5000, numbered)
  expect(knownOf(set, 0, 5000, numbered)).toBeGreaterThan(4800)
})
