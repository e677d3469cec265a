/** shell, fetch, view, parse, genspider and check as an author types them, and the helpers for an author's tests. */

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import {
  ensureChromium,
  type FakeWeb,
  runProcess,
  startFakeWeb,
  type TempDir,
  tempDir,
} from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Response, Spider } from 'webloom'
import { SPIDER_TEMPLATES } from '../../packages/webloom/src/authoring/spider-templates.ts'
import { recordCrawl, replayCrawl, runCallback } from '../../packages/webloom/src/testing.ts'
import { CommandLine } from '../projects/command-line.ts'
import { CLI, projectFolder } from '../projects/project-folder.ts'
import { inSoaks } from '../setup/soaks.ts'

let web: FakeWeb
let folder: TempDir
let home: string
let commands: CommandLine

beforeAll(async () => {
  commands = new CommandLine()
  web = await startFakeWeb({ seed: 1, pagesPerHost: 12 })
  web.route(null, '/books', (_, res) =>
    res
      .setHeader('content-type', 'text/html')
      .end('<title>Books</title><a class="book" href="/book">One</a> \u001b[31mred'),
  )
  web.route(null, '/book', (_, res) =>
    res.setHeader('content-type', 'text/html').end('<title>A book</title><p class="price">12</p>'),
  )
  web.route(null, '/moved', (_, res) => res.writeHead(302, { location: '/book' }).end())
  web.route(null, '/drawn', (_, res) =>
    res
      .setHeader('content-type', 'text/html')
      .end('<title>empty</title><script>document.title = "drawn"</script>'),
  )
  web.route(null, '/leads', (_, res) =>
    res.setHeader('content-type', 'text/html').end('<script>location = "/drawn"</script>'),
  )
  home = web.seeds[0]!
  folder = await projectFolder()
  mkdirSync(folder.join('spiders'))
  writeFileSync(
    folder.join('webloom.config.ts'),
    `import { defineConfig } from 'webloom'\nexport default defineConfig({ settings: { ITEM_PIPELINES: [['./dearer.ts#Dearer', 300]] } })\n`,
  )
  writeFileSync(
    folder.join('dearer.ts'),
    `export class Dearer { processItem(item: { price: string }) { return { ...item, price: Number(item.price) + 1 } } }\n`,
  )
  writeFileSync(
    folder.join('spiders/books.ts'),
    `import { type Response, Spider } from 'webloom'
export default class Books extends Spider {
  name = 'books'
  startUrls = ['${at('/books')}']
  allowedDomains = ['${new URL(home).hostname}']
  static contracts = {
    parse: { url: '${at('/books')}', returns: { items: 0, requests: [1] } },
    parseBook: [
      { url: '${at('/book')}', returns: { items: 1 }, scrapes: ['price'] },
      { url: '${at('/books')}', returns: { items: 1 }, scrapes: ['price'] },
    ],
  }
  async *parse(response: Response) {
    yield* response.followAll('.book', { callback: this.parseBook })
  }
  async *parseBook(response: Response) {
    yield { price: response.css('.price::text').get() }
  }
}
`,
  )
})
afterAll(async () => {
  await commands[Symbol.asyncDispose]()
  await web.close()
  await folder.remove()
})

const at = (path: string) => new URL(path, home).href

const webloom = (words: readonly string[], { cwd = folder.path } = {}) =>
  commands.run(words, { cwd, env: { BROWSER: 'true' } })

/** In a process of its own. */
const started = (words: readonly string[], options: { input?: string } = {}) =>
  runProcess(process.execPath, [CLI, ...words], { cwd: folder.path, ...options })

describe('fetch', () => {
  test('prints the page after its redirects, byte for byte', async () => {
    const { code, stdout, stderr } = await webloom(['fetch', at('/moved')])
    expect({ code, stdout }, stderr).toEqual({
      code: 0,
      stdout: '<title>A book</title><p class="price">12</p>',
    })
  })

  test('--headers --no-redirect shows what was sent and answered', async () => {
    const { stdout } = await webloom(['fetch', '--headers', '--no-redirect', at('/moved')])
    expect(stdout).toContain(`> GET ${at('/moved')}\n> accept: text/html`)
    expect(stdout).toContain(`< 302 ${at('/moved')}\n`)
    expect(stdout).toContain('< location: /book\n')
  })

  test('a page that is not there is printed like any other; a host that is not is an error with its reason', async () => {
    expect((await webloom(['fetch', at('/no-such-page')])).code).toBe(0)
    const { code, stderr } = await webloom(['fetch', 'http://127.0.0.1:1/', '-s', 'RETRY_ENABLED=false'])
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: `webloom: <GET http://127.0.0.1:1/>: connect ECONNREFUSED 127.0.0.1:1
Nothing listens there: the server of 127.0.0.1:1 does not run, or has another port. See whether it answers others:  curl -sSI http://127.0.0.1:1/
[WL_DOWNLOAD_FAILED]
`,
    })
  })
})

test('view saves the page with a base, and says where', async () => {
  const { stdout } = await webloom(['view', at('/book')])
  const page = readFileSync(stdout.trim(), 'utf8')
  expect(page).toContain(`<base href="${at('/book')}">`)
  expect(page).toContain('<p class="price">12</p>')
})

// Each starts a browser.
test.each([
  ['fetch', '/leads', [], '<title>drawn</title>'] as const,
  ...inSoaks(['shell', '/drawn', ['-c', "response.css('title::text').get()"], 'drawn\n'] as const),
])(
  '%s has a page rendered by --browser, and goes where its scripts lead',
  async (command, path, more, shown) => {
    const executable = await ensureChromium()
    const settings = { BROWSER_EXECUTABLE: executable, BROWSER_SANDBOX: process.getuid?.() !== 0 }
    const rendered = [
      '--browser',
      ...Object.entries(settings).flatMap(([key, value]) => ['-s', `${key}=${value}`]),
    ]
    const { stdout, stderr } = await webloom([command, at(path), ...rendered, ...more])
    expect(stdout, stderr).toContain(shown)
  },
)

describe('parse', () => {
  test('runs the callback of the spider that is for this host, and shows what it yields', async () => {
    const { stdout, stderr } = await webloom(['parse', at('/books')])
    expect(stdout, stderr).toBe(
      `>>> depth 1 <<<\n# items: 0\n# requests: 1\nGET ${at('/book')} → parseBook\n`,
    )
  })

  test('follows the requests of a spider in a file with --depth, and sends items through the pipelines with --pipelines', async () => {
    const { stdout, stderr } = await webloom([
      'parse',
      at('/books'),
      '-d',
      '2',
      '--pipelines',
      '--json',
      '--spider',
      'spiders/books.ts',
    ])
    expect(JSON.parse(stdout), stderr).toEqual({ items: [{ price: 13 }], requests: [] })
  })

  test('asks which spider, where none is for this host', async () => {
    const elsewhere = new URL(home)
    elsewhere.hostname = '[::1]'
    const { code, stderr } = await webloom(['parse', elsewhere.href])
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('--spider <file>') })
  })

  test('a callback that throws is told once, with what it yielded before', async () => {
    writeFileSync(
      folder.join('odd.ts'),
      `import { Spider } from 'webloom'
export default class Odd extends Spider {
  name = 'odd'
  async *parse() {
    yield { price: 1 }
    throw new Error('no second price')
  }
}
`,
    )
    const { code, stdout, stderr } = await webloom([
      'parse',
      '--spider',
      'odd.ts',
      '--json',
      '-s',
      'ITEM_PIPELINES={}',
      at('/book'),
    ])
    expect([code, JSON.parse(stdout)], stderr).toEqual([1, { items: [{ price: 1 }], requests: [] }])
    expect(stderr.split('Error: no second price')).toHaveLength(2)
  })

  test('names a callback that the spider does not have', async () => {
    const { code, stderr } = await webloom(['parse', at('/books'), '-c', 'parsebook'])
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('parseBook') })
    expect(stderr).not.toContain('    at ')
  })
})

describe('shell', () => {
  test('runs a line on a page, and prints nothing of it that would drive the terminal', async () => {
    const { stdout, stderr } = await webloom(['shell', at('/books'), '-c', "response.css('body').get()"])
    expect(stdout, stderr).toContain('\\x1b[31mred')
  })

  test('takes lines one after the other, with their answers', async () => {
    const lines = [
      `fetch('${at('/books')}')`,
      "const links = response.css('a::attr(href)').getall()",
      'links.length',
      "(await fetch('/nowhere'.replace('/nowhere', response.urljoin(links[0])))).css('.price::text').get()",
      'response.status',
      'throw new Error("mine")',
      'response',
      'request.headers',
      '.exit',
      'response.url',
    ]
    const { code, stdout, stderr } = await started(['shell'], { input: lines.join('\n') })
    expect(code, stderr).toBe(0)
    expect(stdout).toMatch(/\n1\n12\n200\nUncaught Error: mine\n/)
    expect(stdout).toContain(`\n<200 ${at('/book')}>\n{\n  accept: 'text/html`)
    expect(stdout.endsWith('\n}\n'), stdout).toBe(true)
  })

  test('reads a local file, and code may await', async () => {
    writeFileSync(folder.join('saved.html'), '<title>Saved</title>')
    const { stdout } = await webloom(['shell', '-c', "(await fetch('saved.html')).css('title::text').get()"])
    expect(stdout).toBe('Saved\n')
  })

  test('code that is not JavaScript is refused before a page is fetched', async () => {
    const { code, stderr } = await webloom(['shell', at('/books'), '-c', "response.css('a').get("])
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^webloom: -c response.*\[WL_USAGE\]\n$/),
    })
  })
})

describe('genspider', () => {
  test('every template is a spider that loads', async () => {
    await using project = await projectFolder()
    writeFileSync(project.join('webloom.config.ts'), 'export default {}\n')
    const templates = Object.keys(SPIDER_TEMPLATES)
    mkdirSync(project.join('spiders'))
    for (const name of templates)
      writeFileSync(
        project.join(`spiders/${name}.ts`),
        SPIDER_TEMPLATES[name]!({ name: `my-${name}`, site: 'example.com' }),
      )
    const { stdout, stderr } = await webloom(['list'], { cwd: project.path })
    expect(stdout.trim().split('\n').sort(), stderr).toEqual(templates.map((name) => `my-${name}`).sort())
  })

  test('writes into the folder of spiders and says how to run it', async () => {
    rmSync(folder.join('spiders/fresh.ts'), { force: true })
    const { code, stdout, stderr } = await webloom(['genspider', 'fresh', 'example.com', '-t', 'redis'])
    expect({ code, stdout }, stderr).toEqual({
      code: 0,
      stdout: 'spiders/fresh.ts\n\nRun it:  webloom crawl fresh\n',
    })
    expect(readFileSync(folder.join('spiders/fresh.ts'), 'utf8')).toContain('extends RedisSpider')
  })

  test('writes over no file, and leaves none for a name that is none', async () => {
    const again = await webloom(['genspider', 'books', 'example.com'])
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('--force') })
    expect(await webloom(['genspider', '../evil', 'example.com'])).toMatchObject({ code: 2 })
    expect(existsSync(folder.join('evil.ts'))).toBe(false)
  })

  test('says so where no folder can be made', async () => {
    await using project = await tempDir()
    writeFileSync(project.join('webloom.config.ts'), "export default { spiders: ['/proc/x'] }\n")
    const { code, stderr } = await webloom(['genspider', 'fresh', 'example.com'], { cwd: project.path })
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/proc\/x\/fresh\.ts cannot be written: ENOENT/),
    })
  })
})

test('HTTPCACHE_DIR where no folder can be made: sqlite is refused, with files the crawl goes on without', async () => {
  const inProc = ['-s', 'HTTPCACHE_ENABLED=true', '-s', 'HTTPCACHE_DIR=/proc/x']
  const [sqlite, file] = await Promise.all(
    ['sqlite', 'file'].map((storage) =>
      webloom(['crawl', 'books', ...inProc, '-s', `HTTPCACHE_STORAGE=${storage}`]),
    ),
  )
  expect(sqlite).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/HTTPCACHE_DIR \/proc\/x cannot be used: ENOENT/),
  })
  expect(file, file!.stderr).toMatchObject({ code: 0, stderr: expect.stringMatching(/ENOENT/) })
})

describe('check', () => {
  test('tells which contracts are kept and how the others are broken; the exit code says whether all are', async () => {
    const { code, stdout, stderr } = await webloom(['check', 'spiders/books.ts'])
    expect(code, stderr).toBe(1)
    expect(stdout).toBe(`kept    books.parse  ${at('/books')}
kept    books.parseBook  ${at('/book')}
broken  books.parseBook  ${at('/books')}
          item 1 of 1 has no price

3 contracts, 1 broken
`)
  })
})

class Titles extends Spider {
  override name = 'titles'
  override startUrls = [home]
  override *parse(response: Response): Generator<unknown> {
    yield { url: response.url, title: response.css('title::text').get() }
    yield* response.followAll()
  }
  *parsePrice(response: Response, { currency }: { currency?: string }): Generator<unknown> {
    const price = response.css('.price::text').get()
    if (price === null) throw new Error('no price')
    yield { price, currency }
  }
}

describe('webloom/testing', () => {
  test('a callback on a saved page: its items and requests, and what it throws', async () => {
    const page = { url: 'https://shop.example/1', body: '<p class="price">7</p><a href="2">next</a>' }
    const asked = { callback: 'parsePrice', cbKwargs: { currency: 'EUR' } }
    expect((await runCallback(Titles, page, asked)).items).toEqual([{ price: '7', currency: 'EUR' }])
    const { requests } = await runCallback(Titles, page)
    expect(requests.map(({ url }) => url)).toEqual(['https://shop.example/2'])
    await expect(runCallback(Titles, { ...page, body: '' }, asked)).rejects.toThrow('no price')
  })

  test('a recorded crawl is replayed from its folder when the site is gone', async () => {
    await using recording = await tempDir()
    const settings = { LOG_ENABLED: false }
    const site = await startFakeWeb({ seed: 5, pagesPerHost: 8 })
    class OfThisSite extends Titles {
      override startUrls = [...site.seeds]
    }
    const recorded = await recordCrawl(OfThisSite, { folder: recording.path, settings })
    await site.close()
    const replayed = await replayCrawl(OfThisSite, { folder: recording.path, settings })
    const byUrl = (items: readonly unknown[]) => items.map((item) => JSON.stringify(item)).sort()
    expect(recorded.items).toHaveLength(site.reachable().size)
    expect(byUrl(replayed.items)).toEqual(byUrl(recorded.items))
    expect(replayed.finishReason).toBe('finished')
  })
})
