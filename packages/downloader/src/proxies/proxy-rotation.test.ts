import { MemoryStatsCollector } from '@webloom/core'
import { expect, test } from 'vitest'
import { ProxyRotation, type ProxyRotationOptions } from './proxy-rotation.ts'

const [A, B, C] = ['http://a:1', 'http://b:1', 'http://c:1']

function rotation(options: Partial<ProxyRotationOptions> = {}) {
  const stats = new MemoryStatsCollector()
  const clock = { ms: 0 }
  // 0, 0.1, 0.2, …: each tenth as often as the others.
  let draws = 0
  const proxies = new ProxyRotation(
    [A, B, C].map((url) => ({ url: url! })),
    {
      failuresMax: 3,
      banMs: 1000,
      stats,
      random: () => (draws++ % 100) / 100,
      now: () => clock.ms,
      ...options,
    },
  )
  const shares = (requests: number) => {
    const counts: Record<string, number> = { [A!]: 0, [B!]: 0, [C!]: 0 }
    for (let request = 0; request < requests; request++) counts[proxies.next().address.url]!++
    return counts
  }
  const find = (url: string) => {
    for (;;) {
      const proxy = proxies.next()
      if (proxy.address.url === url) return proxy
    }
  }
  return { proxies, stats, clock, shares, find }
}

test('proxies that do equally well get equal shares', () => {
  const shares = Object.values(rotation().shares(300))
  expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(6)
})

test('one that fails gets less, and more again once it succeeds', () => {
  const { proxies, shares, find } = rotation()
  const bad = find(A!)
  proxies.failed(bad)
  proxies.failed(bad)
  const less = shares(900)[A!]!
  expect(less).toBeLessThan(120)
  expect(less).toBeGreaterThan(50)
  for (let times = 0; times < 10; times++) proxies.succeeded(bad)
  expect(shares(900)[A!]!).toBeGreaterThan(250)
})

test('after several failures in a row it rests for a while', () => {
  const { proxies, stats, clock, shares, find } = rotation()
  const bad = find(A!)
  for (let times = 0; times < 3; times++) proxies.failed(bad)
  expect(stats.get('proxy/banned')).toBe(1)
  expect(shares(300)[A!]).toBe(0)
  clock.ms = 999
  expect(shares(300)[A!]).toBe(0)
  clock.ms = 1000
  expect(shares(900)[A!]).toBeGreaterThan(0)
  proxies.failed(bad)
  expect(stats.get('proxy/banned')).toBe(2)
})

test('failures with successes between them are not in a row', () => {
  const { proxies, stats, find } = rotation()
  const proxy = find(A!)
  for (let times = 0; times < 5; times++) {
    proxies.failed(proxy)
    proxies.failed(proxy)
    proxies.succeeded(proxy)
  }
  expect(stats.get('proxy/banned')).toBe(undefined)
})

test('when all rest, the least bad is asked', () => {
  const { proxies, stats, find } = rotation()
  const all = [A, B, C].map((url) => find(url!))
  proxies.failed(all[0]!)
  for (const proxy of all) for (let times = 0; times < 3; times++) proxies.failed(proxy)
  proxies.failed(all[2]!)
  expect(proxies.next().address.url).toBe(B)
  expect(stats.get('proxy/all_banned')).toBe(1)
  expect(stats.get('proxy/failures')).toBe(11)
})
