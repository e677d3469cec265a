import { Request } from '@webloom/core'
import { expect, test } from 'vitest'
import { Spider } from '../spider.ts'
import { SitemapSpider } from '../spiders/sitemap-spider.ts'
import { callbackVersion } from './callback-version.ts'

class Shop extends Spider {
  override name = 'shop'

  override *parse(): Generator<unknown> {
    yield this.item('h1')
  }
  item(selector: string): unknown {
    return selector
  }
}

const versionOf = (spider: Spider, callback: string | null = null) =>
  callbackVersion(spider, new Request('http://shop.example/', { callback }))

test('issue 22: a method that a callback calls counts, also one of a class between, a function in a field and a static one', () => {
  class Other extends Shop {
    override item(): unknown {
      return 'other'
    }
  }
  class Field extends Shop {
    price = () => 1
  }
  class OtherField extends Shop {
    price = () => 2
  }
  class Static extends Shop {
    static price() {
      return 1
    }
  }
  class Getter extends Shop {
    get price() {
      return 1
    }
  }
  class Below extends Other {}
  const all = [Shop, Other, Field, OtherField, Static, Getter].map((Class) => versionOf(new Class()))
  expect(new Set(all).size).toBe(all.length)
  expect(versionOf(new Below())).toBe(versionOf(new Other()))
})

test('settings and start URLs do not count, nor do methods of the framework; the name of the callback does', () => {
  class Elsewhere extends Shop {
    override startUrls = ['http://elsewhere.example/']
    override customSettings = { DOWNLOAD_DELAY: 1 }
  }
  expect(versionOf(new Elsewhere())).toBe(versionOf(new Shop()))
  class Plain extends Spider {}
  class OfSitemaps extends SitemapSpider {}
  expect(versionOf(new OfSitemaps())).toBe(versionOf(new Plain()))
  expect(versionOf(new Shop(), 'item')).not.toBe(versionOf(new Shop()))
  expect(versionOf(new Shop(), 'parse')).toBe(versionOf(new Shop()))
})
