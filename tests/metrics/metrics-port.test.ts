/** METRICS_PORT: `/metrics` of a process that crawls. */

import { readFileSync } from 'node:fs'
import { startFakeWebProcess, startProcess, startRedis } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { ClusterFolder } from '../cluster/cluster-crawl.ts'
import { WITHIN, WITHOUT_DASHBOARD } from '../dashboard/dash-processes.ts'

// Below the ports that systems give to outgoing connections, and of this file alone.
const PORT = 15_310

async function scraped(port: number): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
  expect(answer.status).toBe(200)
  return answer.text()
}

const figure = (text: string, series: string) =>
  Number(new RegExp(`^${series.replace(/[{}]/g, '\\$&')} (\\S+)$`, 'm').exec(text)?.[1])

test('two worker processes have a port each, with what each of them has counted', async () => {
  await using server = await startRedis()
  await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 1000, latencyMs: 100 })
  const settings = { REDIS_URL: server.url, METRICS_PORT: PORT, METRICS_TIMES: true, SCHEDULER_PERSIST: true }
  await using folder = await ClusterFolder.of(web, settings)
  const workers = folder.worker('a', '--processes', '2')
  const pages = (text: string) => figure(text, 'webloom_pages_total{crawl="pages"}')
  for (const port of [PORT + 1, PORT + 2])
    await vi.waitFor(
      async () => expect(pages(await scraped(port)), workers.stderr).toBeGreaterThan(5),
      WITHIN,
    )
  for (const path of ['healthz', 'readyz']) {
    const answer = await fetch(`http://127.0.0.1:${PORT + 1}/${path}`)
    expect({ status: answer.status, ...((await answer.json()) as object) }).toEqual({ status: 200, ok: true })
  }
  const text = await scraped(PORT + 1)
  expect(figure(text, 'process_resident_memory_bytes')).toBeGreaterThan(2 ** 20)
  // 0 if nothing was late since the scrape before.
  expect(figure(text, 'nodejs_eventloop_lag_max_seconds')).toBeGreaterThanOrEqual(0)
  expect(figure(text, 'webloom_download_seconds_count{crawl="pages"}')).toBeGreaterThan(5)
  expect(text).toMatch(/^webloom_process_requests\{crawl="pages",state="downloading"\} \d+$/m)
  workers.kill('SIGTERM')
  expect((await workers.exited).code).toBe(143)
  await expect(fetch(`http://127.0.0.1:${PORT + 1}/metrics`)).rejects.toThrow()
})

test('without @webloom/dashboard it is one error with the line to type, and off nothing of it is loaded', async () => {
  await using web = await startFakeWebProcess({ hosts: 1, pagesPerHost: 3 })
  await using folder = await ClusterFolder.of(web, {})
  const crawl = (...words: string[]) => {
    const bin = ['--import', WITHOUT_DASHBOARD, 'node_modules/webloom/bin/webloom.js', 'crawl', 'pages']
    return startProcess(process.execPath, [...bin, ...words], { cwd: folder.path('') }).exited
  }
  const missing = await crawl('-s', `METRICS_PORT=${PORT}`)
  expect(missing.stderr).toMatch(
    /^webloom: METRICS_PORT needs the package .*npm install @webloom\/dashboard \[WL_USAGE\]$/m,
  )
  expect(missing.code).toBe(2)
  const off = await crawl('-o', 'items.jsonl')
  expect(off.code, off.stderr).toBe(0)
  expect(readFileSync(folder.path('items.jsonl'), 'utf8').trim().split('\n')).toHaveLength(3)
})
