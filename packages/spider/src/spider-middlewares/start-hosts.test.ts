import { Request, type StartHosts } from '@webloom/core'
import { startHostsContract } from '@webloom/core/contract'
import { describe, expect, test } from 'vitest'
import { DeclaredStartHosts, StartHostsMiddleware } from './start-hosts.ts'

/** What the crawl keeps, as its workers share it. */
function noted(): StartHosts {
  const hosts = new Set<string>()
  const open = new Set<string>()
  return {
    add: async (place) => void hosts.add(place),
    has: async (place) => hosts.has(place) && !open.has(place),
    notePublic: async (place) => {
      if (hosts.has(place)) open.add(place)
    },
  }
}

startHostsContract(
  { describe, test },
  {
    name: 'DeclaredStartHosts',
    create: async () => {
      const [kept, spider] = [noted(), { startUrls: ['http://declared.example/'] }]
      const [one, other] = [new DeclaredStartHosts(spider, kept), new DeclaredStartHosts(spider, kept)]
      return { one, other, dispose: async () => {} }
    },
  },
)

test('a host of startUrls is a start host before its request is made, unless it was public', async () => {
  const spider = { startUrls: ['http://inside.example:8080/', 'http://outside.example/', 'no URL'] }
  const kept = noted()
  const hosts = new DeclaredStartHosts(spider, kept)
  await hosts.notePublic('outside.example:80')
  expect(await hosts.has('outside.example:80')).toBe(false)
  expect(await hosts.has('inside.example:8080')).toBe(true)
  expect(await kept.has('inside.example:8080')).toBe(true)
})

async function* startOf(count: number): AsyncGenerator<Request> {
  for (let n = 0; n < count; n++) yield new Request(`http://h${n}.example/`)
}

test('a long start() does not wait for each of its hosts to be noted, and does not end before all are', async () => {
  const added: string[] = []
  const { promise: replies, resolve: answer } = Promise.withResolvers<void>()
  const add = (place: string) => {
    added.push(place)
    return replies
  }
  const startHosts = { ...noted(), add }
  const elements = new StartHostsMiddleware({ startHosts }).processStart(startOf(100))
  for (let n = 0; n < 100; n++) {
    await elements.next()
    expect(added).toHaveLength(n + 1)
  }
  const end = elements.next()
  expect(await Promise.race([end, Promise.resolve('waits')])).toBe('waits')
  answer()
  expect(await end).toEqual({ done: true, value: undefined })
})

test('a host that cannot be noted ends start()', async () => {
  const startHosts = { ...noted(), add: () => Promise.reject(new Error('no rights')) }
  const elements = new StartHostsMiddleware({ startHosts }).processStart(startOf(5))
  const all = async () => {
    for await (const _element of elements);
  }
  await expect(all()).rejects.toThrow('no rights')
})
