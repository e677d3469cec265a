/**
 * Which line a request waits in: that of its host, of its registrable domain, or of its address (POLITENESS_GROUP_BY).
 * `meta.download_slot` goes before all of them.
 *
 * A line is chosen without waiting. So by address, names are looked up before their requests are queued: `prepare`, then
 * `slotOf`. Of several addresses the smallest counts, so that workers that ask at different moments agree. A name that
 * cannot be resolved in time is a group of its own until it is looked up again.
 */

import { ENTRY_BYTES, type Request, type Settings, waitAtMost } from '@webloom/core'
import { getDomain } from 'tldts'

export type SlotGrouping = 'host' | 'domain' | 'ip'

/** All addresses of a host name. Rejects for a name that has none. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>

/** Less than a lease of QUEUE_MODE=job is locked for: there the names of what was just taken are looked up. */
const RESOLVE_MS_MAX = 5000
const RESOLVED_KEPT_MS = 10 * 60_000
const UNRESOLVED_KEPT_MS = 60_000
// 2 ** 24, 16 MiB: some 70 000 names.
const NAMES_BYTES_MAX = 16_777_216
// The object and its address.
const RESOLVED_BYTES = 96

interface Resolved {
  readonly slot: string
  readonly untilMs: number
}

export class HostSlots {
  readonly #groupBy: SlotGrouping
  readonly #resolve: ResolveHost
  // The first entry is the one met longest ago.
  readonly #resolved = new Map<string, Resolved>()
  readonly #namesBytesMax: number
  #namesBytes = 0
  readonly #resolving = new Map<string, Promise<void>>()

  /** @param namesBytesMax how much memory names and their addresses may take; beyond it the one met longest ago is forgotten */
  constructor({
    groupBy,
    resolve,
    namesBytesMax = NAMES_BYTES_MAX,
  }: {
    groupBy: SlotGrouping
    resolve: ResolveHost
    namesBytesMax?: number
  }) {
    this.#groupBy = groupBy
    this.#resolve = resolve
    this.#namesBytesMax = namesBytesMax
  }

  static fromCrawler({ settings }: { settings: Settings }, resolve: ResolveHost): HostSlots {
    return new this({ groupBy: settings.get('POLITENESS_GROUP_BY'), resolve })
  }

  /** POLITENESS_GROUP_BY. */
  get groupBy(): SlotGrouping {
    return this.#groupBy
  }

  slotOf(request: Request): string {
    if (request.hasMeta) {
      const slot = request.meta.download_slot
      if (typeof slot === 'string') return slot
    }
    const host = hostName(request.url)
    if (this.#groupBy === 'host') return host
    if (this.#groupBy === 'domain') return domainOf(host)
    return addressIn(host) ?? this.#resolved.get(host)?.slot ?? host
  }

  /**
   * By address, looks up the names of which no address is known; takes RESOLVE_MS_MAX at the longest. Undefined when there is
   * nothing to wait for.
   */
  prepare(batch: readonly { readonly request: Request }[]): Promise<void> | undefined {
    return this.#groupBy === 'ip' ? this.#lookUpAll(batch) : undefined
  }

  async #lookUpAll(batch: readonly { readonly request: Request }[]): Promise<void> {
    const nowMs = performance.now()
    const names = new Set(batch.map(({ request }) => hostName(request.url)))
    const unknown = [...names].filter((name) => !addressIn(name) && !this.#isKnown(name, nowMs))
    if (unknown.length === 0) return
    this.#forgetOldest(names)
    await waitAtMost(RESOLVE_MS_MAX, Promise.all(unknown.map((name) => this.#lookUp(name))))
    // What is late must not make two lines of one name while it is pushed in several parts.
    for (const name of unknown) if (!this.#isKnown(name, nowMs)) this.#know(name, undefined)
  }

  #isKnown(name: string, nowMs: number): boolean {
    const known = this.#resolved.get(name)
    if (!known || known.untilMs <= nowMs) return false
    this.#resolved.delete(name)
    this.#resolved.set(name, known)
    return true
  }

  #lookUp(name: string): Promise<void> {
    const known = this.#resolving.get(name)
    if (known) return known
    const lookingUp = this.#resolve(name)
      .then(
        (addresses) => this.#know(name, [...addresses].sort()[0]),
        () => this.#know(name, undefined),
      )
      .finally(() => this.#resolving.delete(name))
    this.#resolving.set(name, lookingUp)
    return lookingUp
  }

  #know(name: string, address: string | undefined): void {
    const keptMs = address === undefined ? UNRESOLVED_KEPT_MS : RESOLVED_KEPT_MS
    if (!this.#resolved.delete(name)) this.#namesBytes += bytesOf(name)
    this.#resolved.set(name, { slot: address ?? name, untilMs: performance.now() + keptMs })
  }

  /** Makes room before names are added, not after: those of one batch are in use until it is queued, however many they are. */
  #forgetOldest(inUse: ReadonlySet<string>): void {
    for (const name of this.#resolved.keys()) {
      if (this.#namesBytes <= this.#namesBytesMax || inUse.has(name)) return
      this.#resolved.delete(name)
      this.#namesBytes -= bytesOf(name)
    }
  }
}

function bytesOf(name: string): number {
  return ENTRY_BYTES + RESOLVED_BYTES + name.length
}

/** Of politeness by host, which needs no addresses. */
export const SLOTS_BY_HOST = new HostSlots({ groupBy: 'host', resolve: async () => [] })

/** What was registered: `example.co.uk`, and under a private suffix `me.github.io`; what is none is its own. */
function domainOf(host: string): string {
  return getDomain(host, { allowPrivateDomains: true }) ?? host
}

function addressIn(host: string): string | undefined {
  if (host.startsWith('[')) return host.slice(1, -1)
  return /^\d+(\.\d+){3}$/.test(host) ? host : undefined
}

/** The host of a URL without user and port: what Scrapy's download slots are named by. */
function hostName(url: string): string {
  const start = url.indexOf('://') + 3
  let end = start
  while (end < url.length && url[end] !== '/' && url[end] !== '?' && url[end] !== '#') end++
  const authority = url.slice(
    url.lastIndexOf('@', end - 1) >= start ? url.lastIndexOf('@', end - 1) + 1 : start,
    end,
  )
  const port = authority.startsWith('[') ? authority.indexOf(']') + 1 : authority.indexOf(':')
  return (port > 0 ? authority.slice(0, port) : authority).toLowerCase()
}
