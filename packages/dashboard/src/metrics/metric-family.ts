/** Metrics as a page of text, in the format that who scrapes them asks for. */

import { Counter, Gauge, Histogram, Registry, type RegistryContentType } from 'prom-client'

export interface MetricValue {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** How many took at most so long, by the upper bound in seconds; of those that took longer the bound is Infinity. */
export interface Distribution {
  readonly labels: Readonly<Record<string, string>>
  readonly sum: number
  readonly counts: readonly (readonly [bound: number, count: number])[]
}

interface Named {
  readonly name: string
  readonly help: string
  readonly labels: readonly string[]
}

/** A metric and all of its series. */
export type MetricFamily = Named &
  (
    | { readonly type: 'counter' | 'gauge'; readonly values: readonly MetricValue[] }
    | { readonly type: 'histogram'; readonly values: readonly Distribution[] }
  )

/** One page of `/metrics`. */
export interface MetricsText {
  readonly contentType: string
  readonly text: string
}

/** Returns OpenMetrics where that is asked for, as Prometheus does, and its older text format otherwise. */
export async function metricsText(
  families: readonly MetricFamily[],
  accept: string | undefined,
): Promise<MetricsText> {
  // A registry for each scrape: two at one moment must not add to the same counters.
  const registry: AnyRegistry = new Registry<RegistryContentType>()
  const isOpen = accept?.includes('application/openmetrics-text')
  registry.setContentType(isOpen ? Registry.OPENMETRICS_CONTENT_TYPE : Registry.PROMETHEUS_CONTENT_TYPE)
  for (const family of joinedFamilies(families)) register(family, registry)
  return { contentType: registry.contentType, text: await registry.metrics() }
}

/** Returns each name once: crawls have the same metrics, and a page must have a metric in one place. */
function joinedFamilies(families: readonly MetricFamily[]): MetricFamily[] {
  const joined = new Map<string, MetricFamily>()
  for (const family of families) {
    const known = joined.get(family.name)
    joined.set(family.name, known ? withMore(known, family) : family)
  }
  return [...joined.values()]
}

function withMore(known: MetricFamily, more: MetricFamily): MetricFamily {
  if (known.type === 'histogram' && more.type === 'histogram')
    return { ...known, values: [...known.values, ...more.values] }
  if (known.type !== 'histogram' && more.type !== 'histogram')
    return { ...known, values: [...known.values, ...more.values] }
  throw new Error(`${known.name} is a ${known.type} and a ${more.type}`)
}

type AnyRegistry = Registry<RegistryContentType>

function register(family: MetricFamily, registry: AnyRegistry): void {
  const { name, help, labels } = family
  const config = { name, help, labelNames: [...labels], registers: [registry] }
  if (family.type === 'histogram') {
    new ReadHistogram(config, family.values)
    return
  }
  if (family.type === 'gauge') {
    const gauge = new Gauge(config)
    for (const { labels, value } of family.values) gauge.set({ ...labels }, value)
    return
  }
  const counter = new Counter(config)
  for (const { labels, value } of family.values) counter.inc({ ...labels }, value)
}

type HistogramConfig = ConstructorParameters<typeof Histogram<string>>[0]

/** A histogram whose counts were made elsewhere: prom-client's own one only observes. */
class ReadHistogram extends Histogram<string> {
  readonly #name: string
  readonly #help: string
  readonly #values: readonly Distribution[]

  constructor(config: HistogramConfig, values: readonly Distribution[]) {
    super(config)
    this.#name = config.name
    this.#help = config.help
    this.#values = values
  }

  // The registry asks this of a histogram, which its types leave out; `get` does, too.
  async getForPromString() {
    const values = this.#values.flatMap((one) => histogramLines(this.#name, one))
    return { name: this.#name, help: this.#help, type: 'histogram', values }
  }
}

function histogramLines(name: string, { labels, sum, counts }: Distribution) {
  let below = 0
  const buckets = counts.map(([bound, count]) => {
    below += count
    const le = bound === Number.POSITIVE_INFINITY ? '+Inf' : String(bound)
    return { labels: { ...labels, le }, value: below, metricName: `${name}_bucket` }
  })
  return [
    ...buckets,
    { labels: { ...labels }, value: sum, metricName: `${name}_sum` },
    { labels: { ...labels }, value: below, metricName: `${name}_count` },
  ]
}
