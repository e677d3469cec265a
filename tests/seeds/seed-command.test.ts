/** `webloom seed` as a person meets it, a real Redis, and what then waits there. */

import { writeFileSync } from 'node:fs'
import {
  type ProcessOptions,
  type RedisServer,
  runProcess,
  startRedis,
  startTcpProxy,
  type TempDir,
} from '@webloom/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CommandLine } from '../projects/command-line.ts'
import { CLI, projectFolder } from '../projects/project-folder.ts'

let redis: RedisServer
let folder: TempDir
let commands: CommandLine

beforeAll(async () => {
  commands = new CommandLine()
  redis = await startRedis()
  const spiders = {
    quotes: "class Quotes extends RedisSpider { name = 'quotes'\n parseAuthor() {} }",
    own: "class Own extends RedisSpider { name = 'own'\n redisKey = 'todo'\n makeRequestFromData(n: string) { return new Request('https://example.com/' + n) } }",
    plain: "class Plain extends Spider { name = 'plain' }",
  }
  const files = Object.entries(spiders).map(([name, source]) => [
    `spiders/${name}.ts`,
    `import { RedisSpider, Request, Spider } from 'webloom'\nexport default ${source}\nvoid [RedisSpider, Request, Spider]\n`,
  ])
  folder = await projectFolder({
    'webloom.config.ts':
      "import { defineConfig } from 'webloom'\nexport default defineConfig({ spiders: 'spiders' })\n",
    ...Object.fromEntries(files),
  })
})
afterAll(async () => {
  await commands[Symbol.asyncDispose]()
  await redis.stop()
  await folder.remove()
})
beforeEach(() => redis.command('FLUSHALL'))

/** With input in a process of its own. */
function seed(args: readonly string[], { input, env }: Pick<ProcessOptions, 'input' | 'env'> = {}) {
  const words = ['seed', ...args]
  const options = { cwd: folder.path, env: { REDIS_URL: redis.url, ...env } }
  return input === undefined
    ? commands.run(words, options)
    : runProcess(process.execPath, [CLI, ...words], { ...options, input })
}

function seedLines(lines: readonly string[], words: readonly string[], env: ProcessOptions['env'] = {}) {
  writeFileSync(folder.join('lines.txt'), lines.join('\n'))
  return seed(['quotes', 'lines.txt', ...words], { env })
}

const waiting = () => redis.command('LRANGE', 'quotes:start_urls', 0, -1)
const url = (n: number) => `https://example.com/${n}`

describe('webloom seed', () => {
  test('puts URLs and JSON where scrapy-redis’s producers put them, and says where', async () => {
    const json = `{"url":"${url(2)}","callback":"parseAuthor"}`
    const { code, stdout, stderr } = await seed(['quotes', url(1), json])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe('pushed 2 seeds to quotes:start_urls (list); 2 wait there now\n')
    expect(await waiting()).toEqual([url(1), json])
  })

  test('a URL that the crawl’s URL_RULES refuse is bad', async () => {
    const odd = 'http://example.com\\\\['
    const by = (rules: string) => seed(['quotes', '--json', odd, '-s', `URL_RULES=${rules}`])
    expect(JSON.parse((await by('w3lib-2.5')).stdout)).toMatchObject({ pushed: 1, bad: 0 })
    const { code, stdout } = await by('w3lib-2.4')
    expect(code).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({ pushed: 0, bad: 1 })
  })

  test.each([
    ['a file', (path: string) => ({ args: ['quotes', path] })],
    ['--file', (path: string) => ({ args: ['quotes', '--file', path] })],
    ['-', (_: string, text: string) => ({ args: ['quotes', '-'], input: text })],
  ])('%s is read line by line; bad lines are told by number and left out', async (_, given) => {
    const text = `${url(1)}\r\n\nexample.com\n${url(2)}\n{"url":"${url(3)}","callback":"parseAutor"}\n`
    const path = folder.join('urls.txt')
    writeFileSync(path, text)
    const { args, ...input } = given('urls.txt', text) as { args: string[]; input?: string }
    const { code, stdout, stderr } = await seed(args, input)
    // Not 2, which says that nothing was done: the same line once more would push the good ones again.
    expect(code).toBe(1)
    expect(await waiting()).toEqual([url(1), url(2)])
    expect(stdout).toContain('2 bad ones were left out: fix them, and push only these')
    const lines = stderr.trim().split('\n')
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/^(urls\.txt:|line )3: "example\.com" cannot be requested/)
    expect(lines[1]).toMatch(/^(urls\.txt:|line )5: callback "parseAutor" is not a method of spider quotes/)
  })

  test('many lines arrive in their order, each once, though a reply is lost on the way', async () => {
    await using proxy = await startTcpProxy({ target: redis.url })
    let pushes = 0
    const cut = proxy.cutReplyOf(([name]) => /^EVAL/.test(name!) && ++pushes === 3)
    const urls = Array.from({ length: 5500 }, (_, n) => url(n))
    const { code, stdout, stderr } = await seedLines(urls, ['--json'], { REDIS_URL: proxy.url })
    expect(code, stderr).toBe(0)
    expect(cut.count).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      spider: 'quotes',
      key: 'quotes:start_urls',
      type: 'list',
      pushed: 5500,
      added: 5500,
      waiting: 5500,
      bad: 0,
      problems: [],
    })
    expect(await waiting()).toEqual(urls)
  })

  test('a file that is not there is said to be none, not a URL without a scheme', async () => {
    const { code, stderr } = await seed(['quotes', 'nofile.txt'])
    expect(stderr).toMatch(/there is no file .*nofile.txt/)
    expect(code).toBe(2)
  })

  test('of many bad lines the first are told and all are counted', async () => {
    const { code, stdout, stderr } = await seedLines(Array(50).fill('bad'), ['--json'])
    expect(code).toBe(2)
    expect(stderr.trim().split('\n')).toHaveLength(21)
    expect(stderr).toContain('and 30 more bad ones')
    expect(JSON.parse(stdout)).toMatchObject({ pushed: 0, bad: 50 })
    expect(await waiting()).toEqual([])
  })

  test('--front puts them before what waits', async () => {
    await seed(['quotes', url(1)])
    await seed(['quotes', '--front', url(2), url(3)])
    expect(await waiting()).toEqual([url(2), url(3), url(1)])
  })

  test('settings ask for a set or a sorted set, and what is there decides', async () => {
    const set = await seed(['quotes', url(1), url(1), url(2), '-s', 'REDIS_START_URLS_AS_SET=true'])
    expect(set.stdout).toContain('(set), 1 of which were there; 2 wait')
    const again = await seed(['quotes', url(3)])
    expect(again.stdout).toContain('(set); 3 wait')
    await redis.command('FLUSHALL')
    const sorted = ['-s', 'REDIS_START_URLS_AS_ZSET=true']
    await seed(['quotes', ...sorted, url(1), `{"url":"${url(2)}","priority":9}`])
    await seed(['quotes', '--score', '5.5', url(3)])
    expect(await redis.command('ZREVRANGE', 'quotes:start_urls', 0, -1, 'WITHSCORES')).toEqual([
      `{"url":"${url(2)}","priority":9}`,
      '9',
      url(3),
      '5.5',
      url(1),
      '0',
    ])
  })

  test('CRAWL_ID, redisKey and SEEDS_REDIS_URL say where, and a spider’s own messages are not judged', async () => {
    await using other = await startRedis()
    const env = { SEEDS_REDIS_URL: other.url }
    await seed(['quotes', url(1), '-s', 'CRAWL_ID=may'], { env })
    await seed(['own', '17'], { env })
    expect(await other.command('LRANGE', 'quotes:may:start_urls', 0, -1)).toEqual([url(1)])
    expect(await other.command('LRANGE', 'todo', 0, -1)).toEqual(['17'])
    expect(await redis.command('DBSIZE')).toBe(0)
  })

  test('SEEDS_FORMAT decides what is a good message', async () => {
    const message = `{"url":"${url(1)}","q":"loom"}`
    expect((await seed(['quotes', message])).stderr).toContain('there is no field "q"')
    expect((await seed(['quotes', message, '-s', 'SEEDS_FORMAT=scrapy-redis'])).code).toBe(0)
    expect(await waiting()).toEqual([message])
  })

  test.each([
    [['quotes'], 2, 'nothing to seed'],
    [['quotes', '--file', 'gone.txt'], 2, 'there is no file gone.txt'],
    [['quotes', '--file', 'a', url(1)], 2, 'expected one of them'],
    [['plain', url(1)], 2, 'it is not a RedisSpider'],
    [['quotes', '--score', '1', url(1)], 2, '--score is for a sorted set'],
    [['quotes', '--front', url(1), '-s', 'REDIS_START_URLS_AS_SET=true'], 2, '--front is for a list'],
    [['quotes', url(1), '-s', 'REDIS_URL='], 2, 'REDIS_URL'],
    [
      ['quotes', url(1), '-s', 'REDIS_URL=redis://127.0.0.1:1', '-s', 'REDIS_START_TIMEOUT=0.5'],
      3,
      'cannot be used',
    ],
  ])('%j ends with %i', async (args, exit, says) => {
    const { code, stderr } = await seed(args)
    expect(stderr).toContain(says)
    expect(code).toBe(exit)
  })

  test('a key that holds something else is left alone', async () => {
    await redis.command('HSET', 'quotes:start_urls', 'a', 'b')
    const { code, stderr } = await seed(['quotes', url(1)])
    expect(stderr).toContain('holds a hash; start URLs are a list, a set or a sorted set')
    expect(code).toBe(2)
  })

  test('a Redis that goes silent is given up, and what is there by then is told', async () => {
    await using proxy = await startTcpProxy({ target: redis.url })
    let pushes = 0
    proxy.cutReplyOf(([name]) => {
      if (/^EVAL/.test(name!) && ++pushes === 3) proxy.hang()
      return false
    })
    const urls = Array.from({ length: 5000 }, (_, n) => url(n))
    const { code, stderr } = await seedLines(urls, ['-s', 'REDIS_START_TIMEOUT=1'], { REDIS_URL: proxy.url })
    expect(stderr).toMatch(/has not answered for 1 s .*; [12],000 were pushed before/)
    expect(code).toBe(3)
  })
})
