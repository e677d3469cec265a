/** Classes that settings name and that cannot work: each is refused before anything is fetched, with its setting and what to write. */

import { writeFileSync } from 'node:fs'
import { type TempDir, tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { crawl, type SettingsInput, Spider } from 'webloom'

class Quiet extends Spider {
  override name = 'quiet'
}

let folder: TempDir
beforeAll(async () => {
  folder = await tempDir()
  writeFileSync(
    folder.join('bad.mjs'),
    `export const num = 5
export const object = { download() {} }
export const arrow = () => 3
export async function later() {}
export class NeedsUrl { constructor(url) { this.url = url } processRequest() {} download() {} store() {} requestSeen() {} }
export class Scrapys { static from_crawler() {} store() {} download() {} }
export class OwnStats { static fromCrawler() {} }
export const nothing = null
`,
  )
  writeFileSync(folder.join('bad.cjs'), 'module.exports = class { processRequest() {} }')
})
afterAll(() => folder.remove())

const crawled = (settings: SettingsInput) =>
  crawl(Quiet, { settings: { LOG_ENABLED: false, ...settings } }).then(
    () => undefined,
    (error: Error) => error.message,
  )
const bad = (name: string) => `${folder.join('bad.mjs')}#${name}`

test.each([
  ['num', 'num of .*bad.mjs is 5 \\(a number\\); expected a class'],
  ['object', 'object of .*bad.mjs is an object; expected a class'],
  ['arrow', 'arrow of .*bad.mjs is an arrow function, which makes no objects; expected a class'],
  ['later', 'later of .*bad.mjs is an async function, which makes no objects; expected a class'],
  ['nothing', 'nothing of .*bad.mjs is null; expected a class'],
])('an export that is no class: %s', async (name, told) => {
  for (const [setting, value] of Object.entries({
    DOWNLOADER_MIDDLEWARES: { [bad(name)]: 1 },
    DOWNLOAD_HANDLERS: { mem: bad(name) },
    DUPEFILTER_CLASS: bad(name),
    STATS_CLASS: bad(name),
  }))
    expect(await crawled({ [setting]: value })).toMatch(
      new RegExp(`${setting}\\S* names ".*bad.mjs#${name}": ${told}`),
    )
})

test('an arrow function that stands in the settings itself', async () => {
  const arrow = () => {}
  expect(await crawled({ DOWNLOADER_MIDDLEWARES: [[arrow, 1]] as never })).toMatch(
    /^arrow \(DOWNLOADER_MIDDLEWARES\) is an arrow function, which makes no objects; expected a class/,
  )
})

test('a class whose constructor takes a value, and that has no fromCrawler', async () => {
  for (const [setting, value] of Object.entries({
    DOWNLOADER_MIDDLEWARES: { [bad('NeedsUrl')]: 1 },
    DOWNLOAD_HANDLERS: { mem: bad('NeedsUrl') },
    FEED_STORAGES: { mem: bad('NeedsUrl') },
    DUPEFILTER_CLASS: bad('NeedsUrl'),
  }))
    expect(await crawled({ [setting]: value })).toContain(
      `NeedsUrl (${setting}) takes a value in its constructor, and has no fromCrawler that gives it one: it would be made by new without arguments. Write  static fromCrawler({ settings }) { return new this(…) }  or give the parameter a default`,
    )
})

test('a class of Scrapy’s shape', async () => {
  for (const [setting, value] of Object.entries({
    FEED_STORAGES: { mem: bad('Scrapys') },
    DOWNLOAD_HANDLERS: { mem: bad('Scrapys') },
  }))
    expect(await crawled({ [setting]: value })).toContain(
      `Scrapys (${setting}) has static from_crawler; here it is called fromCrawler`,
    )
})

test('STATS_CLASS with a fromCrawler, which nobody would call', async () => {
  expect(await crawled({ STATS_CLASS: bad('OwnStats') })).toContain(
    'the stats collector OwnStats (STATS_CLASS) has static fromCrawler; it is made by new',
  )
})

test.each(['DOWNLOAD_HANDLERS', 'FEED_STORAGES', 'FEED_EXPORTERS'])(
  '%s with the key "__proto__"',
  async (setting) => {
    const written = `{"__proto__": ${JSON.stringify(bad('Scrapys'))}}`
    expect(await crawled({ [setting]: written })).toContain(
      `${setting} has the key "__proto__", which nothing can be called; remove it`,
    )
  },
)

test('Python’s paths, in each setting that names components', async () => {
  const path = 'myproject.parts.Mine'
  for (const [setting, value] of Object.entries({
    DOWNLOADER_MIDDLEWARES: { [path]: 1 },
    SPIDER_MIDDLEWARES: { [path]: 1 },
    EXTENSIONS: { [path]: 1 },
    ITEM_PIPELINES: { [path]: 1 },
    DOWNLOAD_HANDLERS: { ftp: path },
    FEED_STORAGES: { ftp: path },
    DUPEFILTER_CLASS: path,
    STATS_CLASS: path,
  }))
    expect(await crawled({ [setting]: value }), setting).toContain(`${path} is Python's`)
  expect(
    await crawled({
      DOWNLOAD_HANDLERS: { https: 'scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler' },
    }),
  ).toContain('leave it out: the package @webloom/browser renders the pages of requests with meta.browser')
})

test('a class that is the whole of a commonjs file is called default', async () => {
  expect(await crawled({ DOWNLOADER_MIDDLEWARES: { [`${folder.join('bad.cjs')}#Mine`]: 1 } })).toMatch(
    /it exports default\. Write .*bad\.cjs#default/,
  )
})
