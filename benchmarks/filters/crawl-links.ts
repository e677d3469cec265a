import type { Request } from '../../packages/core/src/requests/request.ts'

const PAGE_LINKS = 30

/**
 * What a crawl asks about: of a page's 30 links one is new, ten are navigation (50 links of the site), and the others are
 * known, half of them from the last thousand pages.
 *
 * @param link the nth link of the site
 */
export function crawlLinks(count: number, knownAtFirst: number, link: (n: number) => Request): Request[] {
  let seed = 1
  const random = () => {
    seed = (seed * 48271) % 2147483647
    return seed / 2147483647
  }
  let known = knownAtFirst
  return Array.from({ length: count }, (_, n) => {
    if (n % PAGE_LINKS === 0) return link(known++)
    if (n % 3 === 1) return link(Math.floor(random() * 50))
    const back = Math.floor(random() * (random() < 0.5 ? Math.min(1000, known) : known))
    return link(known - 1 - back)
  })
}
