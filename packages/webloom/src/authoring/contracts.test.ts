import { InvalidItem, Response } from '@webloom/spider'
import { expect, test } from 'vitest'
import { breaches } from './contracts.ts'

const page = new Response('https://e.com/')

test('what its schema refuses is told, and is not an item', async () => {
  const refused = new InvalidItem({ price: 'x' }, [{ message: 'expected a number', path: ['price'] }])
  const yielded = { items: [{ price: 1 }, refused], requests: [] }
  const contract = { url: page.url, returns: { items: 2 }, scrapes: ['price'] }
  expect(await breaches(contract, yielded, page)).toEqual([
    'yielded 1 items, expected 2',
    'an item is refused by its schema: price: expected a number',
  ])
})
