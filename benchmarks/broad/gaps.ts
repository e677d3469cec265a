/** Times between two requests to one host. */

export interface Visit {
  readonly host: number
  readonly atMs: number
}

export interface Gaps {
  readonly count: number
  readonly smallestMs: number
  /** Of those that are asked about, how many are shorter. */
  readonly shorter: readonly { readonly thanMs: number; readonly count: number }[]
  /** How fast the hosts were crawled, of what the delay allows, on average over the hosts: 1 when every gap is the delay. */
  readonly ofAllowed: number
}

/** @param limitsMs which gaps are counted as shorter than each of these */
export function gapsOf(visits: Iterable<Visit>, delayMs: number, limitsMs: readonly number[]): Gaps {
  const momentsOf = new Map<number, number[]>()
  for (const { host, atMs } of visits) {
    const moments = momentsOf.get(host)
    if (moments) moments.push(atMs)
    else momentsOf.set(host, [atMs])
  }
  const gaps: number[] = []
  const paces: number[] = []
  for (const moments of momentsOf.values()) {
    if (moments.length < 2) continue
    moments.sort((a, b) => a - b)
    for (let n = 1; n < moments.length; n++) gaps.push(moments[n]! - moments[n - 1]!)
    paces.push(((moments.length - 1) * delayMs) / (moments.at(-1)! - moments[0]!))
  }
  return {
    count: gaps.length,
    smallestMs: gaps.reduce((least, gap) => Math.min(least, gap), Number.POSITIVE_INFINITY),
    shorter: limitsMs.map((thanMs) => ({ thanMs, count: gaps.filter((gap) => gap < thanMs).length })),
    ofAllowed: paces.reduce((sum, pace) => sum + pace, 0) / paces.length,
  }
}
