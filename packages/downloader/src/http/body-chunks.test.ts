import { expect, test } from 'vitest'
import { BodyChunks } from './body-chunks.ts'

/** Pieces of one text, each a view into memory of its own that holds `waste` times as much. */
function pieces(text: string, sizes: readonly number[], waste = 1): Buffer[] {
  const cut: Buffer[] = []
  for (let at = 0, n = 0; at < text.length; n++) {
    const size = sizes[n % sizes.length]!
    const bytes = Buffer.from(text.slice(at, at + size))
    const memory = Buffer.allocUnsafeSlow(bytes.length * waste)
    bytes.copy(memory)
    cut.push(memory.subarray(0, bytes.length))
    at += size
  }
  return cut
}

const TEXT = Array.from({ length: 40_000 }, (_, n) => `${n} `).join('')

test.each([
  ['large chunks', [50_000], 1],
  ['one-byte chunks', [1], 1],
  ['both in turn', [1, 5000, 3, 40_000], 1],
  ['chunks that are a small part of what was read', [2000], 50],
])('%s give the body again', (_, sizes, waste) => {
  const body = new BodyChunks()
  for (const piece of pieces(TEXT, sizes, waste)) body.add(piece)
  expect(body.bytes).toBe(TEXT.length)
  expect(body.whole().toString()).toBe(TEXT)
})

test('the only chunk is not copied', () => {
  const body = new BodyChunks()
  const chunk = Buffer.from('<p>page</p>')
  body.add(chunk)
  expect(body.whole()).toBe(chunk)
})

test('an announced length is a place, not a promise', () => {
  for (const announced of [3_000_000, 1_000_000, Number.MAX_SAFE_INTEGER, Number.NaN]) {
    const body = new BodyChunks()
    body.announce(announced)
    for (const piece of pieces(TEXT, [7000])) body.add(piece)
    expect(body.whole().toString()).toBe(TEXT)
  }
})
