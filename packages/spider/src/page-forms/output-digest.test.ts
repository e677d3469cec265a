import { Request } from '@webloom/core'
import { expect, test } from 'vitest'
import { CallbackOutput } from '../scraping/callback-output.ts'
import { outputDigest } from './output-digest.ts'

const NOW = Date.parse('2026-11-26T09:00:00Z')

function digest(...elements: readonly unknown[]): string {
  const output = new CallbackOutput()
  for (const element of elements)
    (element instanceof Request ? output.requests : output.items).push(element as Request)
  return outputDigest(output, NOW)
}

const page = (path: string, init = {}) => new Request(`http://a.example${path}`, init)

test.each([
  ['the order of items and of their fields', [{ a: 1, b: 2 }, { c: 3 }], [{ c: 3 }, { b: 2, a: 1 }]],
  ['white space', [{ a: ' x \n y' }], [{ a: 'x y' }]],
  ['fields without a value', [{ a: 1, b: undefined }], [{ a: 1 }]],
  [
    'the moment of the run, as a Date, a text, seconds and milliseconds',
    [{ a: new Date(NOW), b: NOW, c: NOW / 1000, d: '2026-11-26T09:00:01Z' }],
    [{ a: new Date(NOW + 2000), b: NOW + 2, c: NOW / 1000 + 2, d: '2026-11-26 09:00:03Z' }],
  ],
  [
    'how often a link is yielded, its fragment, and meta',
    [page('/1#a', { meta: { x: 1 } }), page('/1')],
    [page('/1')],
  ],
])('%s make no difference', (_, one, other) => {
  expect(digest(...one)).toBe(digest(...other))
})

test.each([
  ['a text', [{ a: 'x' }], [{ a: 'y' }]],
  ['an item more', [{ a: 1 }, { a: 1 }], [{ a: 1 }]],
  ['a field that is null', [{ a: null }], [{}]],
  ['an earlier day', [{ at: '2026-11-25T09:00:00Z' }], [{ at: '2026-11-24T09:00:00Z' }]],
  ['a link', [page('/1')], [page('/2')]],
  ['its callback', [page('/1')], [page('/1', { callback: 'other' })]],
  ['its cbKwargs', [page('/1', { cbKwargs: { a: 1 } })], [page('/1', { cbKwargs: { a: 2 } })]],
  ['bytes', [{ a: Buffer.from('x') }], [{ a: Buffer.from('y') }]],
  ['an item and a text that look alike', [{ a: ['x', 'y'] }], [{ a: '["x","y"]' }]],
])('%s makes one', (_, one, other) => {
  expect(digest(...one)).not.toBe(digest(...other))
})

test('an item within itself has a digest', () => {
  const item: { self?: unknown } = {}
  item.self = item
  expect(digest(item)).toBe(digest(item))
})
