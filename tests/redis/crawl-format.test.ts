/** A crawl that the release before this one left on Redis: refused in words, never half read, and taken along by `export`. */

import { writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type RedisServer, startRedis, type TempDir, tempDir } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { CommandLine } from '../projects/command-line.ts'

const PACKAGE = join(import.meta.dirname, '../../packages/webloom')
/** As that release wrote it: four requests that wait, one that is delayed, one in flight. */
const FORMER = join(import.meta.dirname, 'fixtures/crawl-format-1.json')
const PAGES = ['a.test/1', 'a.test/2', 'a.test/3', 'b.test/1', 'b.test/2', 'c.test/1'].map(
  (path) => `http://${path}`,
)

let server: RedisServer
let redis: Redis
let folder: TempDir
const line = new CommandLine()
beforeAll(async () => {
  server = await startRedis()
  redis = new Redis(server.url)
  folder = await tempDir()
  writeFileSync(
    folder.join('webloom.config.ts'),
    `export default { settings: { REDIS_URL: '${server.url}', SCHEDULER_PERSIST: true } }`,
  )
  writeFileSync(
    folder.join('quotes.mjs'),
    `import { Spider } from '${join(PACKAGE, 'dist/index.js')}'
    export default class Quotes extends Spider { name = 'quotes'; parseItem() {} }`,
  )
})
afterAll(async () => {
  await line[Symbol.asyncDispose]()
  redis.disconnect()
  await server.stop()
  await folder.remove()
})

type Stored =
  | { readonly type: 'hash'; readonly value: Record<string, string> }
  | { readonly type: 'list' | 'set' | 'zset'; readonly value: readonly string[] }
  | { readonly type: 'string'; readonly value: string }

async function restore(): Promise<void> {
  const keys = JSON.parse(await readFile(FORMER, 'utf8')) as Record<string, Stored>
  for (const [key, { type, value }] of Object.entries(keys)) {
    if (type === 'hash') await redis.hset(key, value)
    else if (type === 'string') await redis.set(key, value)
    else if (type === 'list') await redis.rpush(key, ...value)
    else if (type === 'set') await redis.sadd(key, ...value)
    else for (let n = 0; n < value.length; n += 2) await redis.zadd(key, value[n + 1]!, value[n]!)
  }
}

const run = (...words: string[]) => line.run(words, { cwd: folder.path })

beforeEach(async () => {
  await redis.flushall()
  await restore()
})

/** Key and value of all that has no lifetime. */
async function stored(): Promise<string[]> {
  const keys = (await redis.keys('*')).toSorted()
  return Promise.all(keys.map(async (key) => `${key} ${(await redis.dump(key))?.length}`))
}

test.each([
  ['worker', 'quotes.mjs'],
  ['crawl', 'quotes.mjs'],
  ['status', 'quotes.mjs'],
])('webloom %s refuses it, names the lines to type, and changes nothing', async (...command) => {
  const before = await stored()
  const { code, stdout, stderr } = await run(...command)
  expect(code, stdout + stderr).toBeGreaterThan(0)
  expect(stdout + stderr).toContain(
    'webloom export quotes.mjs -o left.jsonl; webloom clear quotes.mjs; webloom import left.jsonl quotes.mjs',
  )
  expect(stdout + stderr).not.toMatch(/\n\s+at /)
  expect(await stored()).toEqual(before)
})

test('what is left of it goes on in a crawl of this form', async () => {
  const left = await run('export', 'quotes.mjs', '-o', 'left.jsonl')
  expect(left.code, left.stderr).toBe(0)
  const lines = (await readFile(folder.join('left.jsonl'), 'utf8')).trim().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { url: string }).url).toSorted()).toEqual(PAGES)
  const cleared = await run('clear', 'quotes.mjs', '--force')
  expect(cleared.code, cleared.stderr).toBe(0)
  expect((await redis.keys('*')).filter((key) => !key.endsWith(':cleared'))).toEqual([])
  const taken = await run('import', 'left.jsonl', 'quotes.mjs')
  expect(taken.code, taken.stderr).toBe(0)
  const status = await run('status', 'quotes.mjs', '--json')
  expect(JSON.parse(status.stdout).counts).toMatchObject({ waiting: 6, delayed: 0, leased: 0 })
})
