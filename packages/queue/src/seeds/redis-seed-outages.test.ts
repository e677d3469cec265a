import { startTcpProxy } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { eventually, seedsOfFile, url, urls } from '../../testing/seeds-of-file.ts'

const place = seedsOfFile()
const { nextKey, connect, worker, push, invalid, come } = place

test('a queue’s Redis that was restarted gets its latest seeds again, and only then are they gone', async () => {
  nextKey()
  await push(url(1), url(2))
  let run = 'run-1'
  const one = await worker({ redisRunId: async () => run })
  const seeds = await one.source.next(9)
  await one.queue(seeds)
  run = 'run-2'
  const again = await come(one, 2)
  expect(again).toEqual(seeds)
  expect(await one.source.pending()).toBe(2)
  expect(one.stats.get('seeds/redelivered')).toBe(2)
  await one.queue(again)
  await eventually(async () => expect(await one.source.pending()).toBe(0))
})

test('a restart between the hand-out and the acknowledgement counts as well', async () => {
  nextKey()
  await push(url(1))
  let run = 'run-1'
  const one = await worker({ redisRunId: async () => run })
  const seeds = await one.source.next(9)
  // The request was queued in run 1, and the server came back without it before anybody could say so.
  run = 'run-2'
  await one.queue(seeds)
  expect(await come(one, 1)).toEqual(seeds)
})

test('a message stays while the queue’s Redis could be replaced by one that has not got its request', async () => {
  nextKey()
  await push(url(1))
  let isKept = false
  const keptRunId = vi.fn(async () => {
    if (!isKept) throw new Error('no replica is near')
    return 'run-1'
  })
  const one = await worker({ keptRunId })
  await one.queue(await one.source.next(9))
  await vi.waitFor(() => expect(keptRunId.mock.calls.length).toBeGreaterThan(2), { timeout: 5000 })
  expect(await one.source.pending()).toBe(1)
  isKept = true
  await eventually(async () => expect(await one.source.pending()).toBe(0))
})

test('a queue’s Redis that does not answer keeps the messages where they are', async () => {
  nextKey()
  await push(url(1))
  let isAway = true
  const one = await worker({
    redisRunId: async () => {
      if (isAway) throw new Error('no answer')
      return 'run-1'
    },
  })
  await expect(one.source.next(9)).rejects.toThrow('no answer')
  expect(await one.source.pending()).toBe(1)
  isAway = false
  expect(urls(await one.source.next(9))).toEqual([url(1)])
})

test('a taking whose reply is lost loses nothing: its messages come when nobody has held them for a while', async () => {
  nextKey()
  await push(url(1), url(2), url(3))
  await using proxy = await startTcpProxy({ target: place.server.url })
  const one = await worker({ redis: connect(proxy.url), batchSize: 2 })
  // The script must be known, or what is cut is only the answer that it is not.
  await one.source.next(0)
  expect(await one.source.next(0)).toEqual([])
  const cut = proxy.cutReplyOf(([name, , , first]) => /^EVAL/.test(name!) && first === place.key)
  const first = await one.source.next(2)
  expect(cut.count).toBe(1)
  const rest = await come(one, 3 - first.length)
  expect(urls([...first, ...rest]).sort()).toEqual([url(1), url(2), url(3)])
  await one.queue([...first, ...rest])
  await eventually(async () => expect(await one.source.pending()).toBe(0))
})

test('a settling whose reply is lost puts nothing into the invalid list twice', async () => {
  nextKey()
  await push('bad')
  await using proxy = await startTcpProxy({ target: place.server.url })
  const one = await worker({ redis: connect(proxy.url) })
  const cut = proxy.cutReplyOf(
    ([name, , , first]) => /^EVAL/.test(name!) && first === `{${place.key}}:processing`,
    {
      times: 2,
    },
  )
  await one.source.next(9)
  await eventually(async () => expect(await one.source.pending()).toBe(0))
  expect(cut.count).toBe(2)
  expect(await invalid()).toHaveLength(1)
  await eventually(async () => expect(one.stats.get('seeds/invalid')).toBe(1))
})

test('a seeds’ Redis that is killed and comes back has lost nothing', async () => {
  nextKey()
  await push(url(1), url(2))
  const one = await worker()
  const [first] = await one.source.next(1)
  await place.server.kill()
  await place.server.restart()
  await one.queue([first!])
  const rest = await come(one, 1)
  expect(urls(rest)).toEqual([url(2)])
  await one.queue(rest)
  await eventually(async () => expect(await one.source.pending()).toBe(0))
})
