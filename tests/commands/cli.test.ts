/** The built command line as a person meets it: real processes, real files, and what they print. What is only asked and answered shares one. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FakeWeb, runProcess, startFakeWeb, startProcess, type TempDir } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CommandLine } from '../projects/command-line.ts'
import { CLI, projectFolder } from '../projects/project-folder.ts'
import { inSoaks } from '../setup/soaks.ts'

const PAGES = 12

let web: FakeWeb
let folder: TempDir
let commands: CommandLine

beforeAll(async () => {
  commands = new CommandLine()
  web = await startFakeWeb({ seed: 1, pagesPerHost: PAGES })
  web.route(null, '/hostile', (_, res) =>
    res.setHeader('content-type', 'text/html').end('<title>\u001b[31mred\u0007\u009b2J</title>'),
  )
  folder = await projectFolder()
})
afterAll(async () => {
  await commands[Symbol.asyncDispose]()
  await web.close()
  await folder.remove()
})

type Place = { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> }

const webloom = (words: readonly string[], place: Place = {}) =>
  runProcess(process.execPath, [CLI, ...words], { cwd: folder.path, ...place })

/** The same, in a process that has answered others. */
const answered = (words: readonly string[], place: Place = {}) =>
  commands.run(words, { cwd: folder.path, ...place })

function file(name: string, text: string): string {
  const path = folder.join(name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
  return name
}

const spider = (name: string, body = '', fields = '') => `import { type Response, Spider } from 'webloom'

export default class Made extends Spider {
  name = '${name}'
  startUrls = ['${web.seeds[0]}']
  ${fields}
  async *parse(response: Response) {
    yield { url: response.url, title: response.css('title::text').get() }
    ${body}
    yield* response.followAll()
  }
}
`

const logLines = (stderr: string) =>
  stderr
    .trim()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe('runspider', () => {
  test('crawls without a project or a build, writes items and stats, and ends with 0', async () => {
    const { code, stderr, stdout } = await webloom([
      'runspider',
      file('good.ts', spider('good')),
      '-O',
      'good.jsonl',
      '--stats-file',
      'stats.json',
    ])
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: '' })
    const items = readFileSync(folder.join('good.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { url: string })
    expect(new Set(items.map(({ url }) => url))).toEqual(web.reachable())
    const stats = JSON.parse(readFileSync(folder.join('stats.json'), 'utf8')) as Record<string, unknown>
    expect(stats).toMatchObject({
      finish_reason: 'finished',
      item_scraped_count: PAGES,
      'downloader/response_status_count/200': PAGES,
    })
    const messages = logLines(stderr).map(({ msg }) => msg)
    expect(messages).toContain('queue: memory, priority order; filter: memory; fingerprinter: scrapy')
    expect(messages.at(-1)).toBe('crawl ended: finished')
  })

  test('-o appends, -O overwrites, and - is stdout', async () => {
    file('one.ts', spider('one', 'return'))
    rmSync(folder.join('appended.csv'), { force: true })
    for (const [flag, lines] of [
      ['-o', 1],
      ['-o', 2],
      ['-O', 1],
    ] as const) {
      expect((await answered(['runspider', 'one.ts', flag, 'appended.csv'])).code).toBe(0)
      expect(readFileSync(folder.join('appended.csv'), 'utf8').trim().split('\n')).toHaveLength(lines + 1)
    }
    const { stdout } = await answered(['runspider', 'one.ts', '-o', '-:json', '--nolog'])
    expect(JSON.parse(stdout)).toHaveLength(1)
  })

  test('control characters of pages never reach the terminal', async () => {
    file(
      'hostile.ts',
      spider(
        'hostile',
        "this.logger.info('title ' + response.css('title::text').get()); throw new Error(String(response.css('title::text').get()))",
      ).replace(web.seeds[0]!, `${web.origins[0]}/hostile`),
    )
    for (const args of [[], ['-s', 'LOG_FORMAT=pretty']]) {
      const { stderr, stdout } = await answered(['runspider', 'hostile.ts', ...args], {
        env: { NO_COLOR: '1' },
      })
      expect(stderr + stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
      expect(stderr).toContain('red')
    }
  })

  test('a promise nobody awaits does not take the crawl down', async () => {
    file('forgot.ts', spider('forgot', "void Promise.reject(new Error('forgotten'))"))
    const { code, stderr } = await webloom(['runspider', 'forgot.ts', '--stats-file', 'forgot.json'])
    expect(code, stderr).toBe(0)
    expect(JSON.parse(readFileSync(folder.join('forgot.json'), 'utf8'))).toMatchObject({
      item_scraped_count: PAGES,
      'spider_exceptions/unhandledRejection': PAGES,
    })
  })

  test('an unreachable host is told of, and the rest is crawled', async () => {
    file(
      'unreachable.ts',
      spider('unreachable').replace(
        "startUrls = ['",
        "startUrls = ['http://127.0.0.1:1/', 'http://nowhere.invalid/', 'no-scheme', '",
      ),
    )
    const { code, stderr } = await answered([
      'runspider',
      'unreachable.ts',
      '-s',
      'RETRY_TIMES=1',
      '--stats-file',
      'u.json',
    ])
    expect(code).toBe(0)
    expect(stderr).toMatch(/connect ECONNREFUSED 127\.0\.0\.1:1/)
    expect(stderr).toMatch(/nowhere\.invalid/)
    expect(stderr).toMatch(/startUrls\[2\] is left out: \\"no-scheme\\"/)
    expect(JSON.parse(readFileSync(folder.join('u.json'), 'utf8'))).toMatchObject({
      item_scraped_count: PAGES,
      'retry/reason_count/DownloadConnectionRefusedError': 1,
      'downloader/exception_type_count/CannotResolveHostError': 2,
    })
  })
})

describe('bad input is refused with one message and exit code 2, and nothing is fetched', () => {
  beforeAll(() => {
    file('ok.ts', spider('ok', '', "tag = ''"))
    file(
      'syntax.ts',
      "import { Spider } from 'webloom'\nexport default class S extends Spider {\n  name = 'oops\n}\n",
    )
    file(
      'enum.ts',
      "import { Spider } from 'webloom'\nenum Kind { A }\nexport default class S extends Spider { name = 'e'; kind = Kind.A }\n",
    )
    file(
      'no-semicolon.ts',
      "import { Spider } from 'webloom'\nexport default class S extends Spider {\n  name = 'n'\n  *parse(response: object) {}\n}\n",
    )
    file('nothing.ts', 'export const nothing = 1\n')
    file('nameless.ts', "import { Spider } from 'webloom'\nexport default class S extends Spider {}\n")
    file('missing-import.ts', "import { x } from 'not-installed'\nexport default x\n")
  })

  test.each([
    [['runspider', 'syntax.ts'], /syntax\.ts:3:10.*syntax error/],
    [['runspider', 'enum.ts'], /enum\.ts:2:1.*enum[\s\S]*as const/],
    [['runspider', 'no-semicolon.ts'], /no-semicolon\.ts:4[\s\S]*Put ; after that field/],
    [['runspider', 'nothing.ts'], /nothing\.ts.*Spider/],
    [['runspider', 'nameless.ts'], /no name/],
    [['runspider', 'missing-import.ts'], /not-installed/],
    [['runspider', 'no-such-file.ts'], /no-such-file\.ts/],
    [
      ['runspider', 'ok.ts', '-s', 'DOWNLOAD_DELEY=1', '-s', 'CONCURRENT_REQUESTS=x'],
      /2 settings are wrong[\s\S]*DOWNLOAD_DELAY[\s\S]*whole number/,
    ],
    [['runspider', 'ok.ts', '-s', 'DOWNLOAD_DELAY'], /expected -s NAME=VALUE/],
    [['runspider', 'ok.ts', '-a', 'tga=1'], /no field "tga".*tag/],
    [['runspider', 'ok.ts', '-o', '.'], /format|jsonl/],
    [
      ['runspider', 'ok.ts', '-o', 'ok.ts/out.jsonl'],
      /ok\.ts\/out\.jsonl .*cannot be written: the file .* stands where a folder/,
    ],
    [['runspider', 'ok.ts', '-o', 'out.xls'], /out\.xls.*jsonl/],
    [
      ['runspider', 'ok.ts', '--stats-file', 'no/such/folder.json'],
      /no\/such\/folder\.json cannot be written/,
    ],
    [['runspider', 'ok.ts', '-s', 'DUPEFILTER_CLASS=redis-bloom'], /DUPEFILTER_CLASS.*redis-bloom/],
    [['runspider', 'ok.ts', '-s', 'ITEM_PIPELINES=[["./gone.ts#Pipe", 300]]'], /ITEM_PIPELINES.*gone\.ts/],
    [['crawl', 'anything'], /webloom\.config\.ts/],
    [['crwl', 'x'], /Did you mean crawl/],
    [['settings', '--get', 'NO_SUCH'], /no setting NO_SUCH/],
  ])('%j', async (args, message) => {
    web.resetHits()
    const { code, stderr } = await answered(args)
    expect(stderr).toMatch(message)
    expect(code).toBe(2)
    expect(stderr).not.toMatch(/\n\s+at /)
    expect(web.hits).toEqual([])
  })

  test('a setting of Scrapy that is not used is a warning that says why', async () => {
    const { code, stderr } = await answered([
      'runspider',
      'ok.ts',
      '-s',
      'LOG_SHORT_NAMES=True',
      '-s',
      'TELNETCONSOLE_ENABLED=0',
    ])
    expect(code).toBe(0)
    const warnings = logLines(stderr)
      .filter(({ level }) => level === 'WARNING')
      .map(({ msg }) => msg)
    expect(warnings).toEqual([
      expect.stringMatching(/LOG_SHORT_NAMES .*not used/),
      expect.stringMatching(/TELNETCONSOLE_ENABLED .*not used/),
    ])
  })

  test('start() that throws ends with 1', async () => {
    file(
      'start-throws.ts',
      "import { Spider } from 'webloom'\nexport default class S extends Spider { name = 's'; async *start() { throw new Error('no start today') } }\n",
    )
    const { code, stderr } = await answered(['runspider', 'start-throws.ts'])
    expect(stderr).toMatch(/no start today/)
    expect(code).toBe(1)
  })
})

describe('a project', () => {
  beforeAll(() => {
    file(
      'project/webloom.config.ts',
      "import { defineConfig } from 'webloom'\nexport default defineConfig({ spiders: 'spiders', settings: { DOWNLOAD_DELAY: 0.001, CUSTOM_WORD: 'hello' } })\n",
    )
    file('project/spiders/first.ts', spider('first', 'return'))
    file(
      'project/spiders/second.ts',
      spider('second', 'return', 'customSettings = { DOWNLOAD_DELAY: 0.002 }'),
    )
    file(
      'project/parts.ts',
      'export class Shout {\n  processItem(item: { title: string }) { return { ...item, title: item.title.toUpperCase() } }\n}\n',
    )
  })
  const inProject = () => ({ cwd: folder.join('project') })

  test('list names its spiders, crawl runs one, from a folder below too', async () => {
    expect((await answered(['list'], inProject())).stdout).toBe('first\nsecond\n')
    expect(JSON.parse((await answered(['list', '--json'], inProject())).stdout)).toHaveLength(2)
    const { code, stdout } = await answered(['crawl', 'first', '-o', '-:jsonl', '--nolog'], {
      cwd: folder.join('project/spiders'),
    })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ url: web.seeds[0] })
  })

  test('a misspelt spider, and a command of Scrapy’s, is answered with what was meant', async () => {
    const { code, stderr } = await answered(['crawl', 'frist'], inProject())
    expect(stderr).toMatch(/frist[\s\S]*first/)
    expect(code).toBe(2)
    const started = await answered(['startproject', 'quotes'], inProject())
    expect(started).toMatchObject({ code: 2, stderr: expect.stringContaining('npm create webloom@latest') })
  })

  test('a component is named by its file from the command line', async () => {
    const { stdout, stderr } = await answered(
      ['crawl', 'first', '-s', 'ITEM_PIPELINES=[["./parts.ts#Shout", 300]]', '-o', '-:jsonl', '--nolog'],
      inProject(),
    )
    const { title } = JSON.parse(stdout || stderr) as { title: string }
    expect(title).toBe(title.toUpperCase())
  })

  test('settings says what counts and where it comes from', async () => {
    expect((await answered(['settings', '--get', 'DOWNLOAD_DELAY'], inProject())).stdout).toBe('0.001\n')
    const explained = await answered(['settings', 'DOWNLOAD_DELAY', '-s', 'DOWNLOAD_DELAY=3', '--json'], {
      ...inProject(),
      env: { WEBLOOM_DOWNLOAD_DELAY: '2' },
    })
    expect(JSON.parse(explained.stdout)).toMatchObject({
      value: 3,
      source: 'command',
      layers: [{ layer: 'default' }, { layer: 'config' }, { layer: 'environment' }, { layer: 'command' }],
    })
    const all = await answered(['settings', '--json'], {
      ...inProject(),
      env: { WEBLOOM_CONCURRENT_REQUESTS: '4' },
    })
    expect(JSON.parse(all.stdout)).toContainEqual({
      name: 'CONCURRENT_REQUESTS',
      value: 4,
      source: 'environment',
    })
  })
})

describe('signals', () => {
  const slowSpider = () => file('slow.ts', spider('slow').replace(web.seeds[0]!, slow.seeds[0]!))
  let slow: FakeWeb
  beforeAll(async () => {
    slow = await startFakeWeb({ seed: 2, pagesPerHost: 500, latencyMs: 50, hangs: [{ host: 0, page: 499 }] })
  })
  afterAll(() => slow.close())

  test.each([['SIGINT', 130], ...inSoaks(['SIGTERM', 143] as const)] as const)(
    'the first %s finishes what is in flight and ends with %i',
    async (signal, exitCode) => {
      slow.resetHits()
      await using running = startProcess(
        process.execPath,
        [CLI, 'runspider', slowSpider(), '-O', 'slow.jsonl', '--stats-file', 'slow.json'],
        { cwd: folder.path },
      )
      await slow.waitForHits(20)
      running.kill(signal)
      const { code } = await running.exited
      expect(code).toBe(exitCode)
      const stats = JSON.parse(readFileSync(folder.join('slow.json'), 'utf8')) as Record<string, number>
      expect(stats).toMatchObject({ finish_reason: 'shutdown' })
      expect(readFileSync(folder.join('slow.jsonl'), 'utf8').trim().split('\n')).toHaveLength(
        stats.item_scraped_count!,
      )
      expect(slow.hits.filter(({ aborted }) => aborted)).toEqual([])
    },
  )

  test('the second signal ends at once', async () => {
    slow.resetHits()
    slow.route(null, '/hang', () => {})
    file('hang.ts', spider('hang').replace(web.seeds[0]!, `${slow.origins[0]}/hang`))
    // Neither of them ends it within the time of a test.
    const never = ['-s', 'SHUTDOWN_GRACE=600', '-s', 'DOWNLOAD_TIMEOUT=600']
    await using running = startProcess(process.execPath, [CLI, 'runspider', 'hang.ts', ...never], {
      cwd: folder.path,
    })
    await slow.waitForHits(1)
    running.kill('SIGINT')
    await running.waitForOutput(/again to end at once/)
    running.kill('SIGINT')
    expect((await running.exited).code).toBe(130)
  })
})

describe('standard output that takes no more', () => {
  const shell = (line: string) =>
    runProcess('sh', ['-c', line, process.execPath, CLI], { cwd: folder.path, env: {} })

  test('a full disk is told in words and ends with 1', async () => {
    const { code, stderr } = await shell('"$0" "$1" settings > /dev/full')
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^webloom: .*disk is full.*\[WL_OUTPUT_FAILED\]\n$/),
    ])
  })

  test('a reader that has gone has had what it wanted', async () => {
    const { code, stderr, stdout } = await shell(`{ "$0" "$1" settings; echo "ended $?" >&2; } | head -c 4`)
    expect({ code, stderr, length: stdout.length }).toEqual({ code: 0, stderr: 'ended 0\n', length: 4 })
  })
})

test('settings show nothing that is secret, but for one that is asked for by its name', async () => {
  const secret = [
    'REDIS_URL=redis://me:hunter2@h',
    'HTTPAUTH_PASS=hunter2',
    'FEEDS={"s3://KEY:hunter2@b/o.csv":{}}',
  ].flatMap((setting) => ['-s', setting])
  for (const words of [['--json'], ['--explain', 'FEEDS']]) {
    const { code, stdout, stderr } = await answered(['settings', ...words, ...secret])
    expect([code, `${stdout}${stderr}`.includes('hunter2'), stdout.includes('***')]).toEqual([0, false, true])
  }
  const asked = await answered(['settings', '--get', 'HTTPAUTH_PASS', ...secret])
  expect(asked.stdout).toBe('hunter2\n')
  const wrong = await answered(['settings', '-s', 'REDIS_PARAMS=hunter2'])
  expect([wrong.code, wrong.stderr.includes('hunter2')]).toEqual([2, false])
})
