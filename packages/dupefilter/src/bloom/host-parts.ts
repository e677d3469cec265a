/**
 * A Bloom filter of a fixed size for each host (or domain: `bloom-partition.ts`): the Internet Archive's crawler had 32 KB
 * a site, Apoide 8 KB.
 *
 * A site then costs the memory of its filter, whether it has one page or thousands. A full filter takes new pages for seen
 * ones, while all other sites keep their error. Sizes and errors: `docs/dupefilters.md`.
 */

import { type DupeFilterDescription, type Logger, SettingsError, type StatsCollector } from '@webloom/core'
import type { BloomLayer } from '../bloom-sizing/bloom-parameters.ts'
import type { BloomPartition } from '../bloom-sizing/bloom-partition.ts'
import type { BloomOnFull } from './bloom-fullness.ts'
import { errorOf } from './bloom-record.ts'

/** What a filter with a Bloom filter for each host says of itself. */
export interface HostBloomDescription extends DupeFilterDescription {
  /** How many hosts have a filter; with BLOOMFILTER_PARTITION_BY domains, or the numbered filters in use. */
  readonly hosts: number
  /** How many hosts have more requests than BLOOMFILTER_ERROR_RATE allows. */
  readonly fullHosts: number
  /** How many requests raise a host's filter to that error. */
  readonly capacityPerHost: number
  /** The size of each filter. */
  readonly bitsPerHost: number
  /** How many bits each request sets. */
  readonly hashes: number
  /**
   * The host with the most bits set, and the probability that a new request there is taken for a seen one. Absent while
   * there is none.
   */
  readonly fullest?: FullestHost
  /** How many pages were taken for seen ones so far, on all hosts, by theory. */
  readonly pagesLost: number
  /** What should be changed, in words. */
  readonly warnings: readonly string[]
}

/** The host whose filter has the most bits set. */
export interface FullestHost {
  /** Its name, or its domain's with BLOOMFILTER_PARTITION_BY. */
  readonly host: string
  /** How many requests its filter has recorded. */
  readonly count: number
  /** The probability that a new request there is taken for a seen one. */
  readonly errorNow: number
}

/** Counts over all hosts. */
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

/** Counts hosts whose filter has become full, and logs the first one: there may be thousands. */
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
      'a host (or domain, see BLOOMFILTER_PARTITION_BY) has more requests than its Bloom filter holds at BLOOMFILTER_ERROR_RATE: from now on more of its new pages are mistaken for seen ones. Further such hosts are only counted (dupefilter/full_hosts)',
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
