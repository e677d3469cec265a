import { writeFile } from 'node:fs/promises'
import { crawlRedisKeys } from '@webloom/queue'
import { Spider } from '@webloom/spider'
import { type RedisCluster, type RedisServer, startCluster, tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clearFromOutside } from '../assembly/clear-crawl.ts'
import { withCrawlFromOutside } from '../assembly/crawl-from-outside.ts'
import { exitCodeOf } from '../exit-codes.ts'
import { pause, stop } from './crawl-control.ts'
import { failedRetry } from './failed.ts'
import { importLines } from './import.ts'
import { status } from './status.ts'

class Away extends Spider {
  override name = 'away'
}

/** What is asked for is waited for for four seconds, and then nodes are asked. */
const ENDS_MS_MAX = 10_000
const { record } = crawlRedisKeys({ spider: 'away', crawlId: null })
const config = { path: '', folder: process.cwd(), spiders: [], settings: {} }

let cluster: RedisCluster
let flags: { readonly set: readonly string[] }
beforeAll(async () => {
  cluster = await startCluster()
  for (const node of cluster.nodes) await node.command('CONFIG', 'SET', 'cluster-require-full-coverage', 'no')
  flags = { set: [`REDIS_URL=${cluster.url}`, 'LOG_LEVEL=ERROR'] }
})
afterAll(() => cluster.stop())

async function begin(): Promise<RedisServer> {
  const home = (await cluster.masterOf(record))!
  await home.command('HSET', record, 'state', 'running', 'run', 'r', 'firstRun', 'r', 'format', '2')
  return home
}

async function expectRefused(work: Promise<unknown>, away: RedisServer): Promise<Error> {
  const startedAt = performance.now()
  const error: Error = await work.then(
    () => new Error('it did not reject'),
    (thrown) => thrown,
  )
  expect(error.message).toContain(`127.0.0.1:${away.port}`)
  expect(exitCodeOf(error)).toBe(3)
  expect(performance.now() - startedAt).toBeLessThan(ENDS_MS_MAX)
  return error
}

test('clear deletes nothing while a master is away that has nothing of the crawl', async () => {
  const home = await begin()
  const away = cluster.nodes.findLast((node) => node !== home)!
  await away.kill()
  // Forced, it asks no other server before.
  const clear = withCrawlFromOutside(Away, flags, config, (crawl) => clearFromOutside(crawl, true))
  await expectRefused(clear, away)
  expect(await home.command('HGET', record, 'state')).toBe('running')
  await stop(Away, flags, config)
  await away.restart()
  await cluster.untilWell()
})

test('each command says which server is away where that has the record of the crawl', async () => {
  const away = await begin()
  await using folder = await tempDir()
  await writeFile(folder.join('left.jsonl'), '{"v":1,"url":"http://a.test/"}\n')
  await away.kill()
  const asked = [
    stop(Away, flags, config),
    pause(Away, flags, config),
    status(Away, flags, config),
    withCrawlFromOutside(Away, flags, config, (crawl) => clearFromOutside(crawl)),
    failedRetry(Away, [], { ...flags, all: true }, config),
    importLines(Away, folder.join('left.jsonl'), flags, config),
  ]
  for (const error of await Promise.all(asked.map((work) => expectRefused(work, away))))
    expect(error.message).toMatch(
      /does not answer: connect ECONNREFUSED.*redis-cli --cluster check.*type this again/,
    )
})
