/** What w3lib answered, recorded in `testdata/`, and the test of a function against it. */

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { InvalidUrl } from '../src/errors.ts'

export function recorded<Case>(name: string): Case[] {
  const text = readFileSync(new URL(`../testdata/${name}.json`, import.meta.url), 'utf8')
  return (JSON.parse(text) as { cases: Case[] }).cases
}

/** What Python says None of is refused here with `InvalidUrl`. */
export function orNull(make: () => string): string | null {
  try {
    return make()
  } catch (error) {
    if (error instanceof InvalidUrl) return null
    throw error
  }
}

/** Tests that `write` gives what w3lib gave for each URL, and refuses what Python refuses. */
export function writesAsRecorded<Options>(
  golden: readonly (readonly [url: string, written: string | null, options?: Options])[],
  write: (url: string, options?: Options) => string,
): void {
  const refused = golden.filter(([, written]) => written === null)

  test(`${golden.length - refused.length} URLs, byte for byte`, () => {
    for (const [url, written, options] of golden)
      if (written !== null) expect(write(url, options), url).toBe(written)
  })

  test(`${refused.length} URLs that Python refuses are refused with InvalidUrl`, () => {
    for (const [url, , options] of refused) expect(() => write(url, options), url).toThrow(InvalidUrl)
  })
}
