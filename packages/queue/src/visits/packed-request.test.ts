import { hash } from 'node:crypto'
import { Request, requestToJson } from '@webloom/core'
import { expect, test } from 'vitest'
import { nameIn, RequestPacker, underName, unpackRequest } from './packed-request.ts'

const chainOf = (n: number) => ({
  steps: 1 + (n % 9),
  links: hash('sha256', `${n}`, 'base64url'),
  items: 2 ** 32 - 1 - n,
})

const pageOf = (n: number, meta: object = { trap_chain: chainOf(n) }) =>
  new Request(`https://shop.example/calendar?month=${n}`, { callback: 'parseMonth', meta: { ...meta } })

const NAME = Buffer.from('0123456789abcdef', 'hex')

/** Packs as one worker does. */
function packedOf(requests: readonly Request[]) {
  const [packer, names] = [new RequestPacker(), new Map<string, string>()]
  return { packed: requests.map((request) => packer.pack(NAME, request, names)), names }
}

test('what each page of a chain carries takes 37 bytes, and shares the form of other pages', () => {
  const bare = packedOf(Array.from({ length: 10 }, (_, n) => pageOf(n, {})))
  const { packed, names } = packedOf(Array.from({ length: 10 }, (_, n) => pageOf(n)))
  expect(packed.at(-1)!.length).toBe(bare.packed.at(-1)!.length + 37)
  expect([...names]).toEqual([...bare.names])
  for (const [n, one] of packed.entries())
    expect(requestToJson(unpackRequest(one, names))).toEqual(requestToJson(pageOf(n)))
})

test('a value of trap_chain that is none comes back as it was', () => {
  const chain = chainOf(1)
  const values = [
    null,
    7,
    [],
    { ...chain, steps: 256 },
    { ...chain, steps: -1 },
    { ...chain, items: 2 ** 32 },
    { ...chain, items: 0.5 },
    { ...chain, links: `${chain.links}=` },
    { ...chain, links: 'AAAA' },
    { ...chain, more: 1 },
  ]
  for (const trap_chain of values) {
    const request = pageOf(1, { depth: 2, trap_chain })
    const { packed, names } = packedOf([request])
    expect(requestToJson(unpackRequest(packed[0]!, names))).toEqual(requestToJson(request))
  }
})

test('what a build packed that knew no part for the chain, and no name, is read', () => {
  const { url, ...form } = requestToJson(pageOf(3))
  const [origin, rest] = ['https://shop.example', '/calendar?month=3']
  const packed = Buffer.from(`\0${origin}\n${JSON.stringify(form)}\n${rest}`)
  expect(requestToJson(unpackRequest(packed, new Map()))).toEqual({ url, ...form })
  expect(nameIn(packed)).toBe(undefined)
  const named = underName(packed, NAME)
  expect(nameIn(named)).toEqual(NAME)
  expect(requestToJson(unpackRequest(named, new Map()))).toEqual({ url, ...form })
})

test('a page that gets another name is asked for as before', () => {
  const other = Buffer.from('fedcba9876543210', 'hex')
  const urls = [
    'https://shop.example/p/1?q=%C3%BC',
    'https://shop.example/',
    'data:,x',
    'HTTP://SHOP.EXAMPLE/A~B',
  ]
  for (const request of urls.map((url) => new Request(url, { meta: { trap_chain: chainOf(1) } }))) {
    const { packed, names } = packedOf([request])
    const renamed = underName(packed[0]!, other)
    expect(nameIn(renamed)).toEqual(other)
    expect(requestToJson(unpackRequest(renamed, names))).toEqual(requestToJson(request))
  }
})
