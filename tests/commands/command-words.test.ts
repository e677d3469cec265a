/** What commands say to somebody who has just begun. */

import { writeFile } from 'node:fs/promises'
import { type RedisServer, startRedis, type TempDir } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SHORT_TIMES } from '../cluster/cluster-crawl.ts'
import { CommandLine } from '../projects/command-line.ts'
import { projectFolder } from '../projects/project-folder.ts'

const PAGE = 'data:text/html,%3Ch1%3EBooks%3C/h1%3E%3Cp%3Eone%3C/p%3E'

let folder: TempDir
let redis: RedisServer
let commands: CommandLine
beforeAll(async () => {
  commands = new CommandLine()
  ;[folder, redis] = await Promise.all([projectFolder(), startRedis()])
  const spider = (kind: string, name: string, body: string) =>
    writeFile(
      folder.join(`${name}-file.mjs`),
      `import { ${kind} } from 'webloom'\nexport default class Made extends ${kind} { name = '${name}'; ${body} }\n`,
    )
  await Promise.all([
    spider('Spider', 'throws', `parse() { throw new Error('of the callback') }`),
    spider('Spider', 'books', `startUrls = ['${PAGE}']; *parse(r) { yield { url: r.url } }`),
    spider('RedisSpider', 'seeded', 'maxIdleTime = 1'),
  ])
})
afterAll(async () => {
  await commands[Symbol.asyncDispose]()
  await Promise.all([folder.remove(), redis.stop()])
})

const webloom = (...words: string[]) => commands.run(words, { cwd: folder.path, factor: SHORT_TIMES })
const onRedis = () => ['-s', `REDIS_URL=${redis.url}`]

const jsonLines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test('lines of parse say whose they are, as those of a crawl do', async () => {
  const { stderr } = await webloom('parse', PAGE, '--spider', 'throws-file.mjs', '-s', 'CRAWL_ID=monday')
  expect(jsonLines(stderr)).toMatchObject([
    { level: 'ERROR', spider: 'throws', crawl: 'monday', worker: expect.stringMatching(/:\d+:[0-9a-f]{8}$/) },
  ])
})

test('check of a spider without contracts names it, and what to write', async () => {
  const { code, stdout } = await webloom('check', 'books-file.mjs')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^spider books has no contracts: nothing was checked\..*static contracts = /)
})

test('shell shows what a selector holds, and of much its beginning', async () => {
  const shown = async (code: string) => (await webloom('shell', PAGE, '-c', code)).stdout
  expect(await shown("response.css('h1')")).toBe('SelectorList(1) [ Selector "<h1>Books</h1>" ]\n')
  expect(await shown("response.css('p::text')[0]")).toBe('Selector "one"\n')
  const long = await shown(`Selector.from('<p>' + 'x'.repeat(5000) + '</p>')`)
  expect(long).toMatch(/^Selector ".*x…"\n$/)
  expect(long.length).toBeLessThan(120)
})

describe('a spider that was named by its file', () => {
  test('is named so in the line to type', async () => {
    const { stderr } = await webloom('worker', 'seeded-file.mjs', ...onRedis(), '-s', 'CRAWL_ID=a b')
    expect(stderr).toContain(
      `webloom seed seeded-file.mjs -s CRAWL_ID='a b' -s REDIS_URL=${redis.url} <url …>`,
    )
  })

  test('and where scrapy-redis has left requests', async () => {
    await redis.command('ZADD', 'books:requests', '1', 'pickle')
    const { stderr } = await webloom('worker', 'books-file.mjs', ...onRedis())
    expect(stderr).toContain(
      `webloom import scrapy-redis books-file.mjs -s REDIS_URL=${redis.url}  takes them over`,
    )
  })

  test('another BLOOMFILTER_CAPACITY than its filter was begun with: what is kept, what is set, and a line that begins anew', async () => {
    const filter = [
      '-s',
      'DUPEFILTER_CLASS=redis-bloom',
      '-s',
      'SCHEDULER_PERSIST=true',
      '-s',
      'CRAWL_ID=sized',
    ]
    const worker = (capacity: number) =>
      webloom(
        'worker',
        'books-file.mjs',
        '--new',
        ...onRedis(),
        ...filter,
        '-s',
        `BLOOMFILTER_CAPACITY=${capacity}`,
      )
    expect((await worker(1000)).code).toBe(0)
    const { code, stderr } = await worker(5000)
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /made for 1000 requests at an error of 0\.000001; what is set now makes one for 5000 requests at/,
    )
    expect(stderr).toMatch(/it keeps the requests seen \(1 request\)/)
    const line = /forget the requests seen: {2}webloom (clear .*)/.exec(stderr)?.[1] ?? ''
    expect(line).toBe(`clear books-file.mjs -s CRAWL_ID=sized -s REDIS_URL=${redis.url}`)
    const cleared = await webloom(...line.split(' '))
    expect(cleared.code, cleared.stderr).toBe(0)
    expect((await worker(5000)).code).toBe(0)
  })
})
