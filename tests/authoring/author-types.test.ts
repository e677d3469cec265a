/** What the types say to an author in the editor. `npm run lint` checks these; vitest only runs past them. */

import { expect, expectTypeOf, test } from 'vitest'
import {
  type Callback,
  defineConfig,
  type InvalidItem,
  ItemLoader,
  item,
  MapCompose,
  type MetaKeys,
  Request,
  type Response,
  type SettingsInput,
  Spider,
  type SpiderClass,
  TakeFirst,
} from 'webloom'
import type { ItemPipeline } from 'webloom/ports'
import * as z from 'zod'

const Quote = z.object({ text: z.string(), likes: z.coerce.number() })

class Quotes extends Spider {
  override name = 'quotes'
  override startUrls = ['https://quotes.example/']
  override customSettings = { DOWNLOAD_DELAY: 0.25 }

  // No type is written for what it yields, though it names itself: that would be `any` by a circle (TS7023).
  override async *parse(response: Response) {
    yield { title: response.css('title::text').get('untitled').trim() }
    yield response.follow('/about', {
      callback: this.parseAbout,
      cbKwargs: { page: 1 },
      errback: this.failed,
    })
    yield new Request('https://quotes.example/', { callback: this.parse })
    yield* response.followAll('.next a', { callback: this.parse })
  }

  *parseAbout(response: Response, { page }: { page: number }) {
    yield { page: page.toFixed(), text: response.xpath('//p/text()').get() }
    yield response.follow('/', { callback: this.parseAbout })
  }

  parseList(response: Response) {
    return response.followAll('a', { callback: this.parseList })
  }

  async failed() {}
}

test('a spider may name its callbacks within themselves, and they keep the types of what they yield', () => {
  expectTypeOf(Quotes).toExtend<SpiderClass>()
  expectTypeOf<Quotes['parse']>().toExtend<Callback>()
  expectTypeOf<Quotes['parseAbout']>().parameter(1).toEqualTypeOf<{ page: number }>()
  expectTypeOf<Quotes['parseAbout']>().returns.not.toBeAny()
  expectTypeOf<Quotes['parseList']>().returns.toEqualTypeOf<Request[]>()
  // @ts-expect-error: a name or a method
  expect(() => new Request('https://quotes.example/', { callback: 1 })).toThrow(/callback is 1/)
  // @ts-expect-error: no such option
  expect(() => new Request('https://quotes.example/', { calback: 'parse' })).toThrow(/Did you mean callback/)
})

test('what a selector finds may be null, unless a default is given', () => {
  const looksAt = (response: Response) => {
    expectTypeOf(response.css('a').get()).toEqualTypeOf<string | null>()
    expectTypeOf(response.css('a').get('')).toEqualTypeOf<string>()
    expectTypeOf(response.css('a').get(0)).toEqualTypeOf<string | number>()
    expectTypeOf(response.css('a').re(/\d+/)).toEqualTypeOf<string[]>()
    // @ts-expect-error: may be null
    response.css('a').get().trim()
  }
  expectTypeOf(looksAt).toBeFunction()
})

test('settings are known by name and type, in a spider, in the config and on a call', () => {
  expectTypeOf<{ DOWNLOAD_DELAY: number }>().toExtend<SettingsInput>()
  // @ts-expect-error: a number
  defineConfig({ settings: { DOWNLOAD_DELAY: 'slowly' } })
  // @ts-expect-error: no such setting
  defineConfig({ settings: { DOWNLOD_DELAY: 1 } })
  defineConfig({ spiders: [Quotes], settings: { CUSTOM_SHOP: 'any', ITEM_PIPELINES: [['sql', 300]] } })
})

test('customSettings and meta with their types: a misspelt name or wrong value is found', () => {
  class Typed extends Spider {
    override name = 'typed'
    override customSettings: SettingsInput = {
      DOWNLOAD_DELAY: 1,
      // @ts-expect-error: no such setting
      DOWNLOAD_DELAI: 1,
    }
  }
  expectTypeOf<Typed>().toExtend<Spider>()
  const meta: MetaKeys = {
    proxy: null,
    // @ts-expect-error: a list of numbers
    handle_httpstatus_list: '404',
  }
  // @ts-expect-error: no such key
  const misspelt: MetaKeys = { dont_retri: true }
  expect(misspelt).not.toHaveProperty('dont_retry')
  expect(new Request('https://quotes.example/', { meta: { dont_retry: true, mine: [1] } }).meta.mine).toEqual(
    [1],
  )
  expect(meta.proxy).toBeNull()
})

test('an item has its schema’s type, and a pipeline and a loader that of their items', async () => {
  const checked = await item(Quote, {})
  expectTypeOf(checked).toEqualTypeOf<{ text: string; likes: number } | InvalidItem>()
  const pipeline: ItemPipeline<z.infer<typeof Quote>> = { processItem: ({ likes }) => ({ likes: likes + 1 }) }
  expectTypeOf(pipeline.processItem).parameter(0).toEqualTypeOf<{ text: string; likes: number }>()
  const loader = new ItemLoader<z.infer<typeof Quote>>({
    // Each processor may name the type that it expects.
    fields: { text: { input: MapCompose((text: string) => text.trim(), Number) } },
    defaultOutput: TakeFirst(),
  })
  expectTypeOf(loader.loadItem()).toEqualTypeOf<{ text: string; likes: number }>()
  // @ts-expect-error: no such field
  loader.addValue('author', 'x')
})
