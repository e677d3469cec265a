import { describe, expect, test } from 'vitest'
import { crawl, Spider } from 'webloom'

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

describe('components of which nothing would be called (issue 15)', () => {
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

test('options of crawl() that are not known are refused (issue 15)', async () => {
  // @ts-expect-error unknown option
  await expect(crawl(Quiet, { setings: {} })).rejects.toThrow(/crawl\(\) .*Did you mean settings\?/)
  // @ts-expect-error a setting
  await expect(crawl(Quiet, { DOWNLOAD_DELAY: 1 })).rejects.toThrow(
    /write {2}settings: { DOWNLOAD_DELAY: … }/,
  )
})
