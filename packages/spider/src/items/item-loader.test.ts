import { Selector } from '@webloom/selectors'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { ItemLoader } from './item-loader.ts'
import { Compose, Identity, Join, MapCompose, SelectJmes, TakeFirst } from './loader-processors.ts'

const page = Selector.from(`
  <h1> A lamp </h1>
  <p class="price">Price: 12.50 EUR</p>
  <ul><li>brass</li><li>old</li></ul>
  <footer><a href="/a">A</a><a href="/b">B</a></footer>
`)

interface Product {
  name?: string
  price?: number
  tags?: string
  links?: string[]
}

class ProductLoader extends ItemLoader<Product> {
  override defaultOutput = TakeFirst()
  override fields = {
    name: { input: MapCompose(trimmed) },
    price: { input: MapCompose(Number) },
    tags: { output: Join(', ') },
    links: { output: Identity() },
  }
}

function trimmed(value: unknown): string {
  return String(value).trim()
}

test('values go through pattern, input and output processors into an item', () => {
  const loader = new ProductLoader({ source: page })
  loader.addCss('name', 'h1::text').addCss('price', '.price::text', { re: /[\d.]+/ })
  loader.addCss('tags', 'li::text').addCss('links', 'a::attr(href)')
  expect(loader.loadItem()).toEqual({ name: 'A lamp', price: 12.5, tags: 'brass, old', links: ['/a', '/b'] })
  expectTypeOf(loader.loadItem()).toEqualTypeOf<Product>()
})

test('values of several calls are collected in their order; replace begins anew', () => {
  const loader = new ItemLoader({ source: page })
  loader.addValue('tags', 'new').addCss('tags', 'li::text').addValue('tags', null).addValue('tags', [])
  expect(loader.getCollectedValues('tags')).toEqual(['new', 'brass', 'old'])
  loader.replaceCss('tags', 'h1::text').addValue(null, { tags: 'x', price: 3 })
  expect(loader.loadItem()).toEqual({ tags: [' A lamp ', 'x'], price: [3] })
})

test('an item that is given counts as collected, and stays the same object', () => {
  class Lamp {
    name = 'lamp'
    watt: number[] | undefined
  }
  const lamp = new Lamp()
  const loader = new ItemLoader({
    item: lamp,
    defaultOutput: TakeFirst(),
    fields: { watt: { output: Identity() } },
  })
  loader.addValue('name', 'other').addValue('watt', [40, 60])
  expect(loader.loadItem()).toBe(lamp)
  expect(lamp).toEqual({ name: 'lamp', watt: [40, 60] })
})

test('a nested loader looks within a part and fills the same item', () => {
  const loader = new ProductLoader({ source: page })
  loader.nestedCss('footer').addCss('links', 'a::attr(href)').addCss('name', 'h1::text')
  loader.addCss('name', 'h1::text')
  expect(loader.loadItem()).toEqual({ links: ['/a', '/b'], name: 'A lamp' })
})

test('values are found by XPath and in JSON as well', () => {
  const loader = new ItemLoader({ source: page }).addXpath('tags', '//li/text()')
  loader.nestedXpath('//footer').addXpath('links', './a/@href').addCss('tags', 'li::text')
  expect(loader.loadItem()).toEqual({ tags: ['brass', 'old'], links: ['/a', '/b'] })
  const json = Selector.from('{"price": {"eur": 3}}', { type: 'json' })
  expect(new ItemLoader({ source: json }).addJmes('price', 'price.eur').loadItem()).toEqual({ price: [3] })
})

test('get collects nothing; a loader without a source says what it lacks', () => {
  const loader = new ItemLoader({ source: page })
  expect(loader.getCss('li::text', Join('+'))).toBe('brass+old')
  expect(loader.getValue('n 5', { re: String.raw`\d` }, TakeFirst(), Number)).toBe(5)
  expect(loader.loadItem()).toEqual({})
  expect(() => new ItemLoader().addCss('x', 'li')).toThrow(/without a source .*"li"/)
})

test('processors read the context', () => {
  const inches = MapCompose((value, { unit }) => `${value} ${unit}`)
  const loader = new ItemLoader({ context: { unit: 'in' }, defaultInput: inches })
  expect(loader.addValue('width', [1, 2]).loadItem()).toEqual({ width: ['1 in', '2 in'] })
})

describe('processors, as itemloaders has them', () => {
  const context = {}

  test.each([
    [
      'TakeFirst passes over nothing and empty texts, not over 0',
      TakeFirst(),
      [null, undefined, '', 0, 1],
      0,
    ],
    ['TakeFirst of nothing is nothing', TakeFirst(), ['', null], undefined],
    ['Join', Join(), ['a', 'b'], 'a b'],
    [
      'Compose hands the whole list on',
      Compose(TakeFirst(), (text) => String(text).toUpperCase()),
      ['a'],
      'A',
    ],
    ['Compose stops at nothing', Compose(TakeFirst(), String), [], undefined],
    [
      'Compose with stopOnNull: false goes on',
      Compose(TakeFirst(), String, { stopOnNull: false }),
      [],
      'undefined',
    ],
    [
      'MapCompose maps each value, flattens lists and leaves out nothing',
      MapCompose(
        (text) => String(text).split(' '),
        (word) => (word === 'b' ? null : word),
      ),
      ['a b', 'c'],
      ['a', 'c'],
    ],
    ['SelectJmes', SelectJmes('a.b'), { a: { b: 1 } }, 1],
    ['SelectJmes finds nothing', SelectJmes('a.c'), { a: { b: 1 } }, null],
    ['MapCompose takes a single text for one value', MapCompose(String), 'abc', ['abc']],
  ])('%s', (_, process, value, expected) => {
    expect(process(value, context)).toEqual(expected)
  })
})
