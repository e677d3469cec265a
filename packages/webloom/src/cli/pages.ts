/** Commands for authors of spiders: single pages, and spiders to start from. */

import type { CheckFlags } from '../commands/check.ts'
import type { FetchFlags } from '../commands/fetch.ts'
import type { GenspiderFlags } from '../commands/genspider.ts'
import type { ParseFlags } from '../commands/parse.ts'
import type { ShellFlags } from '../commands/shell.ts'
import type { ViewFlags } from '../commands/view.ts'
import { configHere } from '../loading/config.ts'
import { command, flag, value } from './command.ts'
import { PAGE_OPTIONS } from './page-options.ts'

export const shell = command<ShellFlags, [url: string | undefined]>(
  'shell [url]',
  'try selectors on a page, or on a local file',
  {
    code: value('-c, --code <code>', 'run this and print its answer, instead of asking for lines'),
    ...PAGE_OPTIONS,
  },
  async (flags, [url]) => {
    const { shell: run } = await import('../commands/shell.ts')
    await run(url, flags, await configHere())
  },
)

export const fetch = command<FetchFlags, [url: string]>(
  'fetch <url>',
  'print a page as the crawl would get it',
  {
    headers: flag('--headers', 'print what was sent and answered instead of the page'),
    ...PAGE_OPTIONS,
  },
  async (flags, [url]) => {
    const { fetchPage } = await import('../commands/fetch.ts')
    await fetchPage(url, flags, await configHere())
  },
)

export const view = command<ViewFlags, [url: string]>(
  'view <url>',
  'open a page in the browser as the crawl gets it',
  { open: flag('--no-open', 'only print where the page was saved'), ...PAGE_OPTIONS },
  async (flags, [url]) => {
    const { view: run } = await import('../commands/view.ts')
    await run(url, flags, await configHere())
  },
)

export const parse = command<ParseFlags, [url: string]>(
  'parse <url>',
  'run a callback on a page and print what it yields',
  {
    callback: value('-c, --callback <name>', 'the callback (default parse)'),
    meta: value('-m, --meta <json>', 'meta of the request'),
    cbkwargs: value('--cbkwargs <json>', 'cbKwargs of the request'),
    depth: value('-d, --depth <N>', 'follow requests so many levels deep', '1'),
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
)

export const genspider = command<GenspiderFlags, [name: string | undefined, site: string | undefined]>(
  'genspider [name] [site]',
  'write a spider to start from',
  {
    template: value('-t, --template <name>', 'basic, crawl, redis, sitemap, xmlfeed or csvfeed', 'basic'),
    list: flag('-l, --list', 'print the templates'),
    dump: value('-d, --dump <name>', 'print a template'),
    force: flag('--force', 'write over a file that is there'),
  },
  async (flags, [name, site]) => {
    const { genspider: run } = await import('../commands/genspider.ts')
    run(name, site, flags, await configHere())
  },
)

export const check = command<CheckFlags, [name: string | undefined]>(
  'check [spider]',
  'check what callbacks make of the pages of their contracts',
  { list: flag('-l, --list', 'print the contracts'), json: flag('--json', 'as JSON'), ...PAGE_OPTIONS },
  async (flags, [name]) => {
    const { check: run } = await import('../commands/check.ts')
    return run(name, flags, await configHere())
  },
)
