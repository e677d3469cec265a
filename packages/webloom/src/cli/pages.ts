/** Commands for authors of spiders: single pages, and spiders to start from. */

import type { CheckFlags } from '../commands/check.ts'
import type { FetchFlags } from '../commands/fetch.ts'
import type { GenspiderFlags } from '../commands/genspider.ts'
import type { ParseFlags } from '../commands/parse.ts'
import type { ShellFlags } from '../commands/shell.ts'
import type { ViewFlags } from '../commands/view.ts'
import { configHere } from '../loading/config.ts'
import { command, flag, value } from './command.ts'
import { PAGE_OPTIONS } from './spider-options.ts'

export const shell = command<ShellFlags, [url: string | undefined]>(
  'shell [url]',
  'try selectors on a page, or on a local file',
  {
    code: value('-c, --code <code>', 'run this code and print its result, without a prompt'),
    ...PAGE_OPTIONS,
  },
  async (flags, [url]) => {
    const { shell: run } = await import('../commands/shell.ts')
    await run(url, flags, await configHere())
  },
  [
    ['webloom shell https://quotes.toscrape.com/', 'a prompt with response, request, spider and fetch()'],
    [`webloom shell page.html -c "response.css('title::text').get()"`, 'prints one result for a local file'],
  ],
)

export const fetch = command<FetchFlags, [url: string]>(
  'fetch <url>',
  'print a page as the crawl would get it',
  {
    headers: flag('--headers', 'print the headers of request and response instead of the page'),
    ...PAGE_OPTIONS,
  },
  async (flags, [url]) => {
    const { fetchPage } = await import('../commands/fetch.ts')
    await fetchPage(url, flags, await configHere())
  },
  [
    ['webloom fetch https://quotes.toscrape.com/ > page.html', 'saves the page as the crawl gets it'],
    [
      'webloom fetch https://quotes.toscrape.com/ --headers --no-redirect',
      'shows the headers of request and response',
    ],
  ],
)

export const view = command<ViewFlags, [url: string]>(
  'view <url>',
  'open a page in the browser as the crawl gets it',
  { open: flag('--no-open', 'only print where the page was saved'), ...PAGE_OPTIONS },
  async (flags, [url]) => {
    const { view: run } = await import('../commands/view.ts')
    await run(url, flags, await configHere())
  },
  [
    ['webloom view https://quotes.toscrape.com/', 'shows what a crawl sees: no script has run in the page'],
    ['webloom view https://quotes.toscrape.com/js/ --browser', 'shows what it sees with meta.browser'],
    [
      'webloom view https://quotes.toscrape.com/ --no-open --spider quotes',
      'saves the page as that spider gets it, and prints where',
    ],
  ],
)

export const parse = command<ParseFlags, [url: string]>(
  'parse <url>',
  'run a callback on a page and print what it yields',
  {
    callback: value('-c, --callback <name>', 'the callback (default parse)'),
    meta: value('-m, --meta <json>', 'meta of the request'),
    cbkwargs: value('--cbkwargs <json>', 'cbKwargs of the request'),
    depth: value('-d, --depth <N>', 'follow requests this many levels deep', '1'),
    pipelines: flag('--pipelines', 'send items through the pipelines'),
    items: flag('--no-items', 'leave items out'),
    links: flag('--no-links', 'leave requests out'),
    verbose: flag('-v, --verbose', 'print each level by itself'),
    json: flag('--json', 'as JSON'),
    ...PAGE_OPTIONS,
  },
  async (flags, [url]) => {
    const { parse: run } = await import('../commands/parse.ts')
    return run(url, flags, await configHere())
  },
  [
    ['webloom parse https://quotes.toscrape.com/', 'items and requests of the callback parse'],
    ['webloom parse https://quotes.toscrape.com/ --spider spider.ts -d 2', 'follows its requests, too'],
    [
      `webloom parse https://quotes.toscrape.com/ -c parseAuthor --cbkwargs '{"page": 1}' --json`,
      'another callback with its arguments, for a program to read',
    ],
  ],
)

export const genspider = command<GenspiderFlags, [name: string | undefined, site: string | undefined]>(
  'genspider [name] [site]',
  'write a spider to start from',
  {
    template: value('-t, --template <template>', 'basic, crawl, redis, sitemap, xmlfeed or csvfeed', 'basic'),
    list: flag('-l, --list', 'print the templates'),
    dump: value('-d, --dump <template>', 'print a template'),
    force: flag('--force', 'overwrite a file that exists'),
  },
  async (flags, [name, site]) => {
    const { genspider: run } = await import('../commands/genspider.ts')
    run(name, site, flags, await configHere())
  },
  [
    [
      'webloom genspider quotes quotes.toscrape.com',
      'writes spiders/quotes.ts, or quotes.ts outside of a project',
    ],
    ['webloom genspider news example.com -t sitemap', 'begins with the site’s sitemap'],
    ['webloom genspider --dump crawl', 'prints a template'],
  ],
)

export const check = command<CheckFlags, [name: string | undefined]>(
  'check [spider]',
  'fetch the pages of contracts, and check what callbacks yield for them',
  { list: flag('-l, --list', 'print the contracts'), json: flag('--json', 'as JSON'), ...PAGE_OPTIONS },
  async (flags, [name]) => {
    const { check: run } = await import('../commands/check.ts')
    return run(name, flags, await configHere())
  },
  [
    ['webloom check', 'tests the contracts of all spiders'],
    ['webloom check quotes --json', 'those of one spider, for a program to read'],
  ],
)
