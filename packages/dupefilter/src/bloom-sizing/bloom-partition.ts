/**
 * Which of several small Bloom filters a request belongs to (BLOOMFILTER_PARTITION_BY): that of its host, that of its
 * registrable domain, or, as in Apoide, one of a fixed number that its domain's hash chooses. With the last choice the
 * memory is known from the start, but several sites share a filter.
 */

import { hash } from 'node:crypto'
import { type Request, SettingsError } from '@webloom/core'
import { getDomain } from 'tldts'

/** What has a Bloom filter of its own: BLOOMFILTER_PARTITION_BY. */
export type BloomPartition = 'host' | 'domain' | 'domain-hash'

/** How requests are parted among Bloom filters. */
export interface BloomPartitionOptions {
  /** BLOOMFILTER_PARTITION_BY. Default host. */
  readonly partitionBy?: BloomPartition
  /** BLOOMFILTER_PARTITIONS: how many filters there are with `domain-hash`. Default 1024. */
  readonly partitions?: number
}

export const PARTITIONS_DEFAULT = 1024
/** With 32 KiB each, 2 GiB. */
const PARTITIONS_MAX = 2 ** 16

/** What a filter notes in its record. Absent in records of earlier releases, which counted a host with each of its ports. */
export type PartitionNote = 'hostname' | 'domain' | `domain-hash/${number}`

export function partitionNote({ partitionBy = 'host', partitions }: BloomPartitionOptions): PartitionNote {
  if (partitionBy === 'host') return 'hostname'
  if (partitionBy === 'domain') return 'domain'
  return `domain-hash/${checked(partitions ?? PARTITIONS_DEFAULT)}`
}

/** Returns the name of the filter that a request belongs to. */
export function partOf({ url }: Request, note: PartitionNote | undefined): string {
  const { host, hostname } = new URL(url)
  if (note === undefined) return host
  if (note === 'hostname') return hostname
  const domain = domainOf(hostname)
  if (note === 'domain') return domain
  const partitions = Number(note.slice(note.indexOf('/') + 1))
  return String(Number.parseInt(hash('sha1', domain).slice(0, 12), 16) % partitions)
}

/**
 * Returns the registered domain: `example.co.uk`, and under a private suffix `me.github.io`. A name without one is returned
 * as it is.
 */
function domainOf(hostname: string): string {
  return getDomain(hostname, { allowPrivateDomains: true }) ?? hostname
}

function checked(partitions: number): number {
  if (Number.isInteger(partitions) && partitions >= 1 && partitions <= PARTITIONS_MAX) return partitions
  throw new SettingsError([
    `BLOOMFILTER_PARTITIONS is ${partitions}; expected a whole number from 1 to ${PARTITIONS_MAX}: that many Bloom filters there are with BLOOMFILTER_PARTITION_BY=domain-hash`,
  ])
}
