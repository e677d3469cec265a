/** The exit codes and log lines of commands whose crawl waits, or has nothing to do. */

import { writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CommandLine } from '../projects/command-line.ts'
import { projectFolder } from '../projects/project-folder.ts'

const PAGE = '<title>Home</title><a href="/2">2</a>'

let commands: CommandLine
beforeAll(() => {
  commands = new CommandLine()
})
afterAll(() => commands[Symbol.asyncDispose]())

const webloom = (...words: string[]) => commands.run(words, { cwd: import.meta.dirname })

/** A site of one page, whose robots.txt is answered with that status. */
class Site implements AsyncDisposable {
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(robotsStatus: number): Promise<Site> {
    const server = createServer((request, response) => {
      if (request.url === '/robots.txt') response.writeHead(robotsStatus).end()
      else response.setHeader('content-type', 'text/html').end(PAGE)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new Site(server)
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }
}

test('webloom fetch does not wait for a robots.txt that cannot be fetched', async () => {
  await using site = await Site.start(503)
  const { url } = site
  const refused = await webloom('fetch', url, '-s', 'ROBOTSTXT_OBEY=true')
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toMatch(/ROBOTSTXT_OBEY=false/)
  const { stdout } = await webloom('fetch', url, '-s', 'ROBOTSTXT_OBEY=false')
  expect(stdout).toBe(PAGE)
})

test('a crawl whose items no output can write, with FAIL_ON_EMPTY: exit code 1, and one line for each item names page and fields', async () => {
  await using site = await Site.start(404)
  await using folder = await projectFolder()
  const file = folder.join('lost.mjs')
  const { url } = site
  const parse = "yield { heads: r.css('h1'), text: r.css('h1::text').get, ok: 1, all: this.parseOther(r) }"
  await writeFile(
    file,
    `import { Spider } from 'webloom'\nexport default class Lost extends Spider { name = 'lost'; startUrls = ['${url}'];\n *parse(r) { ${parse} }\n async *parseOther() {} }\n`,
  )
  const items = folder.join('items.jsonl')
  const words = ['runspider', file, '-O', items, '-s', 'FAIL_ON_EMPTY=true', '-s', 'LOG_FORMAT=json']
  const { code, stderr } = await webloom(...words, '-s', 'LOG_LEVEL=WARNING', '-s', 'STATS_DUMP=false')
  const lines = stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(code).toBe(1)
  expect(lines[0]).toMatchObject({ level: 'ERROR', url, callback: 'parse' })
  expect(lines[0]).not.toHaveProperty('err')
  expect(lines[0]?.reason).toMatch(
    /field "heads" is a SelectorList.*field "text" is the function get.*field "all" is a generator/,
  )
  expect(lines.slice(1).map(({ level, msg }) => `${level} ${msg}`)).toEqual([
    expect.stringMatching(
      /^WARNING of what the spider yielded is lost: 1 item that an output could not write/,
    ),
    expect.stringMatching(/^WARNING nothing was crawled: no item could be written to an output/),
  ])
})

test('each line as JSON says whose it is: spider, crawl and worker', async () => {
  await using folder = await projectFolder()
  const file = folder.join('empty.mjs')
  await writeFile(
    file,
    `import { Spider } from 'webloom'\nexport default class Empty extends Spider {\n name = 'empty'\n async *start() { this.logger.info('mine') } }\n`,
  )
  const { stderr } = await webloom('runspider', file, '-s', 'CRAWL_ID=monday')
  const lines = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(lines.map(({ msg }) => msg)).toContain('mine')
  const worker = lines[0]?.worker
  expect(worker).toMatch(/:\d+:[0-9a-f]{8}$/)
  for (const line of lines) expect(line).toMatchObject({ spider: 'empty', crawl: 'monday', worker })
})

test('a crawl that brings nothing ends with exit code 1 with FAIL_ON_EMPTY', async () => {
  await using folder = await projectFolder()
  const file = folder.join('empty.mjs')
  await writeFile(
    file,
    `import { Spider } from 'webloom'\nexport default class Empty extends Spider { name = 'empty' }\n`,
  )
  const run = (...more: string[]) => webloom('runspider', file, ...more)
  expect((await run()).code).toBe(0)
  const { code, stderr } = await run('-s', 'FAIL_ON_EMPTY=true')
  expect(code).toBe(1)
  expect(stderr).toMatch(/Empty has no start URLs/)
  const server = await startRedis()
  try {
    const worker = await webloom('worker', file, '-s', `REDIS_URL=${server.url}`, '-s', 'FAIL_ON_EMPTY=true')
    expect(worker.code).toBe(1)
    expect(worker.stderr).toMatch(/nothing was crawled by any worker: Empty has no start URLs/)
  } finally {
    await server.stop()
  }
})
