import type { DupeFilterDescription } from '@webloom/core'

/** The description of a filter in several parts, and of each of them. */
export interface ShardedDescription extends DupeFilterDescription {
  /** The parts in their order, each with how many requests it has recorded, by its server; `#07` where one server or cluster has all. */
  readonly shards: readonly { readonly server: string; readonly count: number }[]
}

type Figure = (values: readonly number[]) => number

const sum: Figure = (values) => values.reduce((a, b) => a + b, 0)
// A fingerprint chooses its part at random, so a probability for a request is the average over the parts.
const mean: Figure = (values) => sum(values) / values.length
const most: Figure = (values) => Math.max(...values)

/** How a figure of all parts is computed. Figures that are not listed, such as settings, are those of the first part. */
const TOGETHER: Readonly<Record<string, Figure>> = {
  count: sum,
  capacity: sum,
  inserted: sum,
  pagesLost: sum,
  bits: sum,
  fullHosts: sum,
  leaves: sum,
  splitting: sum,
  fillRatio: mean,
  errorNow: mean,
  hosts: most,
  layers: most,
  depth: most,
}

/** Returns the description of one filter, made of those of all parts, which are of one kind. */
export function shardedDescription<Description extends DupeFilterDescription>(
  descriptions: readonly Description[],
  servers: readonly string[],
): Description & ShardedDescription {
  const figures = (descriptions as readonly object[]).map(
    (description) => new Map<string, unknown>(Object.entries(description)),
  )
  const together: Record<string, unknown> = {}
  for (const [name, figure] of Object.entries(TOGETHER)) {
    const values = figures.map((all) => all.get(name)).filter((value) => typeof value === 'number')
    if (values.length > 0) together[name] = figure(values)
  }
  const warnings = figures.flatMap((all, index) => {
    const own = all.get('warnings')
    return Array.isArray(own) ? own.map((text) => ({ text: String(text), server: servers[index]! })) : []
  })
  return {
    ...descriptions[0]!,
    ...together,
    ...(figures[0]!.has('warnings') && { warnings: warningsOfParts(warnings) }),
    shards: servers.map((server, index) => ({ server, count: descriptions[index]!.count })),
  }
}

/** What several parts warn of is said once, with the first of them. */
function warningsOfParts(warnings: readonly { readonly text: string; readonly server: string }[]): string[] {
  return [...Map.groupBy(warnings, ({ text }) => text)].map(([text, parts]) => {
    const more = parts.length > 1 ? ` and ${parts.length - 1} more` : ''
    return `${parts[0]!.server}${more}: ${text}`
  })
}
