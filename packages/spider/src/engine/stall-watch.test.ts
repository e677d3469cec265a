import { type InFlight, MemoryStatsCollector, silentLogger } from '@webloom/core'
import { expect, test, vi } from 'vitest'
import { StallWatch } from './stall-watch.ts'

test('an idle worker in whose name requests are in flight is told of once, until it has worked again', async () => {
  const stats = new MemoryStatsCollector()
  const warned: string[] = []
  let isBusy = true
  let begun = 0
  let found: InFlight[] = [{ slot: 'a.test', count: 3, holder: 'host:1:x' }]
  let asked = 0
  const watch = new StallWatch({
    isBusy: () => isBusy,
    begun: () => begun,
    inFlight: async () => {
      asked++
      return found
    },
    stats,
    logger: { ...silentLogger, warn: (...line: unknown[]) => warned.push(JSON.stringify(line)) },
    afterMs: 1000,
    lookEveryMs: 100,
  })
  vi.useFakeTimers()
  try {
    watch.open()
    await vi.advanceTimersByTimeAsync(3000)
    expect(asked).toBe(0)
    isBusy = false
    // Pages that are over before the next look.
    const pages = setInterval(() => begun++, 70)
    await vi.advanceTimersByTimeAsync(3000)
    clearInterval(pages)
    expect(asked).toBe(0)
    await vi.advanceTimersByTimeAsync(900)
    expect(asked).toBe(0)
    await vi.advanceTimersByTimeAsync(3000)
    expect(warned).toHaveLength(1)
    for (const part of ['a.test', '"requests":3', 'host:1:x', '"idleS":1']) expect(warned[0]).toContain(part)
    expect(watch.isStalled).toBe(true)
    isBusy = true
    expect(watch.isStalled).toBe(false)
    await vi.advanceTimersByTimeAsync(200)
    isBusy = false
    found = []
    await vi.advanceTimersByTimeAsync(3000)
    expect(stats.get('scheduler/stalled')).toBe(1)
  } finally {
    watch.close()
    vi.useRealTimers()
  }
})
