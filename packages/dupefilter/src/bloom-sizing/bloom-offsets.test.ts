import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { IN_FULL } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { digestOf } from '../asking/digest.ts'
import { bloomOffsets, nativeOffsets } from './bloom-offsets.ts'
import { optimalSize } from './bloom-theory.ts'

// Made by running the Python originals.
const vectors = (name: string): { cases: unknown[] } =>
  JSON.parse(readFileSync(new URL(`../../testdata/${name}.json`, import.meta.url), 'utf8'))

test('germey: every vector made with the original', () => {
  const { cases } = vectors('bloom-germey') as { cases: [number, number, string, number[]][] }
  expect(cases.length).toBe(500)
  for (const [bit, hashNumber, value, offsets] of cases) {
    expect(bloomOffsets(value, { compat: 'germey', bit, hashNumber })).toEqual({ offsets })
  }
})

test('liuxingming: every vector made with the original', () => {
  const { cases } = vectors('bloom-liuxingming') as {
    cases: [string | null, string | null, number, number, number[]][]
  }
  expect(cases.length).toBe(500)
  for (const [text, hex, blockNum, block, offsets] of cases) {
    const value = text ?? Buffer.from(hex!, 'hex')
    expect(bloomOffsets(value, { compat: 'liuxingming', blockNum })).toEqual({ block, offsets })
  }
})

test('liuxingming-demo hashes the fingerprint itself, with five seeds', () => {
  const fingerprint = hash('sha1', 'a')
  const { block, offsets } = bloomOffsets(fingerprint, { compat: 'liuxingming-demo', blockNum: 4 })
  expect(block).toBe(Number.parseInt(fingerprint.slice(0, 2), 16) % 4)
  // The recurrence of the original, in numbers of any length.
  const expected = [5, 7, 11, 13, 31].map((seed) => {
    let place = 0n
    for (const character of fingerprint) place += BigInt(seed) * place + BigInt(character.charCodeAt(0))
    return Number(place & (2n ** 31n - 1n))
  })
  expect(offsets).toEqual(expected)
})

test('a fingerprint that is not a SHA-1 is hashed, however much it looks like one', () => {
  expect(digestOf('12', false)).toMatch(/^[0-9a-f]{40}$/)
  expect(digestOf('0'.repeat(40), false)).not.toBe('0'.repeat(40))
  expect(digestOf(hash('sha1', 'a'), true)).toBe(hash('sha1', 'a'))
})

// Plain double hashing in small filters has several times these errors; so has a weak mixing of the digest.
const PROBES = IN_FULL ? 300_000 : 75_000
test.each([
  [200, 1e-2],
  [5_000, 1e-2],
  [IN_FULL ? 100_000 : 20_000, 1e-3],
])('%i requests at an error of %d: what is measured is within 1.2 of it', (capacity, errorRate) => {
  const { bits, hashes } = optimalSize(capacity, errorRate)
  const measured = falsePositives({ bits, hashes, capacity, probes: PROBES })
  // Three deviations of chance beside what the hashing may cost.
  const chance = 3 * Math.sqrt(errorRate / PROBES)
  expect(measured).toBeLessThan(errorRate * 1.2 + chance)
  expect(measured).toBeGreaterThan(errorRate / 1.2 - chance)
})

/** Averaged over several small filters: one alone is a draw from a wide range. */
function falsePositives(filter: { bits: number; hashes: number; capacity: number; probes: number }): number {
  const { bits, hashes, capacity, probes } = filter
  const rounds = Math.max(1, Math.floor(PROBES / capacity / 30))
  let positives = 0
  for (let round = 0; round < rounds; round++) {
    const set = new Uint8Array(bits)
    for (let n = 0; n < capacity; n++) for (const bit of places(`${round} in ${n}`)) set[bit] = 1
    for (let n = 0; n < probes / rounds; n++) {
      if (places(`${round} out ${n}`).every((bit) => set[bit] === 1)) positives++
    }
  }
  return positives / probes

  function places(name: string): number[] {
    return nativeOffsets(hash('sha1', name), bits, hashes)
  }
}
