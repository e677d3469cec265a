import { BlockList, isIP, type SocketAddress } from 'node:net'

/** Why an address is not one of the public internet. Counted as `downloader/protection/<range>_address`. */
export type AddressRange =
  | 'metadata'
  | 'loopback'
  | 'private'
  | 'link_local'
  | 'shared'
  | 'multicast'
  | 'unspecified'
  | 'reserved'

// From the IANA registries of special-purpose addresses. The first range that fits counts.
const RANGES: readonly (readonly [AddressRange, ...string[]])[] = [
  [
    // Where clouds tell a machine who it is, and give it passwords.
    'metadata',
    '169.254.169.254', // AWS, Azure, Google, Oracle, DigitalOcean, OpenStack and others
    '169.254.170.2', // AWS, credentials of a container (ECS)
    '169.254.170.23', // AWS, credentials of a pod (EKS)
    '169.254.0.23', // Tencent
    '100.100.100.200', // Alibaba
    '168.63.129.16', // Azure, in the midst of public addresses
    '192.0.0.192', // Oracle, the older one
    'fd00:ec2::254', // AWS
    'fd00:ec2::23', // AWS, credentials of a pod
    'fd20:ce::254', // Google
    'fe80::a9fe:a9fe', // OpenStack
  ],
  ['unspecified', '0.0.0.0/8', '::'],
  ['loopback', '127.0.0.0/8', '::1'],
  // fc00::/7: unique local, IPv6's word for it. fec0::/10: what that was called before.
  ['private', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10', '64:ff9b:1::/48'],
  ['link_local', '169.254.0.0/16', 'fe80::/10'],
  // Carrier-grade NAT; also what VPNs such as Tailscale give their members.
  ['shared', '100.64.0.0/10'],
  ['multicast', '224.0.0.0/4', 'ff00::/8'],
  [
    'reserved',
    '192.0.0.0/24',
    '192.0.2.0/24', // for documentation, as are 198.51.100.0/24 and 203.0.113.0/24
    '192.88.99.0/24', // relays of 6to4
    '198.18.0.0/15', // for benchmarks
    '198.51.100.0/24',
    '203.0.113.0/24',
    '240.0.0.0/4',
    '2001::/23', // Teredo, which hides an IPv4 address in it, and other protocols
    '2001:db8::/32', // for documentation, as is 3fff::/20
    '3fff::/20',
  ],
]

const LISTS = RANGES.map(([range, ...networks]) => ({ range, list: listOf(networks) }))

// All IPv6 addresses that have been assigned. Addresses that only wrap an IPv4 address were unwrapped before.
const GLOBAL_IPV6 = listOf(['2000::/3'])

/** Returns the range of an address that no page from outside may lead to; undefined for one of the public internet. */
export function addressRange(address: SocketAddress): AddressRange | undefined {
  const found = LISTS.find(({ list }) => list.check(address))
  if (found) return found.range
  return address.family === 'ipv4' || GLOBAL_IPV6.check(address) ? undefined : 'reserved'
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}
