import { describe, expect, test } from 'vitest'
import { DAY_MS, NOW_MS, rules, SHARES, site, unreachable } from '../../testing/robots-entries.ts'
import { MemoryRobotsStore, type RobotsEntry } from './robots-store.ts'
import { robotsStoreContract } from './robots-store-contract.ts'

robotsStoreContract(
  { describe, test },
  {
    name: 'MemoryRobotsStore',
    create: async () => {
      const clock = { nowMs: NOW_MS }
      const now = () => clock.nowMs
      const subject = {
        store: new MemoryRobotsStore({ ...SHARES, now }),
        now,
        pass: (ms: number) => {
          clock.nowMs += ms
        },
      }
      return { subject, dispose: async () => {} }
    },
  },
)

describe('MemoryRobotsStore', () => {
  /** A store, and how often it forgot something for lack of room. */
  function small(shares: Partial<typeof SHARES>) {
    let forgotten = 0
    const onForgotten = () => void forgotten++
    const store = new MemoryRobotsStore({ ...SHARES, ...shares, onForgotten, now: () => NOW_MS })
    return { store, forgotten: () => forgotten }
  }
  const kept = (store: MemoryRobotsStore, count: number) =>
    Array.from({ length: count }, (_, n) => n).filter((n) => store.get(site(n)))

  test('20 000 sites that allow all take 20 bytes each, and none is forgotten', () => {
    const { store, forgotten } = small({ sitesBytes: 20_000 * 35 })
    const absent: RobotsEntry = { outcome: 'absent', askAgainAtMs: NOW_MS + DAY_MS }
    for (let n = 0; n < 20_000; n++) store.set(site(n), absent, DAY_MS)
    expect(kept(store, 20_000)).toHaveLength(20_000)
    expect(store.get(site(20_000))).toBe(undefined)
    expect(forgotten()).toBe(0)
  })

  test('without room, a site takes the place of one that would have been asked again sooner', () => {
    const { store, forgotten } = small({ sitesBytes: 20 * 64 })
    for (let n = 0; n < 70; n++) {
      const askAgainAtMs = NOW_MS + (n + 1) * 1000
      store.set(site(n), { outcome: 'absent', askAgainAtMs }, DAY_MS)
    }
    expect(kept(store, 70)).toEqual(Array.from({ length: 64 }, (_, n) => n + 6))
    expect(forgotten()).toBe(6)
  })

  test('equal files are kept once; without room the file used longest ago is forgotten', () => {
    const { store, forgotten } = small({ filesBytes: 3 * 1256 })
    const file = (name: string) => rules(name.repeat(1000))
    for (let n = 0; n < 100; n++) store.set(site(n), file('a'), DAY_MS)
    store.set(site(100), file('b'), DAY_MS)
    store.set(site(101), file('c'), DAY_MS)
    expect([kept(store, 102).length, forgotten()]).toEqual([102, 0])
    store.get(site(0))
    store.get(site(101))
    store.set(site(102), file('d'), DAY_MS)
    expect([kept(store, 103).includes(100), kept(store, 103).length, forgotten()]).toEqual([false, 102, 1])
  })

  test('without room, the site in trouble that was met longest ago is forgotten', () => {
    const { store, forgotten } = small({ troublesBytes: 2 * 600 })
    const entry = unreachable(NOW_MS + 1000)
    for (let n = 0; n < 3; n++) store.set(site(n), entry, DAY_MS)
    expect([kept(store, 3), forgotten()]).toEqual([[1, 2], 1])
  })

  test('a time between two seconds is rounded up', () => {
    const { store } = small({})
    store.set(site(1), { outcome: 'absent', askAgainAtMs: NOW_MS + 1001 }, DAY_MS)
    expect(store.get(site(1))).toEqual({ outcome: 'absent', askAgainAtMs: NOW_MS + 2000 })
  })
})
