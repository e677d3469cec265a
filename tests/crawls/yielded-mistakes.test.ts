/** What a callback yields by mistake is told in words, with the page and callback that it comes from. */

import { describe, expect, test } from 'vitest'
import { crawl, crawlItems, Request, type Response, Spider } from 'webloom'
import { type LogLine, listeningTo } from './listening.ts'

const PAGE = 'data:text/html,%3Cp%3Epage%3C/p%3E'

/** A spider that fetches one page, which needs no network, and whose callback yields this. */
function yielding(...elements: unknown[]) {
  return class Yields extends Spider {
    override name = 'yields'
    override startUrls = [PAGE]
    override *parse(response: Response) {
      for (const element of elements)
        yield (typeof element === 'function' ? element.call(this, response) : element) as never
    }
    *ignore() {}
  }
}

async function toldOf(Class: typeof Spider, options = {}) {
  const lines: LogLine[] = []
  const { stats } = await crawl(Class, {
    logger: listeningTo((line) => {
      if (line.level === 'warn' || line.level === 'error') lines.push(line)
    }),
    ...options,
  })
  const at = (wanted: string) => lines.filter(({ level }) => level === wanted)
  return { stats, warnings: at('warn'), errors: at('error') }
}

const asked = (n: number, meta: object) =>
  new Request(`data:,${n}`, { callback: 'ignore', meta: meta as never })

describe('meta', () => {
  test('a key that is nearly a known one is told once, with page and callback; keys of one’s own are not', async () => {
    const { stats, warnings, errors } = await toldOf(
      yielding(
        asked(1, { dont_redirct: true, link: 1, role: 'x', page: 2, title: 'y', cookie: 'z' }),
        asked(2, { dont_redirct: true, downloadTimeout: 3 }),
      ),
    )
    expect(errors).toEqual([])
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^meta\.dont_redirct means nothing to Webloom\. Did you mean dont_redirect\?/),
      expect.stringMatching(/^meta\.downloadTimeout .*Did you mean download_timeout\?/),
    ])
    expect(warnings[0]?.fields).toMatchObject({ url: PAGE, callback: 'parse', request: 'data:,1' })
    expect(stats.response_received_count).toBe(3)
  })

  test.each([
    [
      { download_timeout: 'abc' },
      /^meta\.download_timeout of <GET data:,1> is "abc".*expected a number of seconds/,
    ],
    [{ cookiejar: {} }, /meta\.cookiejar .* is an object; expected a string or a number/],
    [{ handle_httpstatus_list: ['404'] }, /meta\.handle_httpstatus_list .*expected a list of statuses/],
    [{ proxy: 5 }, /meta\.proxy .* is 5 \(a number\); expected a string/],
    [{ dont_obey_robotstxt: 'yes' }, /meta\.dont_obey_robotstxt .*expected true or false/],
    [{ give_up_log_level: 'LOUD' }, /meta\.give_up_log_level .*expected DEBUG, INFO/],
    [
      { own: { deep: [1, () => 1] } },
      /^meta\.own\.deep\[1\] of <GET data:,1> holds what cannot be queued: a function/,
    ],
  ])('%o is an error, and the other requests are made', async (meta, reason) => {
    const { stats, errors } = await toldOf(yielding(asked(1, meta), asked(2, { proxy: null, depth: 3 })))
    expect(errors).toHaveLength(1)
    expect(errors[0]?.fields).toMatchObject({ page: PAGE, callback: 'parse', code: 'WL_REQUEST_INVALID' })
    expect(errors[0]?.fields.reason).toMatch(reason)
    expect(stats['spider_output/refused_count']).toBe(1)
    expect(stats.response_received_count).toBe(2)
  })
})

describe('an item that no output could write', () => {
  const bad = yielding(
    { title: 'good' },
    (response: Response) => ({ text: response.css('p::text').get, all: response.css('p') }),
    async () => ({ later: Promise.resolve(1) }),
    function self(this: Spider) {
      return { field: this }
    },
  )

  test('is told without an output, too: its page, callback and each field', async () => {
    const { stats, errors } = await toldOf(bad)
    expect(errors.map(({ fields }) => fields)).toEqual([
      expect.objectContaining({
        url: PAGE,
        callback: 'parse',
        reason: expect.stringMatching(/field "text" is the function get.*field "all" is a SelectorList/),
      }),
      expect.objectContaining({ reason: expect.stringMatching(/field "later" is a Promise: await it/) }),
      expect.objectContaining({
        reason: 'field "field" is the spider: write what is needed of it, such as this.name',
      }),
    ])
    expect(stats.item_scraped_count).toBe(4)
    expect(stats.item_unwritable_count).toBe(3)
  })

  test('is told as little as any other to who takes the items himself', async () => {
    const items: unknown[] = []
    const { errors } = await toldOf(bad, { onItem: (item: unknown) => void items.push(item) })
    expect(errors).toEqual([])
    expect(items).toHaveLength(4)
    const taken = []
    for await (const item of crawlItems(bad, { settings: { LOG_ENABLED: false } })) taken.push(item)
    expect(taken).toHaveLength(4)
  })
})

test('a start URL with a placeholder that nobody has filled in is fetched, and told once', async () => {
  class Template extends Spider {
    override name = 'template'
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the mistake that is told.
    override startUrls = ['data:,1', 'data:,${page}', 'data:,{many}', 'data:,{"a":1}']
    override *parse(response: Response) {
      yield { text: response.text }
    }
  }
  const { stats, warnings } = await toldOf(Template)
  expect(warnings.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /^startUrls\[1\] is "data:,\$\{page\}": \$\{page\} is sent as it is written\..*backticks/,
    ),
  ])
  expect(stats.response_received_count).toBe(4)
})
