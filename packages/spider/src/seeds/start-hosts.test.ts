import { Request, type StartHosts } from '@webloom/core'
import { startHostsContract } from '@webloom/core/contract'
import { describe, expect, test } from 'vitest'
import { DeclaredStartHosts, noteStartHosts } from './start-hosts.ts'

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

test('hosts of start requests are asked to be noted at the same moment, each once', async () => {
  const added: string[] = []
  const { promise: replies, resolve: answer } = Promise.withResolvers<void>()
  const startHosts: StartHosts = {
    ...noted(),
    add: (place) => {
      added.push(place)
      return replies
    },
  }
  const urls = ['http://a.example/1', 'http://b.example/1', 'http://a.example/2', 'http://a.example:81/']
  const noting = noteStartHosts(
    startHosts,
    urls.map((url) => new Request(url)),
  )
  expect(added).toEqual(['a.example:80', 'b.example:80', 'a.example:81'])
  answer()
  await noting
})
