/** Redis does not replicate users: a replica that lacks the crawl's takes its master's place, and Sentinels name it. */

import { InUse, type SentinelRedis, startFakeWebProcess, startSentinels } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { ClusterFolder, expectComplete, freshCrawlId, SHORT_TIMES } from '../cluster/cluster-crawl.ts'

async function crawlThatLosesItsUser(used: InUse, mode: 'turns' | 'job', factor = 1) {
  const redis: SentinelRedis = used.use(await startSentinels({ password: 'admin' }))
  const web = used.use(
    await startFakeWebProcess({ seed: 1, hosts: 12, pagesPerHost: 10, crossHostLinks: 0.5 }),
  )
  const [master] = redis.servers
  await master!.command('ACL', 'SETUSER', 'loom', 'on', '>pw', '~*', '&*', '+@all')
  const settings = {
    REDIS_URL: redis.url.replace(/\/\/:[^@]+@/, '//loom:pw@'),
    ...{ CRAWL_ID: freshCrawlId('userless'), QUEUE_MODE: mode, DOWNLOAD_DELAY: 0.2 },
  }
  const folder = used.use(await ClusterFolder.of(web, settings, undefined, factor))
  const workers = ['a', 'b'].map((name) => folder.workerProcess(name))
  await web.waitForHits(30, 60_000)
  await master!.kill()
  return { web, folder, workers, next: await redis.untilWritable(master) }
}

test.each(['turns', 'job'] as const)(
  'QUEUE_MODE=%s: the crawl names it, waits, and goes on by the line that is told',
  async (mode) => {
    await using used = new InUse()
    const { web, folder, workers, next } = await crawlThatLosesItsUser(used, mode)
    const lines = await Promise.all(
      workers.map((worker) =>
        worker.waitForOutput(
          /:(\d+), which is the master now, does not let this process in.*: ACL (SETUSER loom .*?) \(docs/,
          30_000,
        ),
      ),
    )
    for (const [line, port] of lines) {
      expect(Number(port)).toBe(next.port)
      expect(line).not.toContain('REDIS_URL')
    }
    await next.command('ACL', ...lines[0]![2]!.replace('<password>', 'pw').split(' '))
    for (const { exited } of workers) {
      const { code, stderr } = await exited
      expect(code, stderr).toBe(0)
      expect(stderr.match(/let this process in/g), stderr).toHaveLength(1)
      expect(stderr).toContain('Redis lets this process in again')
      expect(stderr).not.toContain('"level":"ERROR"')
    }
    await expectComplete(web, folder, { more: 30 })
  },
)

test.each(['turns', 'job'] as const)(
  'QUEUE_MODE=%s: one that is never given the user ends the crawl, with one ERROR',
  async (mode) => {
    await using used = new InUse()
    const { workers } = await crawlThatLosesItsUser(used, mode, SHORT_TIMES)
    for (const { exited } of workers) {
      const { code, stderr } = await exited
      expect(code, stderr).toBe(1)
      expect(stderr.match(/"level":"ERROR"/g), stderr).toHaveLength(1)
      expect(stderr).toMatch(/waits for up to \d+ s.*\n[\s\S]*"level":"ERROR".*It was waited for in vain/)
    }
  },
)
