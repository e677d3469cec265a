import { describe, expect, test } from 'vitest'
import { crawl, crawlItems, type SettingsError, Spider } from 'webloom'

class Quiet extends Spider {
  override name = 'quiet'
}

class PythonProxy {
  process_request() {}
}
class Almost {
  processRespons() {}
}
class HalfPython {
  processRequest() {}
  process_response() {}
}
class Empty {}
class FromPython {
  static from_crawler() {}
  processRequest() {}
}

describe('components of which nothing would be called', () => {
  test.each([
    [
      'DOWNLOADER_MIDDLEWARES',
      PythonProxy,
      /"PythonProxy".* has process_request; here it is called processRequest/,
    ],
    ['DOWNLOADER_MIDDLEWARES', HalfPython, /process_response; here it is called processResponse/],
    ['DOWNLOADER_MIDDLEWARES', Almost, /would never be called.*Did you mean processResponse/],
    ['DOWNLOADER_MIDDLEWARES', FromPython, /static from_crawler; here it is called fromCrawler/],
    [
      'SPIDER_MIDDLEWARES',
      Empty,
      /spider middleware "Empty".*has no method.*Its hooks are processSpiderInput/,
    ],
    ['EXTENSIONS', Empty, /the extension "Empty" of EXTENSIONS would never be called/],
    ['ITEM_PIPELINES', PythonProxy, /would never be called: it has only process_request/],
  ])('%s %o', async (setting, Class, reason) => {
    const running = crawl(Quiet, { settings: { LOG_ENABLED: false, [setting]: [[Class, 100]] } })
    await expect(running).rejects.toThrow(reason)
  })

  test('all of all lists are told at once, each with its setting', async () => {
    const running = crawl(Quiet, {
      settings: {
        LOG_ENABLED: false,
        DOWNLOADER_MIDDLEWARES: [
          [Almost, 100],
          [PythonProxy, 200],
        ],
        SPIDER_MIDDLEWARES: [[Empty, 100]],
        ITEM_PIPELINES: [
          [PythonProxy, 100],
          [Empty, 200],
        ],
        EXTENSIONS: [[Empty, 100]],
      },
    })
    const { problems } = (await running.catch((error: unknown) => error)) as SettingsError
    expect(problems.map((problem) => /"(\w+)" of (\w+)/.exec(problem)?.slice(1))).toEqual([
      ['Empty', 'EXTENSIONS'],
      ['Almost', 'DOWNLOADER_MIDDLEWARES'],
      ['PythonProxy', 'DOWNLOADER_MIDDLEWARES'],
      ['Empty', 'SPIDER_MIDDLEWARES'],
      ['PythonProxy', 'ITEM_PIPELINES'],
      ['Empty', 'ITEM_PIPELINES'],
    ])
  })

  test('an extension may do all it does in fromCrawler', async () => {
    class Listener {
      readonly listens = true
      static fromCrawler() {
        return new Listener()
      }
    }
    const { finishReason } = await crawl(Quiet, {
      settings: { LOG_ENABLED: false, EXTENSIONS: [[Listener, 100]] },
    })
    expect(finishReason).toBe('finished')
  })
})

test('options of crawl() that are not known are refused', async () => {
  // @ts-expect-error unknown option
  await expect(crawl(Quiet, { setings: {} })).rejects.toThrow(/crawl\(\) .*Did you mean settings\?/)
  // @ts-expect-error a setting
  await expect(crawl(Quiet, { DOWNLOAD_DELAY: 1 })).rejects.toThrow(
    /write {2}settings: { DOWNLOAD_DELAY: … }/,
  )
})

test('what is not a spider class, and what is not a function, are refused with what to write', async () => {
  await expect(crawl('quotes' as never)).rejects.toThrow(
    /crawl\(\) was given "quotes".*crawl\(QuotesSpider\)/,
  )
  await expect(crawl(new Quiet() as never)).rejects.toThrow(/was given a Quiet.*crawl\(Quiet\).*without new/)
  await expect(crawl(Quiet, { onItem: 5 as never })).rejects.toThrow(/onItem of crawl\(\) is 5/)
  // Without an item being asked for.
  expect(() => crawlItems(Quiet, { setings: 1 } as never)).toThrow(/crawlItems\(\) .*Did you mean settings/)
})

test('a file that stands for a component without its export: what to write', async () => {
  await expect(
    crawl(Quiet, { settings: { LOG_ENABLED: false, DOWNLOADER_MIDDLEWARES: { './mine.ts': 100 } } }),
  ).rejects.toThrow(/names the file ".\/mine\.ts"; say which of its exports is meant: \.\/mine\.ts#default/)
})
