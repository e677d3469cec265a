/** Worker processes that are asked for their metrics while they crawl. */

import { startFakeWebProcess, startRedis } from '@webloom/testkit'
import { expect, vi } from 'vitest'
import { ClusterFolder } from '../cluster/cluster-crawl.ts'
import { WITHIN } from '../dashboard/dash-processes.ts'

// Below the ports that systems give to outgoing connections, and of these tests alone.
export const PORT = 15_310

async function scraped(port: number): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
  expect(answer.status).toBe(200)
  return answer.text()
}

const figure = (text: string, series: string) =>
  Number(new RegExp(`^${series.replace(/[{}]/g, '\\$&')} (\\S+)$`, 'm').exec(text)?.[1])

/** `webloom worker pages <words>` with METRICS_PORT: what it has counted is told at each of these ports, until it ends. */
export async function tellsAt(
  [first, ...others]: readonly [number, ...number[]],
  ...words: string[]
): Promise<void> {
  await using server = await startRedis()
  await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 1000, latencyMs: 100 })
  const settings = {
    ...{ REDIS_URL: server.url, METRICS_PORT: PORT, METRICS_TIMES: true, SCHEDULER_PERSIST: true },
    // It goes on until it is told to end, and need not be fast.
    CONCURRENT_REQUESTS: 2,
  }
  await using folder = await ClusterFolder.of(web, settings)
  const workers = folder.worker('a', ...words)
  const pages = (text: string) => figure(text, 'webloom_pages_total{crawl="pages"}')
  for (const port of [first, ...others])
    await vi.waitFor(
      async () => expect(pages(await scraped(port)), workers.stderr).toBeGreaterThan(5),
      WITHIN,
    )
  for (const path of ['healthz', 'readyz']) {
    const answer = await fetch(`http://127.0.0.1:${first}/${path}`)
    expect({ status: answer.status, ...((await answer.json()) as object) }).toEqual({ status: 200, ok: true })
  }
  const text = await scraped(first)
  expect(figure(text, 'process_resident_memory_bytes')).toBeGreaterThan(2 ** 20)
  // 0 if nothing was late since the scrape before.
  expect(figure(text, 'nodejs_eventloop_lag_max_seconds')).toBeGreaterThanOrEqual(0)
  expect(figure(text, 'webloom_download_seconds_count{crawl="pages"}')).toBeGreaterThan(5)
  expect(text).toMatch(/^webloom_process_requests\{crawl="pages",state="downloading"\} \d+$/m)
  workers.kill('SIGTERM')
  expect((await workers.exited).code).toBe(143)
  await expect(fetch(`http://127.0.0.1:${first}/metrics`)).rejects.toThrow()
}
