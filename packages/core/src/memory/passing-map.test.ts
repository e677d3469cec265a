import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { PassingMap, PassingSet } from './passing-map.ts'

const ENTRIES = 20_000
const WITHIN = 50

test('a map holds what was set and not deleted, in its order, however often it is made anew', () => {
  const passing = new PassingMap<number, string>()
  const plain = new Map<number, string>()
  for (let n = 0; n < 2000; n++) {
    passing.set(n, `v${n}`)
    plain.set(n, `v${n}`)
    if (n % 7 === 0) passing.set(n - 3, 'again')
    if (n % 7 === 0) plain.set(n - 3, 'again')
    expect(passing.delete(n - WITHIN)).toBe(plain.delete(n - WITHIN))
  }
  expect([...passing]).toEqual([...plain])
  expect([...passing.keys()]).toEqual([...plain.keys()])
  expect([...passing.values()]).toEqual([...plain.values()])
  expect(passing.size).toBe(plain.size)
  expect([passing.get(1990), passing.has(1990), passing.has(3)]).toEqual(['v1990', true, false])
  passing.clear()
  expect([passing.size, passing.delete(1990)]).toEqual([0, false])
})

test('a set does, too', () => {
  const passing = new PassingSet<number>()
  for (let n = 0; n < 2000; n++) {
    passing.add(n)
    passing.delete(n - WITHIN)
  }
  expect([...passing]).toEqual(Array.from({ length: WITHIN }, (_, n) => 2000 - WITHIN + n))
  passing.clear()
  expect([passing.size, passing.has(1999)]).toEqual([0, false])
})

test.each([
  ['map', mapOf],
  ['set', setOf],
])('what has left a %s that lives for long does not end among the old objects', (_, made) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void
  const put = made()
  for (let n = 0; n < WITHIN; n++) put(n)
  collect() // Its table is old from now on.
  const before = oldBytes()
  for (let n = WITHIN; n < ENTRIES; n++) {
    put(n)
    if (n % 500 === 0) collect({ type: 'minor' })
  }
  // With a Map or Set of V8 itself it is most of them.
  expect(oldBytes() - before).toBeLessThan((ENTRIES * ENTRY_BYTES) / 4)
})

const ENTRY_BYTES = 1024

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')!.space_used_size
}

function entry(): object {
  return new Array(ENTRY_BYTES / 8).fill(0)
}

function mapOf() {
  const map = new PassingMap<number, object>()
  return (n: number) => {
    map.set(n, entry())
    map.delete(n - WITHIN)
  }
}

function setOf() {
  const set = new PassingSet<object>()
  const line: object[] = []
  return () => {
    const one = entry()
    set.add(one)
    line.push(one)
    if (line.length > WITHIN) set.delete(line.shift()!)
  }
}
