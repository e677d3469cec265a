import { ensureChromium } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { crawl } from 'webloom'
import LampsSpider from './lamps.ts'
import { LAMPS, startSite } from './site/site.ts'

test('each lamp of a list that grows as one scrolls, with what scripts draw', async () => {
  await using site = await startSite()
  const items: unknown[] = []
  await crawl(LampsSpider, {
    args: { site: site.url },
    settings: {
      BROWSER_EXECUTABLE: await ensureChromium(),
      BROWSER_SANDBOX: process.getuid?.() !== 0,
      LOG_LEVEL: 'CRITICAL',
    },
    onItem: (item) => items.push(item),
  })
  expect(items).toHaveLength(LAMPS.length)
  expect(items).toEqual(expect.arrayContaining([...LAMPS]))
})
