import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type DnsRecords, startDnsServer, tempDir } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { NameServers, nameServersOfMachine } from './name-servers.ts'

const asking = (server: string, asksIpv6 = false) =>
  new NameServers({
    servers: [server],
    asksIpv6,
    hostsFileNames: new Set(['pinned.test']),
    hasSearchDomains: false,
  })

const WEB: Record<string, DnsRecords | 'silent'> = {
  'a.test': { addresses: ['192.0.2.1', '192.0.2.2'], ttl: 300 },
  'both.test': { addresses: ['192.0.2.3', '2001:db8::3'], ttl: 30 },
  'six.test': { addresses: ['2001:db8::6'], ttl: 20 },
  'dead.test': 'silent',
}

test('addresses come with the time for which they hold', async () => {
  await using dns = await startDnsServer({ answer: (name) => WEB[name] })
  const found = await asking(dns.address).lookup('a.test')
  expect(found).toEqual({ addresses: ['192.0.2.1', '192.0.2.2'], ttlMs: 300_000 })
  expect(dns.asked).toEqual(['A a.test'])
})

test('a machine with IPv6 is told of both kinds, one without is told of IPv6 only when there is nothing else', async () => {
  await using dns = await startDnsServer({ answer: (name) => WEB[name] })
  const both = await asking(dns.address, true).lookup('both.test')
  expect(both).toEqual({ addresses: ['2001:db8::3', '192.0.2.3'], ttlMs: 30_000 })
  const four = await asking(dns.address).lookup('both.test')
  expect(four.addresses).toEqual(['192.0.2.3'])
  const six = await asking(dns.address).lookup('six.test')
  expect(six.addresses).toEqual(['2001:db8::6'])
})

test('a name that does not exist is an error', async () => {
  await using dns = await startDnsServer({ answer: (name) => WEB[name] })
  await expect(asking(dns.address, true).lookup('nowhere.test')).rejects.toThrow('ENOTFOUND')
  dns.asked.length = 0
  await expect(asking(dns.address).lookup('nowhere.test')).rejects.toThrow('ENOTFOUND')
  expect(dns.asked, 'nor is it asked for as one of IPv6 alone').toEqual(['A nowhere.test'])
})

test('an answer that is cut is asked for over TCP', async () => {
  await using dns = await startDnsServer({ answer: (name) => WEB[name], isCut: true })
  const found = await asking(dns.address).lookup('a.test')
  expect(found.addresses.length).toBe(2)
  expect(dns.asked).toEqual(['A a.test', 'A a.test'])
})

test('names that never answer hold up no other', async () => {
  await using dns = await startDnsServer({ answer: (name) => WEB[name] ?? 'silent', delayMs: 20 })
  const servers = asking(dns.address)
  const dead = Array.from({ length: 50 }, (_, n) => servers.lookup(`dead-${n}.test`).catch(() => 'dead'))
  expect((await servers.lookup('a.test')).addresses.length).toBe(2)
  expect(await Promise.race([...dead, Promise.resolve('waiting')])).toBe('waiting')
})

test('names of the hosts file and names without a dot are not asked of name servers', async () => {
  await using dns = await startDnsServer({ answer: (name) => WEB[name] })
  const servers = asking(dns.address)
  await Promise.allSettled(['Pinned.test.', 'localhost'].map((name) => servers.lookup(name)))
  expect(dns.asked).toEqual([])
})

describe.runIf(process.platform === 'linux')('the name servers of the machine', () => {
  test.each([
    ['are asked where files and they know all', 'hosts: files dns', 'nameserver 192.0.2.53', true],
    [
      'and beside names below .local',
      'hosts: files mdns4_minimal [NOTFOUND=return] dns # all',
      'nameserver ::1',
      true,
    ],
    ['are not asked where a service knows more', 'hosts: files ldap dns', 'nameserver 192.0.2.53', false],
    ['nor where names are not theirs', 'hosts: files', 'nameserver 192.0.2.53', false],
    ['nor when none is given', 'hosts: files dns', '# nameserver 192.0.2.53', false],
  ])('%s', async (_, nsswitch, resolv, isAsked) => {
    await using dir = await tempDir()
    await writeFile(join(dir.path, 'nsswitch.conf'), `${nsswitch}\n`)
    await writeFile(join(dir.path, 'resolv.conf'), `${resolv}\n`)
    expect(nameServersOfMachine(dir.path) !== undefined).toBe(isAsked)
  })
})

test('an answer that cannot be read fails its own name alone, however many are asked for beside it', async () => {
  await using dns = await startDnsServer({
    answer: (name) => (name.startsWith('bad') ? 'unreadable' : { addresses: ['192.0.2.7'] }),
    delayMs: 20,
  })
  const servers = asking(dns.address)
  const askFor = async (names: readonly string[]) => {
    const answers = await Promise.allSettled(names.map((name) => servers.lookup(name)))
    return names.filter((_, n) => answers[n]!.status === 'rejected')
  }
  const others = Array.from({ length: 50 }, (_, n) => `other-${n}.test`)
  expect(await askFor(['bad-1.test', ...others, 'bad-2.test'])).toEqual(['bad-1.test', 'bad-2.test'])
  dns.asked.length = 0
  expect(await askFor(['bad-1.test', ...others])).toEqual(['bad-1.test'])
  const again = dns.asked.filter((question) => !question.includes('bad'))
  expect(again.length, 'it is known for it').toBe(others.length)
  servers.close()
})
