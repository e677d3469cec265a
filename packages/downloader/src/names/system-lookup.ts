import { lookup } from 'node:dns/promises'

// What one name may make us remember.
export const ADDRESSES_MAX = 16

/** What a lookup found: at least one address. */
export interface FoundAddresses {
  /** In the order in which to try them. */
  readonly addresses: readonly string[]
  /** How long the answer holds, milliseconds. Absent: the source did not tell. */
  readonly ttlMs?: number
}

/** Asks the operating system, as `getaddrinfo` does: its hosts file, its name servers and whatever else it knows. */
export async function systemLookup(hostname: string): Promise<FoundAddresses> {
  const found = await lookup(hostname, { all: true, order: 'verbatim' })
  return { addresses: found.slice(0, ADDRESSES_MAX).map(({ address }) => address) }
}
