/** `webloom visits`, `webloom refresh` and what `webloom clear` does with visits, as whoever types them meets them. */

import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { startRedis, type TempDir } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CommandLine } from '../projects/command-line.ts'
import { projectFolder } from '../projects/project-folder.ts'
import { ChangingWeb } from '../recrawl/changing-web.ts'

let web: ChangingWeb
let folder: TempDir
let commands: CommandLine
beforeAll(async () => {
  web = await ChangingWeb.start({ pages: 3 })
  commands = new CommandLine()
  folder = await projectFolder({
    'webloom.config.ts': `import { defineConfig } from 'webloom'
export default defineConfig({
  spiders: 'spiders',
  settings: { RECRAWL: 'fixed', DOWNLOAD_DELAY: 0, SCHEDULER_IDLE_BEFORE_CLOSE: 0, LOG_LEVEL: 'ERROR' },
})
`,
    'spiders/shop.ts': `import { fingerprint, type Request, type Response, Spider } from 'webloom'
export default class Shop extends Spider {
  override name = 'shop'
  override customSettings = {
    FINGERPRINTER: (request: Request) => {
      const on = process.env.THROWS_ON
      if (on !== undefined && request.url.endsWith(on)) throw process.env.THROWN && new Error(process.env.THROWN)
      return fingerprint(request)
    },
  }
  override startUrls = ['${web.origin}/']
  override *parse(response: Response) {
    yield* response.followAll('a', { callback: this.parseItem })
  }
  *parseItem(response: Response) {
    if (response.url.endsWith('/p/0')) throw new Error('no such price')
  }
}
`,
    // `;` separates parameters by the rules of w3lib 2.4 only.
    'spiders/odd.ts': `import { Spider } from 'webloom'
export default class Odd extends Spider {
  override name = 'odd'
  override startUrls = ['${web.origin}/p/1?b=1;a=2']
}
`,
  })
})
afterAll(async () => {
  await commands[Symbol.asyncDispose]()
  await folder.remove()
  await web[Symbol.asyncDispose]()
})

async function webloom(...words: string[]): Promise<string> {
  return webloomWhere({}, ...words)
}
async function webloomWhere(env: Readonly<Record<string, string>>, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await commands.run(words, { cwd: folder.path, env })
  if (code !== 0) return `${code} ${stderr}`
  return stdout.trim()
}
/** As a clock that is ahead would. */
function visitInTheFuture(file: string): void {
  const database = new DatabaseSync(file)
  for (const { fingerprint, visit } of database.prepare('SELECT fingerprint, visit FROM visits').all()) {
    const bytes = Buffer.from(visit as Uint8Array)
    bytes.writeUInt32BE(0xffffffff, 1)
    database.prepare('UPDATE visits SET visit = ? WHERE fingerprint = ?').run(bytes, fingerprint!)
  }
  database.close()
}
/** Its page is due so many minutes from now. */
function dueIn(minutes: number, file: string): void {
  const database = new DatabaseSync(file)
  const { fingerprint, visit } = database
    .prepare("SELECT fingerprint, visit FROM visits WHERE request LIKE '%/p/2\"%'")
    .get()!
  const bytes = Buffer.from(visit as Uint8Array)
  const dueS = Math.floor(Date.now() / 1000) + minutes * 60
  bytes.writeUInt32BE(dueS, 5)
  database
    .prepare('UPDATE visits SET visit = ?, due_s = ? WHERE fingerprint = ?')
    .run(bytes, dueS, fingerprint!)
  database.close()
}
/** As after a run whose spider had no callback for its page. */
function withoutCallback(path: string, file: string): void {
  const database = new DatabaseSync(file)
  const { fingerprint, visit } = database
    .prepare(`SELECT fingerprint, visit FROM visits WHERE request LIKE '%${path}"%'`)
    .get()!
  const bytes = Buffer.from(visit as Uint8Array)
  bytes.writeUInt16BE(0, 17)
  database.prepare('UPDATE visits SET visit = ? WHERE fingerprint = ?').run(bytes, fingerprint!)
  database.close()
}
const JOBDIR = ['-s', 'JOBDIR=job']
interface Listed {
  readonly url: string
  readonly visits: number
}
const listed = async (...words: string[]) =>
  (JSON.parse(await webloom(...words, ...JOBDIR, '--json')) as Listed[])
    .map(({ url }) => url.slice(-4))
    .sort()

test('what is due is made due, told and forgotten', async () => {
  await webloom('crawl', 'shop', ...JOBDIR)
  expect(await webloom('visits', 'due', 'shop', ...JOBDIR)).toMatch(
    /^no page; the next one is due \d{4}-\d\d-\d\d \d\d:\d\d UTC$/,
  )
  expect(await listed('visits', 'list', 'shop')).toHaveLength(4)
  expect(await webloom('visits', 'list', 'shop', ...JOBDIR, '--limit', '1')).toMatch(
    /^due \d{4}-.*\n… of 4; --limit 4 prints all$/,
  )
  withoutCallback('/p/2', folder.join('job', 'webloom.sqlite'))
  const urls = ['/p/2', '/p/1', '/none'].map((path) => `${web.origin}${path}`)
  const shown = await webloom('visits', 'show', 'shop', ...urls, ...JOBDIR)
  expect(shown).toMatch(
    /\/p\/2\n(.*\n){3} {2}callback {6}the spider had no such method when the page was due\n/,
  )
  expect(shown).toMatch(/\/p\/1\n {2}visited .*, once\n {2}changed {7}0 times\n/)
  expect(shown).toMatch(/\/none\n {2}was never visited$/)
  const failed = await webloom('visits', 'show', 'shop', `${web.origin}/p/0`, ...JOBDIR)
  expect(failed).toMatch(/visited .*, in vain\n.*\n.*\n {2}failed {8}the last time$/)
  const list = await webloom('visits', 'list', 'shop', ...JOBDIR)
  expect(list).toMatch(/ failed once {3}.*\/p\/0$/m)
  expect(list).toMatch(/ waits for its callback, parseItem {3}.*\/p\/2$/m)
  expect(await webloom('refresh', 'shop', ...JOBDIR, '--older', '7d')).toMatch(/^due now: 0 pages/)
  expect(await webloom('refresh', 'shop', ...JOBDIR, '--match', '/p/1')).toMatch(/^due now: 1 pages/)
  expect(await listed('visits', 'due', 'shop')).toEqual(['/p/1'])
  expect(await webloom('refresh', 'shop', ...JOBDIR, '--match', '(')).toBe(
    'no page that waits for its hour has a URL that matches --match (; for a regular expression write it as /…/',
  )
  // A daily run does not leave a page for tomorrow that is due within the hour.
  dueIn(50, folder.join('job', 'webloom.sqlite'))
  expect(await listed('visits', 'due', 'shop')).toEqual(['/p/1', '/p/2'])
  dueIn(70, folder.join('job', 'webloom.sqlite'))
  expect(await listed('visits', 'due', 'shop')).toEqual(['/p/1'])
  visitInTheFuture(folder.join('job', 'webloom.sqlite'))
  expect(await webloom('refresh', 'shop', ...JOBDIR, '--older', '7d')).toMatch(/^due now: 4 pages/)
  expect(await webloom('visits', 'forget', 'shop', ...JOBDIR, '--match', '/\\/p\\/[12]$/')).toBe(
    String.raw`forgotten: 2 pages that match \/p\/[12]$ as a regular expression`,
  )
  expect(await listed('visits', 'list', 'shop')).not.toContain('/p/1')
})

test('a FINGERPRINTER that throws is told in words, with the page, whatever it throws', async () => {
  await webloom('crawl', 'shop', '-s', 'JOBDIR=unnamed')
  const show = (env: object) =>
    webloomWhere(
      { THROWS_ON: '/p/1', ...env },
      'visits',
      'show',
      'shop',
      `${web.origin}/p/1`,
      '-s',
      'JOBDIR=unnamed',
    )
  for (const [env, why] of [
    [{ THROWN: 'no name for this' }, 'no name for this'],
    [{}, 'undefined'],
  ] as const)
    expect(await show(env)).toContain(
      `2 webloom: FINGERPRINTER throws for ${web.origin}/p/1, so nobody can say which visits are that page's: ${why}. It must return a text`,
    )
})

test.each([
  [['visits', 'list', 'shop'], 'none is named. Set -s JOBDIR=folder'],
  [['visits', 'list', 'shop', '--limit', '0', ...JOBDIR], '--limit is "0"'],
  [['visits', 'forget', 'shop', ...JOBDIR], 'give URLs, or --match'],
  [['visits', 'forget', 'shop', 'http://a.example/', '--match', 'a', ...JOBDIR], 'give URLs, or --match'],
  [['visits', 'forget', 'shop', '--match', '', ...JOBDIR], '--match is empty'],
  [['refresh', 'shop', '--match', '', ...JOBDIR], '--match is empty'],
  [['visits', 'forget', 'shop', '--match', '/(/', ...JOBDIR], 'Unterminated group'],
  [['visits', 'show', 'shop', 'no url', ...JOBDIR], '"no url" cannot be requested'],
  [['refresh', 'shop', '--older', '7', ...JOBDIR], '--older is "7"'],
])('%j is refused', async (words, why) => {
  const said = await webloom(...words)
  expect(said).toMatch(/^2 /)
  expect(said).toContain(why)
})

test('pages of a crawl that goes by older URL rules are found by these', async () => {
  const odd = ['-s', 'JOBDIR=odd']
  await webloom('crawl', 'odd', ...odd, '-s', 'URL_RULES=w3lib-2.4')
  const url = `${web.origin}/p/1?b=1;a=2`
  expect(await webloom('visits', 'show', 'odd', url, ...odd)).toMatch(/\n {2}visited {7}\d/)
  expect(await webloom('refresh', 'odd', ...odd)).toMatch(/^due now: 1 pages/)
  expect(await webloom('visits', 'show', 'odd', url, ...odd, '-s', 'URL_RULES=w3lib-2.5')).toMatch(
    /URL_RULES is w3lib-2.5, and the crawl was begun by the rules of w3lib-2.4/,
  )
  expect(await webloom('visits', 'forget', 'odd', url, ...odd)).toBe('forgotten: 1 pages')
})

test('on Redis pages on which FINGERPRINTER throws come, too; webloom clear forgets visits, too', async () => {
  await using server = await startRedis()
  const redis = new Redis(server.url)
  try {
    const place = ['-s', `REDIS_URL=${server.url}`]
    await webloom('crawl', 'shop', ...place)
    expect(await webloom('visits', 'list', 'shop', ...place)).toMatch(/\/p\/1$/m)
    const env = { THROWS_ON: '/p/1', THROWN: 'no name for this' }
    const refreshed = await commands.run(['refresh', 'shop', ...place], { cwd: folder.path, env })
    expect(refreshed.stdout).toMatch(/^due now: 4 pages/)
    await webloom('clear', 'shop', ...place)
    expect(await webloom('visits', 'list', 'shop', ...place)).toBe('no page')
    expect(await redis.keys('*:visits*')).toEqual([])
  } finally {
    redis.disconnect()
  }
})

test('a misspelt CRAWL_ID on Redis is refused', async () => {
  await using server = await startRedis()
  const place = ['-s', `REDIS_URL=${server.url}`, '-s', 'CRAWL_ID=misspelt']
  for (const words of [
    ['visits', 'due'],
    ['visits', 'list'],
    ['visits', 'forget', '--match', 'a'],
    ['refresh'],
  ])
    expect(await webloom(...words, 'shop', ...place)).toMatch(
      /^2 .*there is no crawl "shop" \(CRAWL_ID misspelt\) at /s,
    )
})

test('a JOBDIR in which no crawl is kept is not made by asking for its visits', async () => {
  expect(await webloom('visits', 'due', 'shop', '-s', 'JOBDIR=nojob')).toMatch(
    /^2 .*no crawl is kept in .*nojob/s,
  )
  expect(await webloom('refresh', 'shop', '-s', 'JOBDIR=nojob')).toMatch(/^2 .*no crawl is kept in/s)
  expect(existsSync(folder.join('nojob'))).toBe(false)
})
