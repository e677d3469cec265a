import {
  IgnoreRequest,
  MemoryStatsCollector,
  SettingsError,
  type StartHosts,
  silentLogger,
} from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { AddressGuard } from './address-guard.ts'
import { addressRange } from './address-range.ts'
import { AllowedAddresses } from './allowed-addresses.ts'
import { ipAddress } from './ip-network.ts'

const startHosts = (...hosts: string[]): StartHosts => {
  const outside = new Set<string>()
  return {
    add: async () => {},
    has: async (host) => hosts.includes(host) && !outside.has(host),
    notePublic: async (host) => void outside.add(host),
  }
}

interface Guarded {
  readonly allowed?: string[]
  readonly starts?: string[]
  /** Those of a crawl that other workers share. */
  readonly shared?: StartHosts
}

function guarding({ allowed = [], starts = [], shared = startHosts(...starts) }: Guarded = {}) {
  const stats = new MemoryStatsCollector()
  const lines: object[] = []
  const guard = new AddressGuard({
    allowed: new AllowedAddresses(allowed),
    startHosts: shared,
    stats,
    logger: { ...silentLogger, warn: (line) => void lines.push(line as object) },
  })
  const permits = (host: string, ...addresses: string[]) =>
    guard.permitted(host, addresses).catch((error: unknown) => {
      if (error instanceof IgnoreRequest && error.code === 'WL_ADDRESS_REFUSED') return 'refused'
      throw error
    })
  return { guard, permits, stats, lines }
}

describe('an address', () => {
  test.each([
    ['1.1.1.1', undefined],
    ['9.255.255.255', undefined],
    ['10.0.0.0', 'private'],
    ['10.255.255.255', 'private'],
    ['11.0.0.0', undefined],
    ['100.63.255.255', undefined],
    ['100.64.0.0', 'shared'],
    ['100.127.255.255', 'shared'],
    ['100.128.0.0', undefined],
    ['126.255.255.255', undefined],
    ['127.255.255.255', 'loopback'],
    ['128.0.0.0', undefined],
    ['169.253.255.255', undefined],
    ['169.254.0.0', 'link_local'],
    ['169.254.169.254', 'metadata'],
    ['169.255.0.0', undefined],
    ['172.15.255.255', undefined],
    ['172.16.0.0', 'private'],
    ['172.31.255.255', 'private'],
    ['172.32.0.0', undefined],
    ['192.0.0.255', 'reserved'],
    ['192.0.1.0', undefined],
    ['192.167.255.255', undefined],
    ['192.168.255.255', 'private'],
    ['192.169.0.0', undefined],
    ['198.17.255.255', undefined],
    ['198.19.255.255', 'reserved'],
    ['198.20.0.0', undefined],
    ['223.255.255.255', undefined],
    ['224.0.0.0', 'multicast'],
    ['240.0.0.0', 'reserved'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::2', 'reserved'],
    ['::ffff:8.8.8.8', undefined],
    ['::ffff:192.168.1.1', 'private'],
    ['64:ff9b::808:808', undefined],
    ['64:ff9b::a00:1', 'private'],
    ['64:ff9b:1::808:808', 'private'],
    ['2002:808:808::1', undefined],
    ['2002:a00:1::1', 'private'],
    ['2001:1ff:ffff::1', 'reserved'],
    ['2001:200::1', undefined],
    ['2001:db8::1', 'reserved'],
    ['2606:4700::1111', undefined],
    ['3fff:fff::1', 'reserved'],
    ['4000::1', 'reserved'],
    ['fbff::1', 'reserved'],
    ['fc00::1', 'private'],
    ['fdff::1', 'private'],
    ['fe00::1', 'reserved'],
    ['fe80::1%eth0', 'link_local'],
    ['febf::1', 'link_local'],
    ['ff02::1', 'multicast'],
  ])('%s is %s', (address, range) => {
    expect(addressRange(ipAddress(address)!)).toBe(range)
  })

  test.each(['', 'a.example', '1.2.3', '01.2.3.4.5', '1::2::3', '[::1]'])('%o is none', (text) => {
    expect(ipAddress(text)).toBe(undefined)
  })
})

describe('the guard', () => {
  test('lets the public internet through', async () => {
    expect(await guarding().permits('a.example:443', '93.184.215.14', '2606:4700::1')).toEqual([
      '93.184.215.14',
      '2606:4700::1',
    ])
  })

  test('of a host with addresses of both kinds uses the public ones', async () => {
    const { permits } = guarding({ allowed: ['10.0.0.0/8'], starts: ['a.example:80'] })
    expect(await permits('a.example:80', '10.0.0.1', '93.184.215.14', '127.0.0.1')).toEqual(['93.184.215.14'])
  })

  test('refuses, counts by reason, and says once how it could be let in', async () => {
    const { permits, stats, lines } = guarding()
    expect(await permits('a.example:80', '10.0.0.1')).toBe('refused')
    expect(await permits('a.example:80', '10.0.0.2')).toBe('refused')
    expect(await permits('169.254.169.254:80', '169.254.169.254')).toBe('refused')
    expect(stats.snapshot()).toEqual({
      'downloader/protection/private_address': 2,
      'downloader/protection/metadata_address': 1,
    })
    expect(lines).toMatchObject([
      { host: 'a.example:80', address: '10.0.0.1', allowedBy: 'PRIVATE_ADDRESSES_ALLOWED=a.example:80' },
      { address: '169.254.169.254', allowedBy: 'PRIVATE_ADDRESSES_ALLOWED=169.254.169.254' },
    ])
  })

  test('lets the start hosts in, at their port only', async () => {
    const { permits } = guarding({ starts: ['intranet.example:8080'] })
    expect(await permits('intranet.example:8080', '10.0.0.1')).toEqual(['10.0.0.1'])
    expect(await permits('intranet.example:80', '10.0.0.1')).toBe('refused')
    expect(await permits('10.0.0.1:8080', '10.0.0.1')).toBe('refused')
  })

  test('a start host that had a public address and now has one inside rebinds its name', async () => {
    const { permits } = guarding({ starts: ['a.example:80'] })
    expect(await permits('a.example:80', '93.184.215.14')).toEqual(['93.184.215.14'])
    expect(await permits('a.example:80', '127.0.0.1')).toBe('refused')
  })

  test('metadata is for no start host, and for no network that happens to hold it', async () => {
    const { permits } = guarding({
      starts: ['169.254.169.254:80', 'metadata.google.internal:80'],
      allowed: ['*', '169.254.0.0/16', 'metadata.google.internal'],
    })
    expect(await permits('169.254.169.254:80', '169.254.169.254')).toBe('refused')
    expect(await permits('metadata.google.internal:80', '169.254.169.254')).toBe('refused')
    expect(await permits('metadata.google.internal:80', '169.254.169.254', '10.0.0.1')).toEqual(['10.0.0.1'])
    const { permits: named } = guarding({ allowed: ['169.254.169.254'] })
    expect(await named('metadata.google.internal:80', '169.254.169.254')).toEqual(['169.254.169.254'])
  })
})

test.each(['http://constructor/', 'http://__proto__/', 'http://a.example/'])(
  'through a proxy the name of %s is the proxy’s business',
  async (origin) => {
    await guarding().guard.permittedByProxy(origin)
  },
)

describe('PRIVATE_ADDRESSES_ALLOWED', () => {
  test.each([
    ['*', 'a.example:80', '127.0.0.1', true],
    ['10.0.0.0/8', 'a.example:80', '10.9.9.9', true],
    ['10.0.0.0/8', 'a.example:80', '11.0.0.1', false],
    ['10.0.0.0/9', 'a.example:80', '10.128.0.1', false],
    ['0.0.0.0/0', 'a.example:80', '127.0.0.1', true],
    ['0.0.0.0/0', 'a.example:80', '::1', false],
    ['127.0.0.1', '127.0.0.1:80', '127.0.0.1', true],
    ['127.0.0.1', '[::ffff:7f00:1]:80', '::ffff:127.0.0.1', true],
    ['127.1', 'localhost:80', '127.0.0.1', true],
    ['127.0.0.1:8080', 'localhost:8080', '127.0.0.1', true],
    ['127.0.0.1:8080', 'localhost:80', '127.0.0.1', false],
    ['::1', '[::1]:80', '::1', true],
    ['[::1]', '[::1]:80', '::1', true],
    ['[::1]:81', '[::1]:80', '::1', false],
    ['fd00::/8', 'a.example:80', 'fd12::1', true],
    ['Intranet.Example', 'intranet.example:8080', '10.0.0.1', true],
    ['intranet.example.', 'intranet.example:8080', '10.0.0.1', true],
    ['intranet.example:8080', 'intranet.example:8080', '10.0.0.1', true],
    ['intranet.example:80', 'intranet.example:8080', '10.0.0.1', false],
    ['intranet.example', 'www.intranet.example:80', '10.0.0.1', false],
  ])('%s lets %s at %s in: %s', (entry, host, address, outcome) => {
    expect(new AllowedAddresses([entry]).allows(ipAddress(address)!, host, false)).toBe(outcome)
  })

  test('all wrong entries are told at once', () => {
    const wrong = () => new AllowedAddresses(['10.0.0.0/33', '10.0.0.1', 'http://x/', ''])
    expect(wrong).toThrow(SettingsError)
    for (const index of [0, 2, 3]) expect(wrong).toThrow(`PRIVATE_ADDRESSES_ALLOWED[${index}]`)
    expect(wrong).not.toThrow('ALLOWED[1]')
  })

  test.each(['2002::/16', '2002:a00::/24', '64:ff9b::/96', '::ffff:10.0.0.0/8'])(
    'the network %s, whose addresses wrap those of IPv4, is not taken for another',
    (network) => {
      expect(() => new AllowedAddresses([network])).toThrow(
        /wrap IPv4 addresses name the network of the latter/,
      )
    },
  )
})

test('a start host that one worker found outside is let inside by no other', async () => {
  const shared = startHosts('rebinds.example:80')
  const [one, other] = [guarding({ shared }), guarding({ shared })]
  expect(await one.permits('rebinds.example:80', '93.184.216.34')).toEqual(['93.184.216.34'])
  expect(await other.permits('rebinds.example:80', '10.0.0.1')).toBe('refused')
})
