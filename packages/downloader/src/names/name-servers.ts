/**
 * Looks names up at name servers directly, over sockets: as many at once as are asked for, where the operating system's
 * lookup takes one of a few threads for each. The answer tells how long it holds.
 *
 *     a name without a dot, of the hosts file, or below `.local`    the operating system is asked
 *     a name that the servers do not know, and resolv.conf has
 *     search domains                                                the operating system is asked next
 *     all others                                                    the name servers alone
 *
 * Not asked for itself: which kinds of sources the machine has beside files and name servers. With one of these
 * (`resolve`, LDAP) `nameServersOfMachine` gives none, and all names are the operating system's.
 */

import type { RecordWithTtl } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { ENTRY_BYTES, RecentBytes } from '@webloom/core'
import { ADDRESSES_MAX, type FoundAddresses, systemLookup } from './system-lookup.ts'

export interface NameServersOptions {
  /** `address` or `address:port`. Absent: those of the machine. */
  readonly servers?: readonly string[]
  /** Whether IPv6 addresses are asked for in any case. Without it only of names that have no IPv4 address. */
  readonly asksIpv6: boolean
  /** Names of the hosts file, in lower case. */
  readonly hostsFileNames: ReadonlySet<string>
  /** Whether the operating system is asked about names that the servers do not know. */
  readonly hasSearchDomains: boolean
}

// A lost packet is asked for again after a second at the most, then each time after up to twice as long. The resolver waits less,
// 250 ms at least, where the server's answers come faster: a name without an answer is given up after 9 to 63 s with one
// server. Four tries would be over after two, and a server may take longer to find a name.
const FIRST_TRY_MS = 1000
const TRIES = 6
// Of a name whose answer cannot be read: such an answer is tried again, too.
const TRIES_ALONE = 3
const UNREADABLE_BYTES = 256 * 1024

// Sources of nsswitch.conf whose answers are those of files, of name servers, or of names that the system is asked about.
const KNOWN_SOURCES = new Set([
  'files',
  'dns',
  'myhostname',
  'mdns_minimal',
  'mdns4_minimal',
  'mdns6_minimal',
])

// Link-local and unique local addresses (RFC 4291, RFC 4193), from which the IPv6 web is out of reach. The operating system, too,
// then puts IPv4 first (RFC 6724).
const LOCAL_IPV6 = /^f(?:e[89ab]|[cd])/i

export class NameServers {
  readonly #resolver: Resolver
  /** Those that ask for one name each. */
  readonly #alone = new Set<Resolver>()
  /** Names of which the answer could not be read. */
  readonly #unreadable = new RecentBytes<string, true>(UNREADABLE_BYTES)
  readonly #options: NameServersOptions
  #isClosed = false

  /** Throws when one of the servers is not an address. */
  constructor(options: NameServersOptions) {
    this.#options = options
    this.#resolver = newResolver(options.servers, TRIES)
  }

  /** Rejects with the error of `node:dns` when the name has no address, or no server answers. */
  lookup(hostname: string): Promise<FoundAddresses> {
    if (this.#isOfTheSystem(hostname)) return systemLookup(hostname)
    const asked = this.#options.asksIpv6 ? this.#askForBoth(hostname) : this.#askFor4First(hostname)
    if (!this.#options.hasSearchDomains) return asked
    return asked.catch((error) => {
      if (isUnknownName(error)) return systemLookup(hostname)
      throw error
    })
  }

  /** Ends the questions that are under way, each with the error ECANCELLED. Until then they keep a process from ending, up to a minute. */
  close(): void {
    this.#isClosed = true
    for (const resolver of [this.#resolver, ...this.#alone]) resolver.cancel()
  }

  #isOfTheSystem(hostname: string): boolean {
    const lower = hostname.toLowerCase()
    const name = lower.endsWith('.') ? lower.slice(0, -1) : lower
    return !name.includes('.') || name.endsWith('.local') || this.#options.hostsFileNames.has(name)
  }

  #askFor4First(hostname: string): Promise<FoundAddresses> {
    return this.#askFor4(hostname).then(found, async (error: NodeJS.ErrnoException) => {
      // ENOTFOUND means that the name has no addresses of either kind.
      if (error.code === 'ENODATA') return found(await this.#askFor6(hostname))
      throw error
    })
  }

  /** IPv6 first, as the operating system orders them. Of a name with one kind the other is not waited for in vain: a server answers at once that there is none. */
  async #askForBoth(hostname: string): Promise<FoundAddresses> {
    const [six, four] = await Promise.allSettled([this.#askFor6(hostname), this.#askFor4(hostname)])
    const records = [six, four].flatMap((kind) => (kind.status === 'fulfilled' ? kind.value : []))
    if (records.length === 0 && four.status === 'rejected') throw four.reason
    return found(records)
  }

  #askFor4(hostname: string): Promise<RecordWithTtl[]> {
    return this.#answerTo(hostname, (resolver) => resolver.resolve4(hostname, { ttl: true }))
  }

  #askFor6(hostname: string): Promise<RecordWithTtl[]> {
    return this.#answerTo(hostname, (resolver) => resolver.resolve6(hostname, { ttl: true }))
  }

  /** An answer that cannot be read fails all questions that the resolver has under way: each of them is asked again by one of its own. */
  async #answerTo<T>(hostname: string, ask: (resolver: Resolver) => Promise<T>): Promise<T> {
    if (this.#unreadable.get(hostname)) return this.#askedAlone(ask)
    try {
      return await ask(this.#resolver)
    } catch (error) {
      if (!isUnreadable(error) || this.#isClosed) throw error
      return await this.#askedAlone(ask).catch((again) => {
        if (isUnreadable(again)) this.#unreadable.set(hostname, true, ENTRY_BYTES + hostname.length)
        throw again
      })
    }
  }

  async #askedAlone<T>(ask: (resolver: Resolver) => Promise<T>): Promise<T> {
    const resolver = newResolver(this.#options.servers, TRIES_ALONE)
    this.#alone.add(resolver)
    try {
      return await ask(resolver)
    } finally {
      this.#alone.delete(resolver)
    }
  }
}

/**
 * Returns what asks the machine's name servers; undefined where the operating system may know more than they: on another
 * system than Linux, without resolv.conf, or with further sources in nsswitch.conf.
 *
 * @param etc the folder of the three files
 */
export function nameServersOfMachine(etc = '/etc'): NameServers | undefined {
  if (process.platform !== 'linux') return undefined
  const resolv = linesOf(`${etc}/resolv.conf`)
  if (!resolv.some((line) => /^nameserver\s/.test(line))) return undefined
  const sources =
    linesOf(`${etc}/nsswitch.conf`).find((line) => line.startsWith('hosts:')) ?? 'hosts: files dns'
  const named = sources
    .slice('hosts:'.length)
    .replace(/\[.*?\]/g, ' ')
    .trim()
    .split(/\s+/)
  if (!named.includes('dns') || !named.every((source) => KNOWN_SOURCES.has(source))) return undefined
  const hasSearchDomains = resolv.some((line) => /^(?:search|domain)\s+[^\s.]/.test(line))
  return new NameServers({ ...ofMachine(etc), hasSearchDomains })
}

/** Returns what asks these servers alone; the hosts file holds all the same. */
export function nameServersAt(servers: readonly string[]): NameServers {
  return new NameServers({ ...ofMachine('/etc'), servers, hasSearchDomains: false })
}

function ofMachine(etc: string): Pick<NameServersOptions, 'asksIpv6' | 'hostsFileNames'> {
  const names = linesOf(`${etc}/hosts`).flatMap((line) => line.toLowerCase().split(/\s+/).slice(1))
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const asksIpv6 = addresses.some(
    ({ family, internal, address }) => family === 'IPv6' && !internal && !LOCAL_IPV6.test(address),
  )
  return { asksIpv6, hostsFileNames: new Set(names) }
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .map((line) => line.replace(/#.*/, '').trim())
  } catch {
    // Each of the files may be absent; what follows from that is the caller's.
    return []
  }
}

/** Returns whether the error is an answer: there is no such name, or none with such an address. */
export function isUnknownName(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOTFOUND' || code === 'ENODATA'
}

/** Returns whether an answer came that is none, of this name or of another one that was asked for beside it. */
function isUnreadable(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EBADRESP'
}

function newResolver(servers: readonly string[] | undefined, tries: number): Resolver {
  const resolver = new Resolver({ timeout: FIRST_TRY_MS, tries })
  if (servers) resolver.setServers(servers)
  return resolver
}

/** Returns whether the server did not look: it is asked for too much at once, or never answers for such names. */
export function isRefusal(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EREFUSED'
}

function found(records: readonly RecordWithTtl[]): FoundAddresses {
  return {
    addresses: records.slice(0, ADDRESSES_MAX).map(({ address }) => address),
    ttlMs: Math.min(...records.map(({ ttl }) => ttl)) * 1000,
  }
}
