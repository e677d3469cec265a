/** A browser that takes too much memory. */

import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { browserPid } from '../../testing/browser-processes.ts'
import { Browsing, Site } from '../../testing/browsing.ts'
import { treeMemoryMb } from '../chromium/process-memory.ts'

const counted = (browsing: Browsing, key: string) =>
  expect.poll(() => browsing.stats.get(key), { interval: 100 }).toBe(1)

test.skipIf(process.platform !== 'linux')(
  'above BROWSER_MEMORY_MB it gets no more pages and ends with its last one; at twice as much it is killed',
  async () => {
    await using site = await Site.start()
    /** Requests for which a page waits. */
    const held: ServerResponse[] = []
    site.html('/small', 'small')
    site.html('/waits', '<script>fetch("/held")</script>waited')
    site.page('/held', (_, answer) => void held.push(answer))
    const end = () => {
      for (const answer of held.splice(0)) answer.end()
    }
    /** Opens a page that is not done before `end`. */
    const withPage = async (browsing: Browsing) => {
      const page = browsing.visit(`${site.origin}/waits`, { meta: { download_timeout: 90 } })
      page.catch(() => {})
      await expect.poll(() => held.length).toBe(1)
      return { page }
    }
    const memoryMb = await (async () => {
      await using browsing = await Browsing.open()
      await withPage(browsing)
      return (await treeMemoryMb(browserPid()))!
    })()
    end()
    const withMemory = (part: number) =>
      Browsing.open({ settings: { BROWSER_MEMORY_MB: Math.round(part * memoryMb) } })

    await using retires = await withMemory(0.7)
    const { page } = await withPage(retires)
    await counted(retires, 'browser/retired/memory')
    end()
    expect((await page).text).toContain('waited')
    await retires.visit(`${site.origin}/small`)
    expect(retires.stats.get('browser/starts')).toBe(2)
    expect(retires.stats.get('browser/killed')).toBeUndefined()

    await using kills = await withMemory(0.3)
    await withPage(kills)
    await counted(kills, 'browser/killed')
  },
)
