/** `webloom dupefilter` as a person types it, on a real Redis. */

import { writeFileSync } from 'node:fs'
import { type RedisServer, runProcess, startRedis, type TempDir, tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fingerprint, Request } from 'webloom'
import { CommandLine } from '../projects/command-line.ts'
import { CLI, projectFolder } from '../projects/project-folder.ts'

let redis: RedisServer
let folder: TempDir
let commands: CommandLine
beforeAll(async () => {
  commands = new CommandLine()
  redis = await startRedis()
  const spider = (name: string, settings: string) =>
    `import { Spider } from 'webloom'\nexport default class S extends Spider { name = '${name}'; customSettings = ${settings} }\n`
  folder = await projectFolder({
    'webloom.config.ts': `import { defineConfig } from 'webloom'\nexport default defineConfig({ spiders: 'spiders', settings: { REDIS_URL: '${redis.url}' } })\n`,
    'spiders/quotes.ts': spider('quotes', '{}'),
    'spiders/bloom.ts': spider(
      'bloom',
      "{ DUPEFILTER_CLASS: 'redis-bloom', BLOOMFILTER_CAPACITY: 20, BLOOMFILTER_ERROR_RATE: 0.01 }",
    ),
  })
})
afterAll(async () => {
  await commands[Symbol.asyncDispose]()
  await redis.stop()
  await folder.remove()
})
beforeEach(() => redis.command('FLUSHALL'))

const dupefilter = (...args: string[]) =>
  commands.run(['dupefilter', ...args], { cwd: folder.path, env: { NO_COLOR: '1' } })

const page = (n: number) => `https://example.com/${n}`

describe('webloom dupefilter', () => {
  test('has, add and rm on a set', async () => {
    const before = await dupefilter('has', 'quotes', page(1))
    expect(before).toMatchObject({ code: 0, stdout: `new   ${page(1)}\n` })
    expect(await redis.command('DBSIZE'), 'looking makes nothing').toBe(0)
    expect((await dupefilter('add', 'quotes', page(1), page(2), page(1))).stdout).toMatch(
      /^added .*\/1\nadded .*\/2\nwas there .*\/1\n$/,
    )
    const member = fingerprint(new Request(page(1)), { algorithm: 'scrapy-redis' })
    expect(await redis.command('SISMEMBER', 'quotes:dupefilter', member)).toBe(1)
    const has = await dupefilter('has', 'quotes', '--json', page(1), page(3))
    expect(JSON.parse(has.stdout)).toEqual([
      { url: page(1), seen: true },
      { url: page(3), seen: false },
    ])
    expect((await dupefilter('rm', 'quotes', page(1), page(3))).stdout).toMatch(
      /^removed .*\/1\nwas not there .*\/3\n$/,
    )
    expect((await dupefilter('has', 'quotes', page(1), page(2))).stdout).toBe(
      `new   ${page(1)}\nseen  ${page(2)}\n`,
    )
    expect((await dupefilter('stats', 'quotes')).stdout).toMatch(
      /^redis-set {3}fingerprints by scrapy-redis\n {2}recorded +1\n {2}memory +\d/,
    )
  })

  test('URLs from standard input, and the crawl that -s names', async () => {
    const { code } = await runProcess(
      process.execPath,
      [CLI, 'dupefilter', 'add', '-s', 'CRAWL_ID=may', 'quotes', '-'],
      { cwd: folder.path, env: { NO_COLOR: '1' }, input: `${page(1)}\n\n${page(2)}\n` },
    )
    expect(code).toBe(0)
    expect(await redis.command('SCARD', 'quotes:may:dupefilter')).toBe(2)
  })

  test('a Bloom filter: stats with its warnings; rm says that it cannot', async () => {
    expect((await dupefilter('stats', 'bloom')).stdout).toContain('nothing has been recorded yet')
    expect(await redis.command('DBSIZE')).toBe(0)
    const urls = Array.from({ length: 25 }, (_, n) => page(n))
    await dupefilter('add', 'bloom', ...urls)
    const { stdout } = await dupefilter('stats', 'bloom')
    expect(stdout).toMatch(/capacity +20, 1\d\d(\.\d)? % used/)
    expect(stdout).toMatch(/bits set +[5-7]\d(\.\d+)? %/)
    expect(stdout).toMatch(/error now +\d\.\de-[12]/)
    expect(stdout).toMatch(/pages lost +less than one/)
    expect(stdout).toMatch(/warning +half of the Bloom filter’s bits are set/)
    expect(stdout).toMatch(/warning +the Bloom filter has reached its capacity: an error of 0\.01/)
    const json = JSON.parse((await dupefilter('stats', 'bloom', '--json')).stdout)
    expect(json).toMatchObject({ name: 'redis-bloom', capacity: 20, exists: true })
    expect(json.memoryBytes).toBeGreaterThan(100)
    const rm = await dupefilter('rm', 'bloom', page(1))
    expect(rm.code).toBe(2)
    expect(rm.stderr).toContain('redis-bloom cannot forget a single request: its bits are shared')
  })

  test.each([
    ['counting-bloom', ['BLOOMFILTER_CAPACITY=1000'], /capacity +1,000, 0\.2 % used/],
    ['redis-key', ['DUPEFILTER_TTL=90'], /recorded +2, with those that have expired\n {2}lifetime +90 s/],
  ])('%s: has, add, rm and stats', async (name, settings, figures) => {
    const chosen = [`DUPEFILTER_CLASS=${name}`, ...settings].flatMap((setting) => ['-s', setting])
    const run = async (act: string, ...urls: string[]) =>
      (await dupefilter(act, 'quotes', ...chosen, ...urls)).stdout
    expect(await run('has', page(1))).toMatch(/^new /)
    expect(await redis.command('DBSIZE'), 'looking makes nothing').toBe(0)
    await run('add', page(1), page(2))
    expect(await run('stats')).toMatch(figures)
    expect(await run('rm', page(1), page(3))).toMatch(/^removed .*\/1\nwas not there .*\/3\n$/)
    expect(await run('has', page(1), page(2))).toMatch(/^new .*\nseen /)
  })

  test('a filter that extends a built-in one: has, rm and stats as that one', async () => {
    writeFileSync(
      folder.join('own.ts'),
      "import { RedisSetDupeFilter } from 'webloom/ports'\nexport class Own extends RedisSetDupeFilter {}\n",
    )
    const run = async (act: string, ...urls: string[]) => {
      const own = ['-s', 'DUPEFILTER_CLASS=./own.ts#Own', '-s', 'CRAWL_ID=own']
      const { stdout, stderr } = await dupefilter(act, 'quotes', ...own, ...urls)
      return stdout + stderr
    }
    expect(await run('has', page(1))).toMatch(/^new /)
    expect(await run('stats')).toContain('nothing has been recorded yet')
    await run('add', page(1), page(2))
    expect(await run('rm', page(1), page(3))).toMatch(/^removed .*\/1\nwas not there .*\/3\n$/)
    expect(await run('has', page(1), page(2))).toMatch(/^new .*\nseen /)
    expect(await run('stats')).toMatch(/recorded +1\n {2}memory +\d/)
  })

  test('by host: stats names the fullest', async () => {
    const chosen = ['DUPEFILTER_CLASS=redis-bloom', 'BLOOMFILTER_PARTITION_BY=host'].flatMap((one) => [
      '-s',
      one,
    ])
    await dupefilter('add', 'quotes', ...chosen, page(1), page(2), 'https://example.org/')
    const { stdout } = await dupefilter('stats', 'quotes', ...chosen)
    expect(stdout).toMatch(/hosts +2, of which 0 are full/)
    expect(stdout).toMatch(/fullest +example\.com: 2, error none/)
  })

  test.each([
    [['has', 'quotes', 'example.com'], /it has no scheme/],
    [['has', 'qoutes', page(1)], /there is no spider "qoutes". Did you mean quotes/],
    [
      ['has', 'quotes', '-s', 'DUPEFILTER_CLASS=memory', page(1)],
      /lives and ends with the process that crawls/,
    ],
    [['stats', 'quotes', '-s', 'JOBDIR=job'], /only the crawl itself opens it/],
    [['has', 'quotes'], /missing required argument/],
    [
      ['stats', 'quotes', '-s', 'BLOOMFILTER_BIT=41'],
      /BLOOMFILTER_BIT is "41" .*expected a whole number from 1 to 40/,
    ],
    [['stats', 'quotes', '-s', 'BLOOMFILTER_HASH_NUMBER=0'], /BLOOMFILTER_HASH_NUMBER is "0"/],
    [['stats', 'quotes', '-s', 'BLOOMFILTER_CAPACITY=0'], /BLOOMFILTER_CAPACITY is "0"/],
  ])('%j: exit code 2, and why', async (args, message) => {
    const { code, stderr } = await dupefilter(...args)
    expect(stderr).toMatch(message)
    expect(code).toBe(2)
  })
})

test('a filter spread over two servers: it looks at both', async () => {
  await using one = await startRedis()
  await using other = await startRedis()
  const servers = ['-s', `DUPEFILTER_REDIS_URL=${JSON.stringify([one.url, other.url])}`]
  const both = async (...args: string[]) => (await dupefilter(...args, ...servers)).stdout
  const pages = Array.from({ length: 20 }, (_, n) => page(n))
  expect(await both('stats', 'quotes')).toContain('nothing has been recorded yet')
  expect((await both('add', 'quotes', ...pages)).match(/^added/gm)).toHaveLength(20)
  expect((await both('rm', 'quotes', pages[0]!, pages[1]!)).match(/^removed/gm)).toHaveLength(2)
  expect((await both('has', 'quotes', ...pages)).match(/^seen/gm)).toHaveLength(18)
  expect(await both('stats', 'quotes')).toMatch(
    /recorded +18\n {2}of which +\d+ on redis:\S+\n {2}of which +\d+ on redis:\S+\n/,
  )
})

test('a Redis that is not there: exit code 3, host and cause, and no password', async () => {
  await using folder = await tempDir()
  writeFileSync(
    folder.join('s.ts'),
    "import { Spider } from 'webloom'\nexport default class S extends Spider { name = 's' }\n",
  )
  const { code, stderr } = await commands.run(['runspider', 's.ts', '-s', 'REDIS_START_TIMEOUT=0.5'], {
    cwd: folder.path,
    env: { REDIS_URL: 'redis://me:hush@127.0.0.1:1/2' },
  })
  expect(code).toBe(3)
  expect(stderr).toMatch(/redis:\/\/127\.0\.0\.1:1\/2 cannot be used: .*ECONNREFUSED/)
  expect(stderr).not.toContain('hush')
})

test('webloom plan tells what BIT 30 with 6 hashes gives at 10^8 URLs', async () => {
  const words = ['plan', '--urls', '1e8', '--json']
  const { stdout, code } = await commands.run(words, { cwd: folder.path })
  expect(code).toBe(0)
  const plans = JSON.parse(stdout) as { variant: string; errorAtEnd: number; pagesLost: number }[]
  const bit30 = plans.find(({ variant }) => variant.includes('BLOOMFILTER_BIT=30'))!
  expect(bit30.errorAtEnd).toBeCloseTo(0.0062, 4)
  expect(Math.round(bit30.pagesLost / 1000)).toBe(108)
})
