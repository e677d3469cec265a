import { type BloomOptions, bloomParameters, sizeOf } from './bloom-parameters.ts'
import { type BloomSize, capacityAt, errorAt, lostUntil } from './bloom-theory.ts'
import { HOST_BIT_MAX, hostParameters } from './host-parameters.ts'

export interface PlanOptions {
  /** How many different requests the crawl will meet. */
  readonly urls: number
  /** The error at the end of the crawl. Default 1e-6. */
  readonly errorRate?: number
  /** The size of a filter by its bits, to see its error. Default 30 and 6. */
  readonly bit?: number
  readonly hashNumber?: number
  readonly blocks?: number
  /** How many hosts the URLs are spread over, for filters by host. Default: one for each thousand URLs. */
  readonly hosts?: number
}

/** The memory and error of one filter for so many URLs. */
export interface FilterPlan {
  /** The filter's name in DUPEFILTER_CLASS. */
  readonly filter: string
  /** What distinguishes this variant, in a few words and setting names. */
  readonly variant: string
  readonly bytes: number
  readonly bytesPerUrl: number
  /** The probability that the last request is taken for a seen one. */
  readonly errorAtEnd: number
  /** How many pages are lost that way, from the first request to the last. */
  readonly pagesLost: number
  readonly bits?: number
  readonly hashes?: number
  readonly blocks?: number
  /** How many requests raise the error to the wanted one. */
  readonly capacity?: number
  /** On Redis: DUPEFILTER_SHARDS by which each part has 8 MiB at most, so that a cluster moves it in a moment. */
  readonly shards?: number
  readonly warnings: readonly string[]
}

/** A Redis Cluster moves so much from one master to another in some 50 ms, and questions to that part wait meanwhile. */
export const PART_BYTES_MAX = 2 ** 23
/** DUPEFILTER_SHARDS has this limit. */
const SHARDS_MAX = 1024

/**
 * Bytes of Redis memory for a URL in a set, with its hash table, measured with 10^6 members on Redis 7.0.15
 * (benchmarks/dupefilter-bench.ts). Just after the table has doubled it is up to 8 bytes more.
 */
export const SET_BYTES_PER_URL = { hex: 88.4, binary20: 72.4, binary16: 72.4 } as const

// Measured in the same way. For the filter in memory it is the heap's own count; for the one that splits, the upper end.
const MEMORY_BYTES_PER_URL = 77
const KEY_BYTES_PER_URL = 208.8
const SPLITTABLE_BYTES_PER_URL = 32
const JAVASCRIPT_SET_MAX = 2 ** 24
const URLS_PER_HOST = 1000

/**
 * Returns a plan for every filter for this many URLs, the exact ones first. Throws SettingsError for a size that no filter
 * can have.
 */
export function planFilters(options: PlanOptions): FilterPlan[] {
  const { urls, errorRate = 1e-6, bit = 30, hashNumber = 6, blocks } = options
  const sized = `BLOOMFILTER_CAPACITY=${urls} BLOOMFILTER_ERROR_RATE=${errorRate}`
  const bloom = bloomPlan(urls, errorRate, sized, { capacity: urls, errorRate })
  return [
    memoryPlan(urls),
    inShards(setPlan(urls, 'redis-set', '40 hex digits, as scrapy-redis', SET_BYTES_PER_URL.hex)),
    inShards(setPlan(urls, 'redis-set', '16 or 20 raw bytes', SET_BYTES_PER_URL.binary16)),
    inShards(setPlan(urls, 'redis-key', 'forgets by itself, DUPEFILTER_TTL', KEY_BYTES_PER_URL)),
    inShards(bloom),
    { ...bloom, filter: 'memory-bloom' },
    inShards(countingPlan(bloom)),
    inShards(splittablePlan(urls, errorRate)),
    inShards(hostPlan(options)),
    inShards(
      bloomPlan(
        urls,
        errorRate,
        `BLOOMFILTER_BIT=${bit} BLOOMFILTER_HASH_NUMBER=${hashNumber}${blocks === undefined ? '' : ` BLOOMFILTER_BLOCK_NUM=${blocks}`}`,
        { bit, hashNumber, ...(blocks !== undefined && { blockNum: blocks }) },
      ),
    ),
  ]
}

function inShards(plan: FilterPlan): FilterPlan {
  const shards = Math.ceil(plan.bytes / PART_BYTES_MAX)
  return shards > 1 && shards <= SHARDS_MAX ? { ...plan, shards } : plan
}

function setPlan(urls: number, filter: string, variant: string, bytesPerUrl: number): FilterPlan {
  const exact = { errorAtEnd: 0, pagesLost: 0, warnings: [] }
  return { filter, variant, bytes: Math.round(urls * bytesPerUrl), bytesPerUrl, ...exact }
}

function memoryPlan(urls: number): FilterPlan {
  const plan = setPlan(urls, 'memory', 'in one process', MEMORY_BYTES_PER_URL)
  const warnings =
    urls > JAVASCRIPT_SET_MAX ? [`a JavaScript set ends at ${JAVASCRIPT_SET_MAX}; use memory-bloom`] : []
  return { ...plan, warnings }
}

/** A counting filter has four bits at each place, so that it can forget. */
function countingPlan(bloom: FilterPlan): FilterPlan {
  const { bytes, bytesPerUrl } = bloom
  return { ...bloom, filter: 'counting-bloom', bytes: bytes * 4, bytesPerUrl: bytesPerUrl * 4 }
}

/** A splittable filter keeps its error however many requests come; BLOOMFILTER_CAPACITY is only its first size. */
function splittablePlan(urls: number, errorRate: number): FilterPlan {
  const plan = setPlan(
    urls,
    'splittable-bloom',
    `BLOOMFILTER_ERROR_RATE=${errorRate}`,
    SPLITTABLE_BYTES_PER_URL,
  )
  return { ...plan, errorAtEnd: errorRate, pagesLost: urls * errorRate }
}

/** A small filter for each host. It has its usual size unless `bit` is one that a host's filter may have. */
function hostPlan({ urls, errorRate = 1e-6, bit, hashNumber, hosts }: PlanOptions): FilterPlan {
  const count = Math.max(1, Math.min(urls, Math.round(hosts ?? urls / URLS_PER_HOST)))
  const layerOf = (own: BloomOptions) =>
    hostParameters({ errorRate, ...own, ...(hashNumber && { hashNumber }) }).layer
  const layer = layerOf(bit !== undefined && bit <= HOST_BIT_MAX ? { bit } : {})
  const [size, each] = [sizeOf(layer), urls / count]
  const bytes = Math.ceil(layer.bits / 8) * count
  const errorAtEnd = errorAt(size, each)
  return {
    filter: 'redis-bloom',
    variant: `BLOOMFILTER_PARTITION_BY=host, ${count} hosts of ${Math.ceil(each)} URLs each (--hosts); memory-bloom likewise`,
    bytes,
    bytesPerUrl: bytes / urls,
    errorAtEnd,
    pagesLost: count * lostUntil(size, each),
    bits: size.bits * count,
    hashes: layer.hashes,
    blocks: count,
    capacity: layer.capacity * count,
    warnings:
      errorAtEnd <= errorRate
        ? []
        : [
            `each host's filter holds ${layer.capacity} URLs at an error of ${errorRate}; for ${Math.ceil(each)} use BLOOMFILTER_CAPACITY=${Math.ceil(each)}`,
          ],
  }
}

function bloomPlan(urls: number, errorRate: number, variant: string, options: BloomOptions): FilterPlan {
  const { layer } = bloomParameters(options)
  const size = sizeOf(layer)
  const bytes = Math.ceil(layer.bits / 8) * layer.blocks
  return {
    filter: 'redis-bloom',
    variant,
    bytes,
    bytesPerUrl: bytes / urls,
    errorAtEnd: errorAt(size, urls),
    pagesLost: lostUntil(size, urls),
    bits: size.bits,
    hashes: layer.hashes,
    blocks: layer.blocks,
    capacity: capacityAt(size, errorRate),
    warnings: warningsOf(size, urls, errorRate),
  }
}

function warningsOf(size: BloomSize, urls: number, errorRate: number): string[] {
  const { bits, hashes } = size
  const warnings: string[] = []
  if (bits <= urls * hashes) {
    warnings.push(
      `${bits} bits are no more than ${urls} URLs of ${hashes} hashes set: most bits will be set, and most pages lost`,
    )
  }
  if (errorAt(size, urls) > errorRate) {
    warnings.push(
      `holds ${capacityAt(size, errorRate)} URLs at an error of ${errorRate}; for ${urls} use BLOOMFILTER_CAPACITY=${urls}`,
    )
  }
  return warnings
}
