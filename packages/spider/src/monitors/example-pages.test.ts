import { MemoryStatsCollector, Response } from '@webloom/core'
import { expect, test } from 'vitest'
import { ExamplePages, PAGES_STAT } from './example-pages.ts'

function noted(items: readonly (readonly [url: string, item: unknown])[]): Record<string, unknown> {
  const stats = new MemoryStatsCollector()
  const pages = new ExamplePages(stats, ['price', 'author.name'])
  for (const [url, item] of items) pages.look(item, new Response(url))
  return stats.snapshot()
}

test('the latest pages whose item lacks a field are kept, three of them, without secrets', () => {
  const full = { price: 1, author: { name: 'a' } }
  expect(noted([['https://shop.example/1', full]])).toEqual({})
  const stats = noted([
    ['https://shop.example/1', { ...full, price: '' }],
    ['https://u:hush@shop.example/2?api_key=hush&a=1', { ...full, price: null }],
    ['https://shop.example/3', { ...full, author: {} }],
  ])
  expect(JSON.parse(String(stats[`${PAGES_STAT}price`]))).toEqual([
    'https://***@shop.example/2?api_key=***&a=1',
    'https://shop.example/1',
  ])
  expect(JSON.parse(String(stats[`${PAGES_STAT}author.name`]))).toEqual(['https://shop.example/3'])
})

test('what a page lacks is looked at in items that are Maps, and under names with dots, too', () => {
  const map = new Map<string, unknown>([
    ['price', 1],
    ['author.name', 'a'],
  ])
  expect(noted([['https://shop.example/1', map]])).toEqual({})
})

test('a field that is watched later is looked at from then on, and fifty are watched at the most', () => {
  const stats = new MemoryStatsCollector()
  const pages = new ExamplePages(stats, [])
  pages.look({}, new Response('https://shop.example/1'))
  pages.watch(['price'])
  pages.watch(['price', ...Array.from({ length: 60 }, (_, n) => `field ${n}`)])
  pages.look({}, new Response('https://shop.example/2'))
  const noted = stats.snapshot()
  expect(Object.keys(noted)).toHaveLength(50)
  expect(JSON.parse(String(noted[`${PAGES_STAT}price`]))).toEqual(['https://shop.example/2'])
})

test('what every object inherits is no field of an item', () => {
  const stats = new MemoryStatsCollector()
  new ExamplePages(stats, ['constructor']).look({}, new Response('https://shop.example/1'))
  expect(stats.get(`${PAGES_STAT}constructor`)).toBe('["https://shop.example/1"]')
})
