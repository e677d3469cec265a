import { expect } from 'vitest'

/**
 * Each of two seeds wakes the crawl and brings its own half of the web, and the first one again brings its page alone.
 *
 * @param fetched crawls with such a seed, and resolves to what was fetched
 */
export async function expectWoken(
  web: { readonly seeds: readonly string[]; linked(): Set<string> },
  fetched: (seed: string) => Promise<Set<string>>,
): Promise<void> {
  const [one, two] = web.seeds as [string, string]
  const first = await fetched(one)
  expect(first).toContain(one)
  const second = await fetched(two)
  expect(second).toContain(two)
  expect(new Set([...first, ...second])).toEqual(web.linked())
  expect([...second].filter((url) => first.has(url))).toEqual([])
  expect(await fetched(one)).toEqual(new Set([one]))
}
