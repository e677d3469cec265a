import { Headers, Request } from '@webloom/core'
import { expect, test } from 'vitest'
import { chainLinkOf } from '../traps/trap-chain.ts'
import { askingOf } from './asking-of.ts'

test('the next visit begins without what belongs to the last one, and keeps what is the page’s own', () => {
  const meta = { depth: 2, mine: 1, seed_delay: 3, redirect_times: 1, last_visit: 'x', visit_lease: 7 }
  const asking = askingOf(new Request('https://shop.example/', { meta }), new Headers())
  expect(asking.meta).toEqual({ depth: 2, mine: 1 })
})

test('a page of a list carries nothing of the page that linked to it, and a page of a chain does', () => {
  const [url, next] = ['https://shop.example/list?page=1', 'https://shop.example/list?page=2']
  const requests = [new Request(next)]
  const askedAfter = (trap_chain: unknown) => {
    const meta = trap_chain === undefined ? {} : { trap_chain: trap_chain as never }
    const { carried } = chainLinkOf({ url, meta, requests, items: [] })!
    return {
      carried,
      meta: askingOf(new Request(next, { meta: { trap_chain: carried } }), new Headers()).meta,
    }
  }
  const first = askedAfter(undefined)
  expect(first.carried).toMatchObject({ steps: 0 })
  expect(first.meta).toEqual({})
  const second = askedAfter(first.carried)
  expect(second.meta).toEqual({ trap_chain: { ...second.carried, steps: 1 } })
})
