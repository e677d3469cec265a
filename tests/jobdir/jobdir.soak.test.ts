/** `npm run soak`: many kills at random moments, the first before any page was answered. */

import { startFakeWeb } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { crawlWithKills, JobFolder, randomHits } from './jobdir-crawl.ts'

const KILLS = 20
const CONCURRENCY = 8

test.each([41, 42])(
  `${KILLS} kills at random moments, seed %i: every page is crawled, repeats ≤ in flight`,
  async (seed) => {
    await using web = await startFakeWeb({
      seed,
      hosts: 4,
      pagesPerHost: 500,
      crossHostLinks: 0.2,
      latencyMs: [0, 20],
      redirects: 0.1,
      flaky: 0.05,
    })
    await using folder = await JobFolder.of(web)
    const hits = [1, ...randomHits(seed, KILLS - 1, 120)]
    const { kills, inFlight, repeats, last } = await crawlWithKills(folder, web, hits, [
      '-s',
      `CONCURRENT_REQUESTS=${CONCURRENCY}`,
    ])
    console.log(
      `seed ${seed}: ${kills} kills after ${hits.join(', ')} hits; ${inFlight} in flight, ${repeats} asked for again, of ${web.linked().size} pages`,
    )
    expect({ code: last.code, kills }, last.stderr).toEqual({ code: 0, kills: KILLS })
    expect(new Set(web.hits.map(({ url }) => url))).toEqual(web.linked())
    expect(new Set(folder.itemUrls())).toEqual(web.reachable())
    expect(repeats).toBeLessThanOrEqual(inFlight)
    expect(repeats).toBeLessThanOrEqual(kills * CONCURRENCY)
  },
)
