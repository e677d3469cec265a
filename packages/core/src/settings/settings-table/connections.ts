import { TIMER_SECONDS_MAX } from '../../waiting/deadline.ts'
import type { UsedSetting } from '../setting-row.ts'

const TLS_VERSIONS = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const
const TLS_VERSION_SYNONYMS = {
  'TLSv1.0': 'TLSv1',
  'TLS1.0': 'TLSv1',
  'TLS1.1': 'TLSv1.1',
  'TLS1.2': 'TLSv1.2',
  'TLS1.3': 'TLSv1.3',
} as const

/** Where connections may lead, and how they are made. */
export const CONNECTION_SETTINGS = [
  {
    name: 'PRIVATE_ADDRESSES_ALLOWED',
    type: 'list',
    default: [],
    since: 'webloom',
    summary:
      'Addresses inside (loopback, private networks and so on) that may be fetched, beside the hosts of start requests: addresses, networks (`10.0.0.0/8`), hosts, `host:port`, or `*`. A cloud’s metadata service must be named by its exact address.',
  },
  {
    name: 'SEEDS_TRUSTED',
    type: 'bool',
    default: false,
    since: 'webloom',
    summary:
      'Start URLs from Redis may lead to private addresses, name any callback and set any `meta`, as those of `start()` may. false: they are treated as a stranger’s.',
  },
  {
    name: 'DNSCACHE_ENABLED',
    type: 'bool',
    default: true,
    since: 'scrapy',
    summary:
      'Remembers the addresses of hosts for as long as their name servers say, and hosts without an address for 5 s.',
  },
  {
    name: 'DNSCACHE_SIZE',
    type: 'int',
    unit: 'names',
    default: 10_000,
    min: 1,
    since: 'scrapy',
    summary:
      'Host names that are remembered, in 512 bytes each. When there are more, the name used longest ago is forgotten. A name with many addresses counts as several.',
  },
  {
    name: 'DNS_TIMEOUT',
    type: 'float',
    unit: 's',
    default: 60,
    min: 0.001,
    max: TIMER_SECONDS_MAX,
    since: 'scrapy',
    summary: 'Longest wait for the addresses of a host.',
  },
  {
    name: 'DNS_RESOLVER',
    type: 'enum',
    choices: ['auto', 'system'],
    synonyms: {
      'scrapy.resolver.CachingThreadedResolver': 'auto',
      'scrapy.resolver.CachingHostnameResolver': 'auto',
    },
    default: 'auto',
    since: 'scrapy',
    summary:
      'How host names are looked up: `auto` asks the machine’s name servers if they know all names that the machine knows, else the operating system; `system` always asks the operating system.',
  },
  {
    name: 'DNS_SERVERS',
    type: 'list',
    default: [],
    since: 'webloom',
    summary:
      'Name servers that `auto` asks instead of the machine’s: addresses, with or without a port. The hosts file still holds.',
  },
  {
    name: 'HTTP2_ENABLED',
    type: 'bool',
    default: true,
    since: 'webloom',
    summary: 'Uses HTTP/2 with the https sites that have it, and with https sites behind a proxy.',
  },
  {
    name: 'HTTPX_HTTP2_ENABLED',
    type: 'bool',
    default: true,
    aliasOf: 'HTTP2_ENABLED',
    since: 'scrapy',
    summary: 'The same as HTTP2_ENABLED (Scrapy: off).',
  },
  {
    name: 'DOWNLOAD_BIND_ADDRESS',
    type: 'string',
    nullable: true,
    default: null,
    since: 'scrapy',
    summary: 'IP address of this machine that connections come from; `meta.bindaddress` comes first.',
  },
  {
    name: 'DOWNLOAD_TLS_MIN_VERSION',
    type: 'enum',
    choices: TLS_VERSIONS,
    synonyms: TLS_VERSION_SYNONYMS,
    nullable: true,
    default: null,
    since: 'scrapy',
    summary: 'The oldest version of TLS that is accepted. null: Node’s default, TLSv1.2.',
  },
  {
    name: 'DOWNLOAD_TLS_MAX_VERSION',
    type: 'enum',
    choices: TLS_VERSIONS,
    synonyms: TLS_VERSION_SYNONYMS,
    nullable: true,
    default: null,
    since: 'scrapy',
    summary: 'The newest version of TLS that is accepted. null: Node’s default, TLSv1.3.',
  },
  {
    name: 'DOWNLOADER_CLIENT_TLS_METHOD',
    type: 'enum',
    choices: ['TLS', 'TLSv1', 'TLSv1.1', 'TLSv1.2'],
    synonyms: { 'TLSv1.0': 'TLSv1' },
    default: 'TLS',
    since: 'scrapy',
    summary: 'Another way to choose a single version of TLS; the two settings above override it. `TLS`: any.',
  },
  {
    name: 'DOWNLOADER_CLIENT_TLS_CIPHERS',
    type: 'string',
    default: 'DEFAULT',
    since: 'scrapy',
    summary:
      'Ciphers as OpenSSL names them. `DEFAULT`: Node’s. Servers that speak only TLSv1 need `DEFAULT@SECLEVEL=0`.',
  },
  {
    name: 'DOWNLOAD_CA_CERTIFICATES',
    type: 'string',
    nullable: true,
    default: null,
    since: 'webloom',
    summary:
      'With DOWNLOAD_VERIFY_CERTIFICATES: a file of certificates (PEM) that are trusted in addition to Node’s and NODE_EXTRA_CA_CERTS.',
  },
] as const satisfies readonly UsedSetting[]
