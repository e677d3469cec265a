import {
  type Logger,
  MemoryStatsCollector,
  NO_NOTES,
  type Notification,
  type RunLog,
  silentLogger,
  unsentOf,
} from '@webloom/core'
import { expect, test, vi } from 'vitest'
import { crawl, RUN } from '../../testing/monitored-run.ts'
import { NotificationRefused, notificationText } from '../notifications/notification.ts'
import { CrawlMonitors } from './crawl-monitors.ts'

test('of five workers that leave at once one judges, and tells in one message; all learn what was found', async () => {
  const { log, got, stats, worker } = crawl()
  log.end()
  const found = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => worker(name).ended()))
  expect(got.map(({ alerts }) => alerts.map(({ id }) => id))).toEqual([['items/min', 'coverage/price']])
  expect(new Set(found.map((alerts) => alerts.length))).toEqual(new Set([2]))
  expect(stats.snapshot()).toMatchObject({
    'monitors/alert_count/items': 1,
    'monitors/notification_count/sent': 1,
  })
})

test('the run is judged when the last worker has left, and not before', async () => {
  const { log, got, worker } = crawl()
  log.end()
  log.isWhole = false
  const ended = worker('a').ended()
  await vi.waitUntil(() => log.states > 1)
  expect(got).toEqual([])
  log.run = { ...log.run, items: 200, fields: { price: 200 } }
  log.isWhole = true
  expect(await ended).toEqual([])
})

test.each(['at its end', 'while it goes on'])(
  'one that dies while it tells of a run, %s, is followed by another, which tells the same under the same id',
  async (moment) => {
    const { log, got, worker, receiver } = crawl()
    const act = (monitors: CrawlMonitors) => (moment === 'at its end' ? monitors.ended() : monitors.look())
    if (moment === 'at its end') log.end()
    else log.run = { ...RUN, items: 50 }
    const sent = Promise.withResolvers<Notification>()
    const silence = new Promise<never>(() => {})
    let isDead = false
    const runLog: RunLog = {
      look: () => log.look(),
      state: () => log.state(),
      change: (run, change) => (isDead ? silence : log.change(run, change)),
    }
    const dies = {
      ...receiver,
      send: (notification: Notification) => {
        isDead = true
        sent.resolve(notification)
        return silence
      },
    }
    void act(worker('dies', { channels: [dies], runLog }))
    const first = await sent.promise
    const next = worker('next')
    // While the run goes on each look is a try; the first that finds that nobody holds the run goes on.
    await vi.waitUntil(async () => {
      await act(next)
      return got.length > 0
    })
    expect(got.map(({ id }) => id)).toEqual([first.id])
    expect(log.notes.outbox).toEqual([])
  },
)

test('what is found while the run goes on is told at once, with pages that show it, and not again at its end', async () => {
  const { log, got, worker } = crawl()
  const monitors = worker('a')
  log.run = { ...RUN, items: 50 }
  log.stats = { 'monitors/pages/price': '["https://shop.example/9"]' }
  await monitors.look()
  await monitors.look()
  expect(got).toMatchObject([{ alerts: [{ id: 'coverage/price', pages: ['https://shop.example/9'] }] }])
  expect(got[0]!.finishReason).toBeUndefined()
  log.end('finished', 50)
  expect((await monitors.ended()).map(({ id }) => id)).toEqual(['coverage/price', 'items/min'])
  expect(got[1]).toMatchObject({ alerts: [{ id: 'items/min' }], finishReason: 'finished' })
})

test('a crawl that was interrupted goes on later, and one that others go on with is not over: neither is judged', async () => {
  const { log, got, worker } = crawl()
  expect(await worker('a').ended()).toEqual([])
  log.end('shutdown')
  expect(await worker('b').ended()).toEqual([])
  expect(got).toEqual([])
})

test('a receiver that fails is tried again; one that refuses is not, and the alerts are known all the same', async () => {
  const { log, got, stats, worker, receiver } = crawl()
  log.end()
  let tries = 0
  const shaky = {
    ...receiver,
    send: async (notification: Notification) => {
      if (++tries < 3) throw new Error('it answers 503')
      got.push(notification)
    },
  }
  const refuses = { ...receiver, send: () => Promise.reject(new NotificationRefused('it answers 404')) }
  expect(await worker('a', { channels: [shaky, refuses] }).ended()).toHaveLength(2)
  expect([tries, got.length]).toEqual([3, 1])
  expect(stats.snapshot()).toMatchObject({
    'monitors/notification_count/sent': 1,
    'monitors/notification_count/lost': 1,
  })
  // Of the shaky one nothing is left to be told.
  expect(unsentOf(log.notes)).toMatchObject([
    { channel: 'test (2)', lost: 1, waiting: 0, reason: 'it answers 404' },
  ])
})

test('that a channel is away is noted with the first try, and with messages that have no room', async () => {
  const { log, worker, receiver } = crawl()
  const away = { ...receiver, name: 'away', send: () => Promise.reject(new Error('it answers 503')) }
  const monitors = worker('a', { channels: [receiver, away] })
  for (let n = 0; n < 21; n++) {
    // A finding that is over, and one that is new.
    log.run = { ...RUN, items: 50 }
    log.notes = { ...log.notes, alerts: [] }
    await monitors.look()
    if (n === 0)
      expect(unsentOf(log.notes)).toMatchObject([
        { channel: 'away', lost: 0, waiting: 1, reason: 'it answers 503' },
      ])
  }
  expect(unsentOf(log.notes)).toMatchObject([
    { channel: 'away', lost: 1, waiting: 20, reason: 'it answers 503' },
  ])
})

test('a monitor of one’s own is asked once, by one worker; what it throws is told, and the others are heard', async () => {
  let asked = 0
  const custom = () => {
    asked++
    throw new TypeError('past is empty')
  }
  const { log, got, worker } = crawl({ monitors: { items: { min: 100 }, custom } })
  log.end()
  await Promise.all(['a', 'b', 'c'].map((name) => worker(name).ended()))
  expect(asked).toBe(1)
  expect(got[0]!.alerts.map(({ id, words }) => [id, words])).toEqual([
    ['items/min', '1 items; at least 100 are expected'],
    ['custom', 'the monitor custom threw: past is empty'],
  ])
})

test('what a monitor of one’s own returns is told, and one that never answers is given up', async () => {
  const found = async (custom: () => unknown) => {
    const { log, worker } = crawl({ monitors: { custom: custom as never }, timeoutMs: 30 })
    log.end()
    return (await worker('a').ended()).map(({ words }) => words)
  }
  expect(await found(() => undefined)).toEqual([])
  expect(await found(() => false)).toEqual([])
  expect(await found(() => ['few authors', 'few tags'])).toEqual(['few authors', 'few tags'])
  expect(await found(() => new Promise(() => {}))).toEqual([
    expect.stringContaining('the monitor custom has not answered for '),
  ])
})

test('a message names the crawl of a CRAWL_ID, and the line that shows its runs', async () => {
  const more = 'webloom runs quotes -s CRAWL_ID=big --compare'
  const { log, got, worker } = crawl({ crawlId: 'big', more })
  log.end()
  await worker('a').ended()
  expect(got).toMatchObject([{ spider: 'quotes', crawlId: 'big', more }])
  expect(notificationText(got[0]!)).toMatch(
    /^quotes@big: 2 monitors have found something in [\s\S]* More: webloom runs quotes -s CRAWL_ID=big --compare$/,
  )
})

test('a message of a crawl without CRAWL_ID names its spider', async () => {
  const { log, got, worker } = crawl()
  log.end()
  await worker('a').ended()
  expect(got[0]).not.toHaveProperty('crawlId')
  expect(notificationText(got[0]!)).toMatch(
    /^quotes: 2 monitors [\s\S]* More: webloom runs quotes --compare$/,
  )
})

test('a process that comes to a crawl that was judged long ago has nothing to tell', async () => {
  const { log, worker } = crawl()
  log.end()
  await worker('a').ended()
  const late = new CrawlMonitors({
    monitors: { items: { min: 100 } },
    runLog: log,
    worker: 'late',
    spider: 'quotes',
    channels: [],
    stats: new MemoryStatsCollector(),
    logger: silentLogger,
    timeoutMs: 1000,
  })
  expect(await late.ended()).toEqual([])
})

test('a run that goes on after its end is judged again at the next: what was found is told again where it still holds, else gone', async () => {
  const { log, got, worker } = crawl()
  log.end('closespider_timeout')
  expect(await worker('a').ended()).toHaveLength(2)
  log.resume()
  await worker('b').look()
  expect(log.notes.alerts).toEqual([])
  log.end('closespider_timeout')
  expect(await worker('b').ended()).toHaveLength(2)
  expect(got).toHaveLength(2)
  log.end('finished', 200)
  log.run = { ...log.run, fields: { price: 200 } }
  expect(await worker('c').ended()).toEqual([])
})

test.each(['shutdown', 'stopped', 'cleared', 'crawl_lost', 'not_opened', 'refused'])(
  'a run that somebody stopped, or refused before it was open, is not judged: %s',
  async (reason) => {
    const { log, got, worker } = crawl()
    log.end(reason)
    expect([await worker('a').ended(), got]).toEqual([[], []])
  },
)

test('a crawl that is gone from its Redis is told of once, by one of five workers, and all learn it', async () => {
  const { log, got, worker } = crawl()
  const runLog: RunLog = {
    look: async () => undefined,
    state: async () => undefined,
    change: (run, change) => log.change(run, change),
    keepLost: async (figures) => ({ ...RUN, ...figures, state: 'lost', finishReason: 'crawl_lost' }),
  }
  const found = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => worker(name, { runLog }).lost()))
  expect(got.map(({ alerts }) => alerts.map(({ id }) => id))).toEqual([['crawl_lost']])
  expect(found.map((alerts) => alerts.map(({ id }) => id))).toEqual(Array(5).fill(['crawl_lost']))
})

test('a run log that does not answer keeps no worker, and what was found is known all the same', async () => {
  const { log, worker } = crawl({ answerMs: 20 })
  const monitors = worker('a')
  log.end()
  log.state = () => new Promise(() => {})
  expect(await monitors.ended()).toEqual([])
  const other = crawl({ answerMs: 20 })
  other.log.end()
  const send = async () => {
    other.log.change = () => new Promise(() => {})
  }
  const channels = [{ ...other.receiver, send }]
  expect(await other.worker('a', { channels }).ended()).toHaveLength(2)
})

test('a worker that is told to leave waits neither for the others nor for the next try, and another sends what it has not', async () => {
  const { log, got, worker, receiver } = crawl({ holdMs: 60_000 })
  log.end()
  log.isWhole = false
  const leaving = new AbortController()
  const waits = worker('waits').ended(leaving.signal)
  await vi.waitUntil(() => log.states > 1)
  leaving.abort()
  expect(await waits).toEqual([])
  log.isWhole = true
  const failed = Promise.withResolvers<void>()
  const away = {
    ...receiver,
    send: async () => {
      failed.resolve()
      throw new Error('it answers 503')
    },
  }
  const leavingNow = new AbortController()
  const pauses = worker('pauses', { channels: [away], firstPauseMs: 60_000 }).ended(leavingNow.signal)
  await failed.promise
  leavingNow.abort()
  expect(await pauses).toHaveLength(2)
  expect(await worker('next').ended()).toHaveLength(2)
  expect(got).toHaveLength(1)
})

test('a channel that is slow holds up its own messages alone, and each has them in their order', async () => {
  const { log, worker, receiver } = crawl({ monitors: {} })
  log.end()
  log.notes = {
    ...NO_NOTES,
    outbox: ['first', 'second'].map((id) => ({ notification: message(id), to: ['slow', 'quick'] })),
  }
  const sent: string[] = []
  const quickIsDone = Promise.withResolvers<void>()
  const quick = async ({ id }: Notification) => {
    sent.push(`quick ${id}`)
    if (id === 'second') quickIsDone.resolve()
  }
  const slow = async ({ id }: Notification) => {
    await quickIsDone.promise
    sent.push(`slow ${id}`)
  }
  const channels = [
    { ...receiver, name: 'slow', send: slow },
    { ...receiver, name: 'quick', send: quick },
  ]
  await worker('a', { channels }).ended()
  expect(sent).toEqual(['quick first', 'quick second', 'slow first', 'slow second'])
  expect(log.notes.outbox).toEqual([])
})

function message(id: string): Notification {
  return { id, spider: 'quotes', run: 'r1', alerts: [], pages: 0, items: 0 }
}

test('a channel that has told is not told again while another is away, and the log has each alert once', async () => {
  const { log, got, stats, worker, receiver } = crawl()
  const logger: Logger = {
    ...silentLogger,
    error: () => stats.inc('log_count/ERROR'),
    warn: () => stats.inc('log_count/WARNING'),
  }
  let tries = 0
  const away = {
    ...receiver,
    name: 'away',
    send: () => Promise.reject(new Error(`it answers 503 (${++tries})`)),
  }
  const monitors = worker('a', { logger, channels: [receiver, away] })
  log.run = { ...RUN, items: 50 }
  for (let n = 0; n < 3; n++) await monitors.look()
  expect([tries, got.length]).toEqual([3, 1])
  expect(stats.snapshot()).toMatchObject({
    'log_count/ERROR': 1,
    'monitors/log_count/ERROR': 1,
    'log_count/WARNING': 3,
    'monitors/log_count/WARNING': 3,
  })
})

test('of two looks at once one is made', async () => {
  const { log, worker } = crawl()
  const monitors = worker('a')
  await Promise.all([monitors.look(), monitors.look()])
  expect(log.looks).toBe(1)
  await monitors.look()
  expect(log.looks).toBe(2)
})

test.each([
  'https://me:hush@shop.example/?token=hush is slow',
  'the shop refused token=hush',
  'login failed, password: hush',
  'GET /prices with Authorization: Bearer hush1 was refused',
])('what a monitor of one’s own says or throws is told without its secrets: %s', async (words) => {
  const throwing = () => {
    throw new Error(words)
  }
  for (const custom of [() => words, throwing]) {
    const { log, got, worker } = crawl({ monitors: { custom } })
    log.end()
    await worker('a').ended()
    expect(got[0]!.alerts[0]!.words).toContain('***')
    expect(JSON.stringify(got)).not.toContain('hush')
  }
})

test('of more alerts than are kept it is told how many there are', async () => {
  const coverage = Object.fromEntries(Array.from({ length: 62 }, (_, n) => [`f${n}`, 1]))
  const { log, worker } = crawl({ monitors: { coverage } })
  log.end()
  const alerts = await worker('a').ended()
  expect([alerts.length, alerts.at(-1)?.words]).toEqual([
    51,
    'and 12 others (coverage/f50, coverage/f51, coverage/f52, coverage/f53, coverage/f54, …); only 50 alerts of a run are kept',
  ])
})

test('what takes longer than a hold keeps it', async () => {
  // Three workers share this process, and the machine: a hold must outlast what they take from each other.
  const { log, got, worker, receiver } = crawl({ holdMs: 500 })
  log.end()
  const slow = {
    ...receiver,
    send: async (notification: Notification) => {
      const { untilMs } = log.notes.hold!
      await vi.waitUntil(() => Date.now() > untilMs, { timeout: 10_000 })
      // When the hold would have run out, each of the others asks once more.
      const { states } = log
      await vi.waitUntil(() => log.states >= states + 2, { timeout: 10_000 })
      got.push(notification)
    },
  }
  await Promise.all(['a', 'b', 'c'].map((name) => worker(name, { channels: [slow] }).ended()))
  expect(got).toHaveLength(1)
})
