/** `webloom export`, and `webloom import` of what it has written. */

import { writeFileSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeScrapyRequest, encodeScrapyRequest, Request } from '@webloom/core'
import { crawlFrontier, crawlRedisKeys } from '@webloom/queue'
import { type RedisServer, startProcess, startRedis, type TempDir, tempDir } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { CommandLine } from '../projects/command-line.ts'

const PACKAGE = join(import.meta.dirname, '../../packages/webloom')
const KEY = 'quotes:requests'

let redis: RedisServer
let client: Redis
let folder: TempDir
const commands = new CommandLine()
beforeAll(async () => {
  redis = await startRedis()
  client = new Redis(redis.url)
  folder = await tempDir()
  writeFileSync(
    folder.join('webloom.config.ts'),
    `export default { settings: { REDIS_URL: '${redis.url}' } }`,
  )
  writeFileSync(
    folder.join('quotes.mjs'),
    `import { Spider } from '${join(PACKAGE, 'dist/index.js')}'
    export default class Quotes extends Spider { name = 'quotes'; parseItem() {} }`,
  )
})
afterAll(async () => {
  client.disconnect()
  await commands[Symbol.asyncDispose]()
  await redis.stop()
  await folder.remove()
})
beforeEach(() => redis.command('FLUSHALL'))

const run = (...args: string[]) => commands.run(args, { cwd: folder.path })

/** As a Python worker pushes it. */
const pickled = (path: string, init: object = {}) =>
  encodeScrapyRequest(new Request(`http://a.test/${path}`, { callback: 'parse_item', ...init }), {
    nameOf: (name) => name,
  })

async function waitingPaths(): Promise<string[]> {
  const paths: string[] = []
  const keys = crawlRedisKeys({ spider: 'quotes', crawlId: null })
  for await (const { request } of crawlFrontier({ redis: client, keys }))
    paths.push(request!.url.slice('http://a.test/'.length))
  return paths
}

test('writes what waits as lines and pickles; import reads the lines back', async () => {
  for (const request of [
    pickled('1'),
    pickled('2', { dontFilter: true, meta: { depth: 2 } }),
    pickled('3', { callback: null, headers: { Referer: 'http://a.test/' }, meta: { depth: 1 } }),
  ])
    await client.zadd(KEY, 0, request)
  const taken = await run('import', 'scrapy-redis', 'quotes.mjs', '--json')
  expect(taken.code, taken.stderr).toBe(0)
  expect(JSON.parse(taken.stdout)).toMatchObject({ moved: 3, stayed: 0 })

  const lines = await run('export', 'quotes.mjs', '-o', 'frontier.jsonl')
  expect(lines.code, lines.stderr).toBe(0)
  expect((await run('export', 'quotes.mjs', '--to', 'scrapy-redis')).code).toBe(0)
  const back = (await client.zrangeBuffer(KEY, '0', '-1')).map(decodeScrapyRequest)
  expect(back.map(({ url, callback }) => [url, callback]).toSorted()).toEqual([
    ['http://a.test/1', 'parse_item'],
    ['http://a.test/2', 'parse_item'],
    ['http://a.test/3', null],
  ])
  await redis.command('FLUSHALL')
  const whole = await readFile(folder.join('frontier.jsonl'), 'utf8')
  await redis.command('SET', 'webloom:{quotes}:frontier:due', 'not what it should be')
  const failed = await run('export', 'quotes.mjs', '-o', 'frontier.jsonl')
  expect(failed.code).not.toBe(0)
  expect(await readFile(folder.join('frontier.jsonl'), 'utf8'), failed.stderr).toBe(whole)
  expect((await readdir(folder.path)).filter((name) => name.includes('.part'))).toEqual([])
  await redis.command('FLUSHALL')
  await writeFile(folder.join('empty.jsonl'), '')
  const none = await run('import', 'empty.jsonl', 'quotes.mjs')
  expect(none).toMatchObject({ code: 1, stdout: expect.stringMatching(/empty.jsonl is empty/) })
  const read = await run('import', 'frontier.jsonl', 'quotes.mjs')
  expect(read.code, read.stderr).toBe(0)
  // The same file once more, as after a crash, adds nothing.
  const again = await run('import', 'frontier.jsonl', 'quotes.mjs')
  expect(again.stdout).toMatch(/took 0 requests over.*\n3 requests of it had been taken over before/)
  expect(again.code, again.stderr).toBe(0)
  expect((await waitingPaths()).toSorted()).toEqual(['1', '2', '3'])
})

test('a bad line is named and left out, and the lines around it are queued', async () => {
  const line = (path: string, more = '') => `{"v":1,"url":"http://a.test/${path}"${more}}\n`
  await writeFile(
    folder.join('bad.jsonl'),
    `${line('1')}${line('2', ',"h":5')}${line('3', ',"b":{}')}${line('4', ',"zzz":1')}${line('5')}`,
  )
  const { code, stdout, stderr } = await run('import', 'bad.jsonl', 'quotes.mjs')
  expect(code, stderr).toBe(1)
  const said = stdout + stderr
  expect(said).toMatch(/:2\b.*its h is 5 \(a number\); expected an object/)
  expect(said).toMatch(/:3\b.*its b is an object; expected bytes in base64/)
  expect(said).toMatch(/:4\b.*a request has no part "zzz"; there are v, url, m, h/)
  expect((await waitingPaths()).toSorted()).toEqual(['1', '5'])
})

test('an import that is killed leaves its number on Redis for a day at most', async () => {
  const lines = Array.from({ length: 500 }, (_, n) => `{"v":1,"url":"http://a.test/${n}"}\n`).join('')
  await using importing = startProcess(
    process.execPath,
    [join(PACKAGE, 'bin/webloom.js'), 'import', '-', 'quotes.mjs'],
    { cwd: folder.path },
  )
  importing.write(lines)
  const heard = `${crawlRedisKeys({ spider: 'quotes', crawlId: null }).frontier}:heard`
  await vi.waitFor(async () => expect(await client.hlen(heard)).toBe(1))
  importing.kill('SIGKILL')
  expect(await importing.exited).toMatchObject({ signal: 'SIGKILL' })
  const [ttlMs, numbers] = [await client.pttl(heard), await client.hlen(heard)]
  expect(numbers).toBe(1)
  expect(ttlMs).toBeGreaterThan(0)
  expect(ttlMs).toBeLessThanOrEqual(24 * 3_600_000)
})

test('the worker that goes on with what was brought is of the same crawl, and keeps it where it was kept; of nothing it is not said that it waits', async () => {
  const { record } = crawlRedisKeys({ spider: 'quotes', crawlId: null, keyPrefix: 't:' })
  const kept = { state: 'stopped', run: 'r1', firstRun: 'r1', format: '2', persists: '1', startEnded: '1' }
  await client.hset(record, kept)
  const inIt = ['quotes.mjs', '-s', 'REDIS_KEY_PREFIX=t:']
  const none = await run('export', ...inIt)
  expect(none.stderr).toMatch(/wrote 0 requests of .* to standard output\n/)
  await writeFile(folder.join('one.jsonl'), '{"v":1,"url":"http://a.test/1"}\n')
  const brought = await run('import', 'one.jsonl', ...inIt)
  expect(brought.stdout, brought.stderr).toContain(
    'webloom worker quotes.mjs -s REDIS_KEY_PREFIX=t: -s SCHEDULER_PERSIST=true  goes on with them',
  )
  expect((await run('export', ...inIt)).stderr).toMatch(/wrote 1 request of .*; they still wait there, too/)
})
