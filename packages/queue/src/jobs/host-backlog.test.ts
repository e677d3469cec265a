import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MemoryHostClock } from '../politeness/memory-host-clock.ts'
import { HostBacklog } from './host-backlog.ts'

interface Item {
  readonly slot: string
  readonly name: string
  readonly priority: number
}

const item = (slot: string, name: string | number, priority = 0): Item => ({
  slot,
  name: String(name),
  priority,
})

function newBacklog({ delayMs = 0, concurrency = 0, heldMax = 100 } = {}) {
  const clock = new MemoryHostClock({ pace: { delayMs, concurrency, randomize: false } })
  const turns: string[] = []
  const backlog = new HostBacklog<Item>({ clock, heldMax, onMayGo: (slot) => turns.push(slot) })
  /** What the queue does with one that may go. */
  const go = (slot: string) => {
    const next = backlog.next(slot)
    if (!next) return undefined
    clock.taken(slot)
    clock.started(slot, performance.now())
    return next.name
  }
  return { clock, backlog, turns, go }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('what may go goes, highest priority first, then first come', () => {
  const { backlog, go } = newBacklog()
  for (const one of [item('a', 1), item('a', 2, 5), item('a', 3)]) backlog.enter(one)
  expect([go('a'), go('a'), go('a'), go('a')]).toEqual(['2', '1', '3', undefined])
  expect(backlog.size).toBe(0)
})

test('a host that must wait tells when its turn has come', () => {
  const { backlog, turns, go } = newBacklog({ delayMs: 1000 })
  for (const n of [1, 2]) backlog.enter(item('a', n))
  expect([go('a'), go('a')]).toEqual(['1', undefined])
  vi.advanceTimersByTime(999)
  expect(turns).toEqual([])
  vi.advanceTimersByTime(2)
  expect(turns).toEqual(['a'])
  expect(go('a')).toBe('2')
})

test('the next few of a host stay, the rest is parked, one turn after the other', () => {
  const { backlog, go } = newBacklog({ delayMs: 500 })
  for (let n = 0; n < 6; n++) backlog.enter(item('a', n))
  expect(go('a')).toBe('0')
  const parked = [...backlog.overflow('a')]
  expect(parked.map(({ item: { name } }) => name)).toEqual(['3', '4', '5'])
  const [first = 0, second = 0, third = 0] = parked.map(({ delayMs }) => delayMs)
  expect([second - first, third - second]).toEqual([400, 400])
  expect(first).toBe(1000)
})

test('fifty thousand of one host are parked for as long as it takes, not all for the same while', () => {
  const { backlog, go } = newBacklog({ delayMs: 500 })
  const delays: number[] = []
  for (let n = 0; n < 50_000; n++) {
    backlog.enter(item('a', n))
    if (n === 0) go('a')
    for (const { delayMs } of backlog.overflow('a')) delays.push(delayMs)
  }
  const within = (ms: number) => delays.filter((delayMs) => delayMs <= ms).length
  // 120 turns of its own, and a quarter more, as they come a little early.
  expect(within(60_000)).toBeGreaterThan(120)
  expect(within(60_000)).toBeLessThan(160)
  expect(Math.max(...delays)).toBe(15 * 60_000)
})

test('the pace that is seen takes the place of the guess', () => {
  const { backlog, go } = newBacklog({ delayMs: 100 })
  for (let n = 0; n < 20; n++) backlog.enter(item('a', n))
  expect(go('a')).toBe('0')
  vi.advanceTimersByTime(100)
  expect(go('a')).toBe('1')
  vi.advanceTimersByTime(100)
  expect(go('a')).toBe('2')
  const delays = [...backlog.overflow('a')].map(({ delayMs }) => delayMs)
  expect(delays.length).toBe(7)
  expect(delays[6]! - delays[0]!).toBeCloseTo(480, -1)
})

test('a pause is not taken for the host’s pace: nothing is parked for minutes after it', () => {
  const { backlog, go } = newBacklog({ delayMs: 100 })
  for (let n = 0; n < 40; n++) backlog.enter(item('a', n))
  for (const n of [0, 1]) {
    expect(go('a')).toBe(`${n}`)
    vi.advanceTimersByTime(100)
  }
  vi.advanceTimersByTime(60_000)
  expect(go('a')).toBe('2')
  const delays = [...backlog.overflow('a')].map(({ delayMs }) => delayMs)
  expect(Math.max(...delays)).toBeLessThan(10_000)
})

test('a Redis that was away while the first few went is not taken for the host’s pace', () => {
  const { clock, backlog, go } = newBacklog({ concurrency: 1 })
  for (let n = 0; n < 200; n++) backlog.enter(item('a', n))
  for (const [n, tookMs] of [60_000, 20, 20, 20].entries()) {
    expect(go('a')).toBe(`${n}`)
    vi.advanceTimersByTime(tookMs)
    clock.ended('a', true)
  }
  expect(go('a')).toBe('4')
  const delays = [...backlog.overflow('a')].map(({ delayMs }) => delayMs)
  // 195 of 20 ms, at the most: not ten seconds for each.
  expect(Math.max(...delays)).toBeLessThan(4000)
})

test('an urgent one takes the place of one that is held', () => {
  const { backlog, go } = newBacklog({ delayMs: 1000 })
  for (const n of [1, 2]) backlog.enter(item('a', n))
  expect(go('a')).toBe('1')
  backlog.enter(item('a', 'urgent', 9))
  expect([...backlog.overflow('a')].map(({ item: { name } }) => name)).toEqual(['2'])
  vi.advanceTimersByTime(1001)
  expect(go('a')).toBe('urgent')
})

test('all hosts together hold no more than there is backlog for', () => {
  const { backlog, go } = newBacklog({ delayMs: 1000, heldMax: 3 })
  let parked = 0
  for (const slot of ['a', 'b', 'c', 'd', 'e']) {
    for (const n of [1, 2]) backlog.enter(item(slot, n))
    expect(go(slot)).toBe('1')
    parked += [...backlog.overflow(slot)].length
  }
  expect([backlog.size, parked]).toEqual([3, 2])
})

test('one that is lost is not let go', () => {
  const { backlog, go } = newBacklog()
  const lost = item('a', 'lost')
  backlog.enter(lost)
  backlog.enter(item('a', 'kept'))
  backlog.leave(lost)
  expect([go('a'), go('a')]).toEqual(['kept', undefined])
})

test('a closed backlog holds nothing and its alarms are off', () => {
  const { backlog, turns, go } = newBacklog({ delayMs: 100 })
  for (const n of [1, 2]) backlog.enter(item('a', n))
  expect([go('a'), go('a')]).toEqual(['1', undefined])
  expect(backlog.close().map(({ name }) => name)).toEqual(['2'])
  vi.advanceTimersByTime(500)
  expect(turns).toEqual([])
})
