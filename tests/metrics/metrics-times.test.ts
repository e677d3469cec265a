/** METRICS_TIMES: how long requests wait, and downloads and callbacks take, as stats. */

import { statHistograms } from '@webloom/core'
import { expect, test } from 'vitest'
import { Request, type Response, type SettingsInput, Spider } from 'webloom'
import { run, type SmallSite, startSite } from '../spiders/small-site.ts'

class Pages extends Spider {
  override name = 'pages'
  site = ''

  override async *start() {
    for (const path of ['/one', '/two', '/three']) yield new Request(`${this.site}${path}`)
  }

  override *parse(response: Response) {
    if (response.url.endsWith('/three')) throw new Error('of the third page')
    // The note of when it was queued is for nobody else.
    yield { url: response.url, meta: Object.keys(response.meta) }
  }
}

async function crawled(settings: SettingsInput) {
  await using site: SmallSite = await startSite({ '/one': 'a', '/two': 'b', '/three': 'c' })
  const { stats } = await run(Pages, site, settings)
  expect(stats.response_received_count).toBe(3)
  return stats as Record<string, number>
}

test('each request, download and callback is in one bucket, one that throws, too', async () => {
  const histograms = statHistograms(await crawled({ METRICS_TIMES: true }))
  expect(histograms.map(({ name }) => name)).toEqual([
    'webloom_queue_seconds',
    'webloom_download_seconds',
    'webloom_callback_seconds',
  ])
  for (const { counts, sum } of histograms) {
    expect(counts.reduce((all, [, count]) => all + count, 0)).toBe(3)
    expect(sum).toBeGreaterThanOrEqual(0)
    expect(counts.at(-1)![0]).toBe(Number.POSITIVE_INFINITY)
  }
})

test('without it nothing is counted', async () => {
  expect(statHistograms(await crawled({}))).toEqual([])
})
