/** How many processes of a machine each crawl gets. */

import { hash } from 'node:crypto'

/**
 * Each crawl has one at least, however many crawls there are. What is left of `places` is shared out evenly; what cannot be goes to other
 * crawls on each machine, so that none is always the one that gets less.
 *
 * @param machine its name
 */
export function fairShares(
  crawls: readonly string[],
  places: number,
  machine: string,
): ReadonlyMap<string, number> {
  const each = Math.max(1, Math.floor(places / crawls.length))
  const more = Math.max(0, places - each * crawls.length)
  const place = (crawl: string) => hash('sha1', `${machine} ${crawl}`)
  const sorted = [...crawls].sort((a, b) => (place(a) < place(b) ? -1 : 1))
  return new Map(sorted.map((crawl, n) => [crawl, each + (n < more ? 1 : 0)]))
}
