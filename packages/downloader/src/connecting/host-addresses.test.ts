import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { DownloadError, Settings } from '@webloom/core'
import { startDnsServer } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { HostAddresses, type HostAddressesOptions } from './host-addresses.ts'

/** A resolver whose answers the test gives, and whose clock it moves. */
function resolver(options: Partial<HostAddressesOptions> = {}) {
  const asked: string[] = []
  const waiting: ((answer: readonly string[] | Error) => void)[] = []
  const clock = { ms: 0 }
  const hosts = new HostAddresses({
    cacheSize: 100,
    timeoutMs: 1000,
    now: () => clock.ms,
    lookup: (hostname) => {
      asked.push(hostname)
      return new Promise((resolve, reject) =>
        waiting.push((answer) => (answer instanceof Error ? reject(answer) : resolve({ addresses: answer }))),
      )
    },
    ...options,
  })
  /** The question that was asked first is answered. */
  const answer = (given: readonly string[] | Error) => waiting.shift()!(given)
  return { hosts, asked, answer, clock }
}

const told = (asked: string[], name: string) => {
  asked.push(name)
  return { addresses: ['10.0.0.1'] }
}

const kindOf = (error: unknown) => (error instanceof DownloadError ? error.kind : error)

test('all who ask for one name share one question', async () => {
  const { hosts, asked, answer } = resolver()
  const all = [hosts.of('a.test'), hosts.of('a.test'), hosts.of('a.test')]
  answer(['10.0.0.1'])
  expect(await Promise.all(all)).toEqual(Array(3).fill(['10.0.0.1']))
  expect(asked).toEqual(['a.test'])
})

test('addresses are remembered for a minute, and that there are none for five seconds', async () => {
  const { hosts, asked, answer, clock } = resolver()
  const found = hosts.of('a.test')
  answer(['10.0.0.1'])
  await found
  clock.ms = 59_999
  expect(await hosts.of('a.test')).toEqual(['10.0.0.1'])
  clock.ms = 60_000
  const lost = hosts.of('a.test').catch(kindOf)
  answer(unknownName())
  expect(await lost).toBe('CannotResolveHostError')
  clock.ms = 64_999
  expect(await hosts.of('a.test').catch(kindOf)).toBe('CannotResolveHostError')
  expect(asked.length).toBe(2)
  clock.ms = 65_000
  const again = hosts.of('a.test')
  answer(['10.0.0.2'])
  expect(await again).toEqual(['10.0.0.2'])
})

test('a name that no server answered for is asked for again by its first retry', async () => {
  const { hosts, asked, answer, clock } = resolver()
  const failed = [hosts.of('a.test').catch(kindOf), hosts.of('a.test').catch(kindOf)]
  answer(Object.assign(new Error('queryA ESERVFAIL'), { code: 'ESERVFAIL' }))
  expect(await Promise.all(failed)).toEqual(['CannotResolveHostError', 'CannotResolveHostError'])
  clock.ms = 399
  await expect(hosts.of('a.test')).rejects.toThrow('a.test: queryA ESERVFAIL')
  // Half of RETRY_BACKOFF, the least that a retry waits.
  clock.ms = 500
  const again = hosts.of('a.test')
  answer(['10.0.0.2'])
  expect(await again).toEqual(['10.0.0.2'])
  expect(asked.length).toBe(2)
})

describe('a server that refuses', () => {
  const refused = () => Object.assign(new Error('queryA EREFUSED'), { code: 'EREFUSED' })

  test('a name has seven questions; who asks for it meanwhile shares them, and others go on', async () => {
    const asked: string[] = []
    const { hosts } = resolver({
      freshLookupsMax: 2,
      timeoutMs: 60_000,
      now: () => performance.now(),
      lookup: async (name) => {
        asked.push(name)
        await nextTurn()
        if (name === 'never.test') throw refused()
        return { addresses: ['10.0.0.1'] }
      },
    })
    let isOver = false
    const never = Promise.all(
      [hosts.of('never.test'), hosts.ahead('never.test')].map((found) =>
        expect(found).rejects.toThrow('never.test: queryA EREFUSED'),
      ),
    ).finally(() => {
      isOver = true
    })
    let others = 0
    while (!isOver) await hosts.of(`host-${others++}.test`)
    await never
    expect(asked.filter((name) => name === 'never.test').length).toBe(7)
    expect(others).toBeGreaterThan(100)
  })

  test('one that looks up twenty at once, as dnsmasq looks up 150: every name is found, and few are asked for in vain', async () => {
    let [underWay, refusals] = [0, 0]
    const answer = () => {
      if (underWay === 20) {
        refusals++
        return 'refused'
      }
      underWay++
      setTimeout(() => underWay--, 20)
      return { addresses: ['192.0.2.1'] }
    }
    await using dns = await startDnsServer({ answer, delayMs: 20 })
    const settings = Settings.fromLayers({ command: { DNS_SERVERS: [dns.address] } })
    // Two workers of one machine.
    const workers = [1, 2].map(() => HostAddresses.fromCrawler({ settings }))
    for (const round of [1, 2, 3]) {
      refusals = 0
      const names = Array.from({ length: 400 }, (_, n) => `host-${round}-${n}.test`)
      const found = await Promise.all(names.map((name, n) => workers[n % 2]!.of(name)))
      expect(found.flat()).toEqual(names.map(() => '192.0.2.1'))
    }
    expect(refusals).toBeLessThan(200)
  })

  test.each([0.03, 0.3])(
    'when it never answers for %f of the names, these slow the others little',
    async (share) => {
      const isRefused = (name: string) => (Number(/\d+/.exec(name)) * 7919) % 1000 < share * 1000
      let [underWay, most] = [0, 0]
      const lookup = async (name: string) => {
        if (isRefused(name)) throw refused()
        underWay++
        most = Math.max(most, underWay)
        await sleep(20) // Waits: as long as a server takes.
        underWay--
        return { addresses: ['10.0.0.1'] }
      }
      const { hosts } = resolver({
        lookupsMax: 4096,
        freshLookupsMax: 128,
        timeoutMs: 60_000,
        now: () => performance.now(),
        lookup,
      })
      let n = 0
      // A crawl that always has more of them.
      const askUntil = async (ms: number) => {
        const names = Array.from({ length: 256 }, async () => {
          while (performance.now() < ms) {
            const one = `host-${n++}.test`
            const found = hosts.of(one).catch(() => {})
            if (!isRefused(one)) await found
          }
        })
        await Promise.all(names)
      }
      await askUntil(performance.now() + 2000)
      most = 0
      await askUntil(performance.now() + 1000)
      // Each of the others waits for no more than its turn.
      expect(most).toBeGreaterThan(40)
    },
  )
})

test.each([
  [300, 300_000],
  [0, 1000],
  [1_000_000, 3_600_000],
])('an answer that holds for %i s is remembered for %i ms', async (seconds, ms) => {
  const asked: string[] = []
  const { hosts, clock } = resolver({
    lookup: async (name) => ({ ...told(asked, name), ttlMs: seconds * 1000 }),
  })
  await hosts.of('a.test')
  clock.ms = ms - 1
  await hosts.of('a.test')
  expect(asked.length).toBe(1)
  clock.ms = ms
  await hosts.of('a.test')
  expect(asked.length).toBe(2)
})

test('no more names are remembered than DNSCACHE_SIZE; the one used longest ago goes', async () => {
  const { hosts, asked } = resolver({
    cacheSize: 2,
    lookup: async (name) => told(asked, name),
  })
  for (const name of ['a.test', 'b.test', 'a.test', 'c.test', 'a.test', 'b.test']) await hosts.of(name)
  expect(asked).toEqual(['a.test', 'b.test', 'c.test', 'b.test'])
})

test('a name with many addresses counts for several, so that names take no more than 512 bytes each', async () => {
  const many = Array.from({ length: 16 }, (_, n) => `2001:db8:1111:2222:3333:4444:5555:${n}`)
  const asked: string[] = []
  const { hosts } = resolver({
    cacheSize: 4,
    lookup: async (name) => {
      asked.push(name)
      return { addresses: name.startsWith('many') ? many : ['10.0.0.1'] }
    },
  })
  for (const name of ['a.test', 'b.test', 'many.test', 'many.test', 'b.test', 'a.test']) await hosts.of(name)
  expect(asked).toEqual(['a.test', 'b.test', 'many.test', 'a.test'])
})

test('a failure that is remembered says what the first one said', async () => {
  const { hosts } = resolver({ lookup: () => Promise.reject(new Error('queryA EREFUSED')) })
  for (let n = 0; n < 2; n++) await expect(hosts.of('a.test')).rejects.toThrow('a.test: queryA EREFUSED')
})

test('without a cache each asks for itself', async () => {
  const { hosts, asked } = resolver({
    cacheSize: 0,
    lookup: async (name) => told(asked, name),
  })
  await hosts.of('a.test')
  await hosts.of('a.test')
  expect(asked.length).toBe(2)
})

test('dead names take no more than sixteen places, and those that nobody waits for any more take none', async () => {
  const { hosts, asked, answer, clock } = resolver({ timeoutMs: 20 })
  const dead = Array.from({ length: 100 }, (_, n) => hosts.of(`dead-${n}.test`).catch(kindOf))
  expect(asked.length).toBe(16)
  expect(await Promise.all(dead)).toEqual(Array(100).fill('CannotResolveHostError'))
  clock.ms = 20
  const good = hosts.of('good.test')
  answer(new Error('no answer'))
  await new Promise((resolve) => setImmediate(resolve))
  expect(asked.slice(16)).toEqual(['good.test'])
  for (let other = 0; other < 15; other++) answer(new Error('no answer'))
  answer(['10.0.0.1'])
  expect(await good).toEqual(['10.0.0.1'])
})

test('an answer that comes too late for those who asked is remembered all the same', async () => {
  const { hosts, asked, answer } = resolver({ timeoutMs: 10 })
  await expect(hosts.of('slow.test')).rejects.toThrow('DNS_TIMEOUT')
  answer(['10.0.0.1'])
  await new Promise((resolve) => setImmediate(resolve))
  expect(await hosts.of('slow.test')).toEqual(['10.0.0.1'])
  expect(asked.length).toBe(1)
})

describe('asked ahead', () => {
  test('a name is not asked for again in its turn, be there an answer or a failure', async () => {
    const { hosts, asked, answer } = resolver()
    const [found, lost] = [hosts.ahead('a.test'), hosts.ahead('b.test')]
    const again = hosts.of('a.test')
    answer(['10.0.0.1'])
    answer(new Error('queryA ENOTFOUND'))
    await found
    await expect(lost).rejects.toThrow('b.test: queryA ENOTFOUND')
    expect(await again).toEqual(['10.0.0.1'])
    await expect(hosts.of('b.test')).rejects.toThrow('b.test: queryA ENOTFOUND')
    expect([hosts.ahead('a.test'), hosts.ahead('b.test')]).toEqual([undefined, undefined])
    expect(asked).toEqual(['a.test', 'b.test'])
  })

  test('nobody waits for an address, for this machine, or for what would not be remembered', () => {
    const { hosts } = resolver()
    expect(['127.0.0.1', 'localhost'].map((host) => hosts.ahead(host))).toEqual([undefined, undefined])
    expect(resolver({ cacheSize: 0 }).hosts.ahead('a.test')).toBeUndefined()
  })

  test('a source that has enough to do is left alone, but an open question is waited for', () => {
    const { hosts, asked } = resolver({ lookupsMax: 2 })
    const ahead = ['a.test', 'b.test', 'c.test', 'a.test'].map((host) => hosts.ahead(host)?.catch(kindOf))
    expect(ahead.map((wait) => wait !== undefined)).toEqual([true, true, false, true])
    expect(asked).toEqual(['a.test', 'b.test'])
  })

  test('few lookups begin at once; the next wait for their turn without a place, until those before are answered, or slow', async () => {
    const { hosts, asked, answer, clock } = resolver({
      lookupsMax: 10,
      freshLookupsMax: 2,
      timeoutMs: 60_000,
    })
    const all = ['a', 'b', 'c', 'd', 'e'].map((name) => hosts.ahead(`${name}.test`))
    expect(asked).toEqual(['a.test', 'b.test'])
    answer(['10.0.0.1'])
    await all[0]
    expect(asked).toEqual(['a.test', 'b.test', 'c.test'])
    clock.ms = 999
    answer(['10.0.0.1'])
    await all[1]
    expect(asked.length).toBe(4)
    clock.ms = 1000
    await expect.poll(() => asked).toEqual(['a.test', 'b.test', 'c.test', 'd.test', 'e.test'])
    for (let n = 0; n < 3; n++) answer(['10.0.0.1'])
    await Promise.all(all)
  })

  test('past a line of 512 a request keeps its place, which slows the intake', () => {
    const { hosts, asked } = resolver({ lookupsMax: 4096, freshLookupsMax: 128, timeoutMs: 60_000 })
    const waits = Array.from({ length: 700 }, (_, n) => hosts.ahead(`host-${n}.test`)?.catch(kindOf))
    expect(asked.length).toBe(128)
    expect(waits.filter((wait) => wait !== undefined).length).toBe(128 + 512)
  })

  test('a source that says nothing at all gets few questions, until it says something', async () => {
    const { hosts, asked, answer, clock } = resolver({ lookupsMax: 4096, timeoutMs: 60_000 })
    const askMany = (from: number) => {
      for (let n = from; n < from + 300; n++) hosts.ahead(`host-${n}.test`)?.catch(kindOf)
    }
    askMany(0)
    expect(asked.length).toBe(300)
    clock.ms = 2000
    askMany(300)
    expect(asked.length).toBe(300)
    answer(unknownName())
    await new Promise((resolve) => setImmediate(resolve))
    askMany(300)
    expect(asked.length).toBe(600)
  })
})

describe('nobody is asked for', () => {
  test.each([
    ['127.0.0.1', ['127.0.0.1']],
    ['::1', ['::1']],
    ['localhost', ['127.0.0.1', '::1']],
    ['a.LocalHost.', ['127.0.0.1', '::1']],
  ])('%s', async (host, addresses) => {
    const { hosts, asked } = resolver()
    expect(await hosts.of(host)).toEqual(addresses)
    expect(asked).toEqual([])
  })
})

test('the operating system is asked for others, and what it does not know is a failure', async () => {
  const hosts = new HostAddresses({ cacheSize: 10, timeoutMs: 20_000 })
  await expect(hosts.of('nowhere.invalid').catch(kindOf)).resolves.toBe('CannotResolveHostError')
})

test('DNS_SERVERS: names that are answered after 20 ms are asked for once each, and 128 of them at a time', async () => {
  const asked = new Set<string>()
  let [answered, waitingMost] = [0, 0]
  const answer = (name: string) => {
    waitingMost = Math.max(waitingMost, asked.add(name).size - answered)
    return { addresses: ['192.0.2.1'], ttl: 60 }
  }
  await using dns = await startDnsServer({ answer, delayMs: 20 })
  const settings = Settings.fromLayers({ command: { DNS_SERVERS: [dns.address] } })
  const hosts = HostAddresses.fromCrawler({ settings })
  const names = Array.from({ length: 500 }, (_, n) => `host-${n}.test`)
  const addressesOf = (name: string) => hosts.of(name).finally(() => answered++)
  for (let round = 0; round < 2; round++)
    expect(new Set((await Promise.all(names.map(addressesOf))).flat())).toEqual(new Set(['192.0.2.1']))
  expect(dns.asked.filter((question) => question.startsWith('A ')).toSorted()).toEqual(
    names.map((name) => `A ${name}`).toSorted(),
  )
  expect(waitingMost).toBeLessThanOrEqual(128)
})

test('DNS_SERVERS must be addresses', () => {
  const settings = Settings.fromLayers({ command: { DNS_SERVERS: ['dns.example'] } })
  expect(() => HostAddresses.fromCrawler({ settings })).toThrow(
    'DNS_SERVERS is ["dns.example"]; expected addresses',
  )
})

function unknownName(): Error {
  return Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' })
}

test('once closed, all who wait are told so at once, in the line too, and nothing is asked any more', async () => {
  const cancel = () => answer(Object.assign(new Error('queryA ECANCELLED'), { code: 'ECANCELLED' }))
  const { hosts, asked, answer } = resolver({ lookupsMax: 1, cancel })
  const failed = [hosts.of('a.test'), hosts.of('b.test')].map((host) => host.catch(String))
  hosts.close()
  failed.push(hosts.of('c.test').catch(String))
  expect(await Promise.all(failed)).toEqual([
    expect.stringContaining('a.test: queryA ECANCELLED'),
    expect.stringContaining('b.test: it is not looked up any more'),
    expect.stringContaining('c.test: it is not looked up any more'),
  ])
  expect(asked).toEqual(['a.test'])
})
