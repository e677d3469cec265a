/**
 * A Bloom filter for each host (or domain: `bloom-partition.ts`), of a fixed size: the Internet Archive's crawler had 32 KB a site, Apoide 8 KB.
 *
 * A site then costs what its filter takes whether it has one page or thousands, and one that is full takes new pages for
 * seen ones while all others keep their error. Sizes and errors: `docs/dupefilters.md`.
 */

import { type DupeFilterDescription, type Logger, SettingsError, type StatsCollector } from '@webloom/core'
import type { BloomLayer } from '../bloom-sizing/bloom-parameters.ts'
import type { BloomPartition } from '../bloom-sizing/bloom-partition.ts'
import type { BloomOnFull } from './bloom-fullness.ts'
import { errorOf } from './bloom-record.ts'

export interface HostBloomDescription extends DupeFilterDescription {
  /** Hosts that have a filter; by BLOOMFILTER_PARTITION_BY domains, or those of the numbered filters that are in use. */
  readonly hosts: number
  /** Hosts that have more requests than BLOOMFILTER_ERROR_RATE allows. */
  readonly fullHosts: number
  /** How many requests bring a host's filter to that error. */
  readonly capacityPerHost: number
  readonly bitsPerHost: number
  readonly hashes: number
  /** The host with the most bits set, and how likely a new request there is taken for a seen one. Absent while there is none. */
  readonly fullest?: FullestHost
  /** How many pages were taken for seen ones so far, on all hosts, by theory. */
  readonly pagesLost: number
  readonly warnings: readonly string[]
}

export interface FullestHost {
  readonly host: string
  readonly count: number
  readonly errorNow: number
}

/** What is counted over all hosts. */
export interface HostCounts {
  readonly count: number
  readonly hosts: number
  readonly fullHosts: number
  readonly pagesLost: number
  readonly fullest?: { readonly host: string; readonly count: number; readonly set: number }
}

export function refuseAllButWarning(onFull: BloomOnFull, partitionBy: BloomPartition = 'host'): void {
  if (onFull === 'warn') return
  throw new SettingsError([
    `BLOOMFILTER_ON_FULL is ${onFull}, and BLOOMFILTER_PARTITION_BY is ${partitionBy}: each filter has a fixed size, and the crawl goes on with the others when it is full. Make it larger with BLOOMFILTER_BIT or BLOOMFILTER_CAPACITY`,
  ])
}

/** Counts hosts whose filter has become full, and says so of the first: there may be thousands. */
export class FullHosts {
  readonly #layer: BloomLayer
  readonly #stats: Pick<StatsCollector, 'inc'> | undefined
  readonly #logger: Logger
  #isSaid = false

  constructor(layer: BloomLayer, stats: Pick<StatsCollector, 'inc'> | undefined, logger: Logger) {
    this.#layer = layer
    this.#stats = stats
    this.#logger = logger
  }

  add(hosts: readonly string[]): void {
    if (hosts.length === 0) return
    this.#stats?.inc('dupefilter/full_hosts', hosts.length)
    if (this.#isSaid) return
    this.#isSaid = true
    const { capacity, errorRate } = this.#layer
    this.#logger.warn(
      { host: hosts[0], capacity, errorRate },
      'a host (or domain, see BLOOMFILTER_PARTITION_BY) has more requests than its Bloom filter holds at BLOOMFILTER_ERROR_RATE: more of its new pages are taken for seen ones from here on. Further such hosts are only counted (dupefilter/full_hosts)',
    )
  }
}

export function hostDescription(
  layer: BloomLayer,
  { fullest, ...counts }: HostCounts,
  name: Pick<HostBloomDescription, 'name' | 'fingerprinter' | 'urlRules'>,
): HostBloomDescription {
  const { hashes, capacity, errorRate } = layer
  return {
    ...name,
    owners: true,
    ...counts,
    capacityPerHost: capacity,
    bitsPerHost: layer.bits,
    hashes,
    ...(fullest && {
      fullest: {
        host: fullest.host,
        count: fullest.count,
        errorNow: errorOf([{ ...layer, inserted: fullest.count, set: fullest.set }]),
      },
    }),
    warnings:
      counts.fullHosts === 0
        ? []
        : [
            `${counts.fullHosts} of ${counts.hosts} hosts have more than the ${capacity} requests that their filter holds at an error of ${errorRate}; pagesLost tells what that has cost`,
          ],
  }
}
