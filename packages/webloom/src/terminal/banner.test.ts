import { expect, test } from 'vitest'
import { startBanner } from './banner.ts'

const BANNER = {
  version: '1.2.3',
  spider: 'quotes',
  queue: 'memory, priority order',
  filter: 'memory',
  fingerprinter: 'scrapy',
  outputs: ['quotes.jsonl'],
  concurrency: 16,
  concurrencyPerHost: 8,
  delaySeconds: 0.25,
}

test('says which parts run', () => {
  expect(startBanner({ ...BANNER, notes: ['mind the gap'] })).toEqual([
    'webloom 1.2.3, spider quotes',
    'queue: memory, priority order; filter: memory; fingerprinter: scrapy',
    'outputs: quotes.jsonl',
    'pace: 16 requests at once, 8 to one host, 0.25 s between two to one host',
    'note: mind the gap',
  ])
})

test('without outputs says how to keep items', () => {
  expect(startBanner({ ...BANNER, outputs: [], delaySeconds: 0 }).slice(2)).toEqual([
    'outputs: none (-o items.jsonl keeps the items)',
    'pace: 16 requests at once, 8 to one host, no delay',
  ])
})

test('a spider cannot write to the terminal by its name', () => {
  expect(startBanner({ ...BANNER, spider: 'a\u001b[2J\n' })[0]).toBe('webloom 1.2.3, spider a\\x1b[2J\\n')
})
