import { setTimeout as sleep } from 'node:timers/promises'
import { MemoryStatsCollector, markLockedOut, PROTOCOL_TIMES, Request, silentLogger } from '@webloom/core'
import { expect, test } from 'vitest'
import { Feeder, type FeederOptions } from './feeder.ts'
import { Pulse } from './pulse.ts'
import { StartAhead } from './start-ahead.ts'

const ELEMENTS = [0, 1, 2].map((n) => new Request(`https://a.test/${n}`))

/** A record that goes back, and a scheduler that is never without something in doubt: the crawl does not come to rest. */
function feeding(
  options: Partial<Pick<FeederOptions, 'startHosts' | 'seeds' | 'onFailure' | 'logger'>> = {},
): {
  feeder: Feeder
  pushed: string[]
  goesBackTo(cursor: number): void
  end(): void
} {
  const pushed: string[] = []
  const stopping = new AbortController()
  let cursor = 0
  let hasEnded = false
  const record: Partial<FeederOptions['record']> = {
    takeStart: async () => (hasEnded ? null : cursor),
    startEnded: async () => {
      hasEnded = true
    },
  }
  const scheduler: Partial<FeederOptions['scheduler']> = {
    hasRoom: async () => true,
    enqueueStarts: async (batch, from) => {
      cursor = from + batch.length
      pushed.push(...batch.map((request) => request!.url))
      return batch.length
    },
  }
  const scraper: Partial<FeederOptions['scraper']> = {
    startElements: async function* () {
      yield* ELEMENTS
    },
  }
  const feeder = new Feeder({
    scheduler: scheduler as FeederOptions['scheduler'],
    record: record as FeederOptions['record'],
    scraper: scraper as FeederOptions['scraper'],
    items: {} as FeederOptions['items'],
    stats: new MemoryStatsCollector(),
    logger: silentLogger,
    startLowWater: 1000,
    ahead: new StartAhead({ lowWater: 1000, max: 0, othersAreHungry: () => false }),
    times: { ...PROTOCOL_TIMES.engine, leaseWaitMaxMs: 5 },
    isPaused: () => false,
    pulse: new Pulse(),
    stopping: stopping.signal,
    onStop: () => {},
    onFailure: (error) => {
      throw error
    },
    ...options,
  })
  return {
    feeder,
    pushed,
    goesBackTo: (before) => {
      cursor = before
      hasEnded = false
    },
    end: () => stopping.abort(),
  }
}

test('start() runs on where a record that came back older has it, though the crawl has other things to do', async () => {
  const { feeder, pushed, goesBackTo, end } = feeding()
  feeder.begin()
  await expect.poll(() => feeder.isIdle).toBe(true)
  expect(pushed).toEqual(ELEMENTS.map(({ url }) => url))
  goesBackTo(1)
  await expect.poll(() => pushed.length).toBe(5)
  expect(pushed.slice(3)).toEqual(['https://a.test/1', 'https://a.test/2'])
  await expect.poll(() => feeder.isIdle).toBe(true)
  end()
})

test('a crawl that was told to end runs no start() on', async () => {
  const { feeder, pushed, goesBackTo, end } = feeding()
  feeder.begin()
  await expect.poll(() => feeder.isIdle).toBe(true)
  end()
  goesBackTo(0)
  // Waits: that nothing is read on can only be waited for.
  await sleep(50)
  expect(pushed).toHaveLength(3)
})

test('no start request is queued before its host is noted', async () => {
  const { promise: noted, resolve: note } = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const startHosts = {
    add: (place: string) => {
      expect(place).toBe('a.test:443')
      asked.resolve()
      return noted
    },
    has: async () => true,
    notePublic: async () => {},
  }
  const { feeder, pushed, end } = feeding({ startHosts })
  feeder.begin()
  await asked.promise
  // Waits: nothing tells that a request is not queued.
  await sleep(20)
  expect(pushed).toEqual([])
  note()
  await expect.poll(() => pushed.length).toBe(3)
  end()
})

test('start() ends with the error of a host that cannot be noted', async () => {
  const startHosts = {
    add: () => Promise.reject(new Error('no rights')),
    has: async () => true,
    notePublic: async () => {},
  }
  const { feeder, pushed, end } = feeding({ startHosts })
  feeder.begin()
  await expect.poll(() => feeder.startError).toEqual({ error: new Error('no rights') })
  expect(pushed).toEqual([])
  end()
})

test('seeds, and start hosts, whose Redis refuses the login end the crawl, which tells it: nothing else is logged', async () => {
  const refused = new Error('Redis does not let this process in any more')
  markLockedOut(refused)
  const logged: unknown[] = []
  const failures: unknown[] = []
  const { feeder, end } = feeding({
    seeds: { next: () => Promise.reject(refused) } as unknown as NonNullable<FeederOptions['seeds']>,
    startHosts: { add: () => Promise.reject(refused), has: async () => true, notePublic: async () => {} },
    onFailure: (error) => void failures.push(error),
    logger: { ...silentLogger, error: (...line: unknown[]) => void logged.push(line) },
  })
  feeder.begin()
  await expect.poll(() => failures).toEqual([refused, refused])
  expect(logged).toEqual([])
  expect(feeder.startError).toBe(undefined)
  end()
})
