import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { bloomOffsets } from './bloom-offsets.ts'
import { compatStanding } from './compat-error.ts'

// pagesLost of the forks' filters was two to three times too low.
test.each([
  ['germey', 6],
  ['liuxingming', 7],
  ['liuxingming-demo', 5],
] as const)(
  '%s: the error at a filling, and what it has lost by then, are those of a simulation',
  (compat, hashes) => {
    const bit = 15
    const set = new Uint8Array(2 ** bit)
    let [inserted, filled, lost, lostByTheory] = [0, 0, 0, 0]
    for (let error = 0; filled < 0.6 * set.length; inserted++) {
      let isNew = false
      for (const place of bloomOffsets(hash('sha1', `in ${inserted}`), { compat, bit }).offsets) {
        if (set[place] === 1) continue
        isNew = true
        set[place] = 1
        filled++
      }
      if (!isNew) lost++
      if (inserted % 200 === 0) error = compatStanding(compat, set.length, hashes, filled / set.length).error
      lostByTheory += error
    }
    const probes = 10_000
    let met = 0
    for (let n = 0; n < probes; n++) {
      const { offsets } = bloomOffsets(hash('sha1', `out ${n}`), { compat, bit })
      if (offsets.every((place) => set[place] === 1)) met++
    }
    const { error, load } = compatStanding(compat, set.length, hashes, filled / set.length)
    expect(error / (met / probes)).toBeGreaterThan(0.85)
    expect(error / (met / probes)).toBeLessThan(1.15)
    expect(Math.abs(lost - lostByTheory)).toBeLessThan(4 * Math.sqrt(lostByTheory))
    expect((load * set.length) / inserted).toBeCloseTo(1, 1)
  },
)
