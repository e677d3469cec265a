/** METRICS_PORT: `/metrics` of a process that crawls. */

import { readFileSync } from 'node:fs'
import { startFakeWebProcess, startProcess } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { ClusterFolder } from '../cluster/cluster-crawl.ts'
import { WITHOUT_DASHBOARD } from '../dashboard/dash-processes.ts'
import { PORT, tellsAt } from './metrics-port.ts'

test('a worker process has a port, with what it has counted', () => tellsAt([PORT]))

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
