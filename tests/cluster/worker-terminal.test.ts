/** `worker --processes` before a person: on a terminal of its own, which util-linux's `script` makes. */

import { spawnSync } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { type RedisServer, runProcess, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ClusterFolder, followingSpider, freshCrawlId } from './cluster-crawl.ts'

const LONG = { timeout: 120_000 }
const hasTerminal = spawnSync('script', ['-qec', 'true', '/dev/null'], { stdio: 'ignore' }).status === 0

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

/** What a terminal of 100 columns was sent, without what moves the cursor and colours. */
async function onTerminal(folder: ClusterFolder, ...words: string[]): Promise<string[]> {
  const line = [process.execPath, folder.path('node_modules/webloom/bin/webloom.js'), ...words]
  const { code, stdout } = await runProcess(
    'script',
    ['-qec', `stty cols 100 rows 40; ${line.map((word) => `'${word}'`).join(' ')}`, '/dev/null'],
    { cwd: folder.path('.'), timeoutMs: 100_000 },
  )
  expect(code, stdout).toBe(0)
  return stripVTControlCharacters(stdout).split(/\r?\n/)
}

test.skipIf(!hasTerminal)(
  'on a terminal lines are readable and say which worker wrote them, and one block stands for all',
  LONG,
  async () => {
    await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 30, latencyMs: 150 })
    const spider = followingSpider(web).replace(
      'yield { url: response.url }',
      `console.log('plain words'); yield { url: response.url }`,
    )
    await using folder = await ClusterFolder.of(
      web,
      { REDIS_URL: redis.url, CRAWL_ID: freshCrawlId('seen') },
      spider,
    )
    const lines = await onTerminal(folder, 'worker', 'pages', '--processes', '2')
    expect(lines.filter((line) => line.includes('"level"'))).toEqual([])
    for (const place of [1, 2])
      expect(lines).toContainEqual(
        expect.stringMatching(
          new RegExp(`^\\d\\d:\\d\\d:\\d\\d INFO +worker ${place}: crawl ended: finished$`),
        ),
      )
    expect(lines).toContain('plain words')
    const pages = web.linked().size
    const done = lines.flatMap((line) => /^done (\d+) · queued/.exec(line)?.[1] ?? []).map(Number)
    // It is drawn anew all the time, and counts both: at no time less than before.
    expect(done).toEqual(done.toSorted((a, b) => a - b))
    expect(done.at(-1)).toBeGreaterThan(0)
    expect(lines.filter((line) => line.startsWith('final stats'))).toEqual([
      'final stats of 2 worker processes together',
    ])
    expect(lines.find((line) => line.includes('response_received_count'))).toMatch(
      new RegExp(`response_received_count +${pages}$`),
    )
  },
)
