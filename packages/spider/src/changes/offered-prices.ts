/** What JSON-LD says of prices and stock. It stands in `<head>` as a rule, beside much that changes by itself: counts of reviews, other products. */

const OFFERED = new Set(['price', 'lowPrice', 'highPrice', 'availability'])
const OFFERED_AS_TEXT = /"(?:price|lowPrice|highPrice|availability)"\s*:\s*("[^"]*"|[\d.]+)/g
const OTHERS = new Set(['isRelatedTo', 'isSimilarTo', 'isAccessoryOrSparePartFor'])

/** Returns the prices and the stock of the page's own products, and nothing of lists of other ones. */
export function offeredPrices(json: string): string[] {
  const found: string[] = []
  let left: unknown[]
  try {
    left = [JSON.parse(json)]
  } catch {
    // With a comma too many, or a line break in a text, it still says a price.
    return [...json.matchAll(OFFERED_AS_TEXT)].map(([, value]) => value!)
  }
  // No recursion: it may be as deep as its author likes.
  while (left.length > 0) {
    const one = left.pop()
    if (typeof one !== 'object' || one === null || ('@type' in one && one['@type'] === 'ItemList')) continue
    for (const [key, value] of Object.entries(one)) {
      if (typeof value === 'object') {
        if (!OTHERS.has(key)) left.push(value)
      } else if (OFFERED.has(key)) found.push(String(value))
    }
  }
  return found
}
