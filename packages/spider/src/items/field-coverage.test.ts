import { MemoryStatsCollector } from '@webloom/core'
import { expect, test } from 'vitest'
import { FieldCoverage } from './field-coverage.ts'

function counted(
  items: readonly unknown[],
  fieldsMax = 100,
  always: readonly string[] = [],
): Record<string, unknown> {
  const stats = new MemoryStatsCollector()
  const coverage = new FieldCoverage(stats, fieldsMax, always)
  coverage.count(items.slice(0, 1))
  coverage.count(items.slice(1))
  return stats.snapshot()
}

test('a field counts where it holds something, and one of an object within the item under both names', () => {
  const items = [
    { title: 'a', price: 0, tags: [], author: { name: 'A', born: null } },
    { title: '', price: null, sold: false, tags: ['x'], author: {} },
    new Map([['title', 'b']]),
    'no object',
  ]
  expect(counted(items)).toEqual({
    'item_field_count/title': 2,
    'item_field_count/price': 1,
    'item_field_count/sold': 1,
    'item_field_count/tags': 1,
    'item_field_count/author': 1,
    'item_field_count/author.name': 1,
  })
})

test('names that a page makes up do not fill the stats', () => {
  const odd = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`made-up-${n}`, n]))
  expect(Object.keys(counted([{ id: 1 }, odd, { id: 2 }], 10))).toHaveLength(10)
  expect(counted([{ id: 1 }, odd, { id: 2 }], 10)['item_field_count/id']).toBe(2)
  expect(counted([{ ['x'.repeat(200)]: 1 }])).toEqual({})
})

test('an item that leads back to itself, and dates and bytes, are not objects to look into for ever', () => {
  const item: Record<string, unknown> = { at: new Date(), bytes: new Uint8Array(2) }
  item.self = item
  const names = Object.keys(counted([item]))
  expect(names).toContain('item_field_count/at')
  expect(names).toContain('item_field_count/bytes')
  expect(names.every((name) => name.split('.').length <= 4)).toBe(true)
})

test('what is written as null, and a text with nothing to read, holds nothing', () => {
  const rot = {
    price: Number.NaN,
    rate: Number.POSITIVE_INFINITY,
    at: new Date('soon'),
    text: '\u00a0 \n',
    of: () => 1,
  }
  expect(counted([rot])).toEqual({})
  expect(JSON.stringify({ ...rot, text: null })).toBe('{"price":null,"rate":null,"at":null,"text":null}')
})

test('what says itself how it is written counts as that', () => {
  class Money {
    #cents = 150
    toJSON() {
      return { amount: this.#cents / 100, currency: '' }
    }
  }
  const unwritable = { toJSON: () => JSON.parse('{') }
  const empty = { toJSON: () => null }
  const item = { url: new URL('http://a.test/'), price: new Money(), empty, unwritable }
  expect(counted([item, { toJSON: () => ({ title: 'b' }) }])).toEqual({
    'item_field_count/url': 1,
    'item_field_count/price': 1,
    'item_field_count/price.amount': 1,
    'item_field_count/title': 1,
  })
})

test('what a monitor names is counted in lists, and as deep as it says', () => {
  const items = [
    {
      a: { b: { c: { d: { e: 1, f: 1 } } } },
      variants: [{ price: null }, { price: 2, of: { tax: [{ rate: 7 }] } }],
    },
    { variants: [{ price: '' }, 'sold'] },
    { variants: [[{ price: 1 }]] },
  ]
  const counts = counted(items, 100, ['a.b.c.d.e', 'variants.price', 'variants.of.tax.rate'])
  expect(counts).toMatchObject({
    'item_field_count/a.b.c.d.e': 1,
    'item_field_count/variants': 3,
    'item_field_count/variants.price': 2,
    'item_field_count/variants.of.tax.rate': 1,
  })
  expect(Object.keys(counted(items)).filter((name) => /variants\./.test(name))).toEqual([])
})
