/** From one process to many with a spider's file alone, as the README has it (issue 15). */

import { symlinkSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { runProcess, startFakeWeb, startRedis, tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'

const PACKAGE = join(import.meta.dirname, '../packages/webloom')
const BIN = join(PACKAGE, 'bin/webloom.js')

test('seed, worker, status and clear take the file of a spider', async () => {
  const redis = await startRedis()
  await using web = await startFakeWeb({ seed: 1, pagesPerHost: 5 })
  await using folder = await tempDir()
  await mkdir(folder.join('node_modules'))
  symlinkSync(PACKAGE, folder.join('node_modules/webloom'))
  writeFileSync(
    folder.join('pages.ts'),
    `import { RedisSpider, type Response } from 'webloom'
export default class Pages extends RedisSpider {
  name = 'pages'
  maxIdleTime = 1
  async *parse(response: Response) {
    yield { url: response.url }
    yield* response.followAll()
  }
}
`,
  )
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runProcess(process.execPath, [BIN, ...args], {
      cwd: folder.path,
      env: { REDIS_URL: redis.url, WEBLOOM_SCHEDULER_PERSIST: 'true' },
    })
    return { code, stdout, stderr }
  }
  try {
    expect(await run('seed', './pages.ts', web.seeds[0]!)).toMatchObject({ code: 0 })
    expect(await run('worker', 'pages.ts', '-o', 'pages.jsonl')).toMatchObject({ code: 0 })
    const status = JSON.parse((await run('status', 'pages.ts', '--json')).stdout) as { crawl: string }
    expect(status.crawl).toBe('{pages}')
    expect(await run('clear', 'pages.ts')).toMatchObject({ code: 0 })
  } finally {
    await redis.stop()
  }
})
