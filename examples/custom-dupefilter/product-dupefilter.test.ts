import { completeDupeFilter } from '@webloom/core'
import { dupeFilterContract, withoutForget, withoutHas, withoutSharedStore } from '@webloom/core/contract'
import { startFakeWeb } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { crawl, type Response, Spider } from 'webloom'
import { ProductDupeFilter } from './product-dupefilter.ts'

dupeFilterContract(
  { describe, test },
  {
    name: 'ProductDupeFilter',
    deviations: [
      ...withoutForget('a product that was met is never to be fetched again'),
      ...withoutHas('no command needs to know whether a product was met'),
      ...withoutSharedStore('it is in the memory of one process'),
    ],
    create: async () => ({ subject: completeDupeFilter(new ProductDupeFilter()), dispose: async () => {} }),
  },
)

test('a crawl fetches each product once, under whichever address it meets first', async () => {
  await using web = await startFakeWeb({ pagesPerHost: 1 })
  const links = ['/shoes/p-1.html', '/sale/p-1.html?from=home', '/shoes/p-12.html', '/sale/', '/shoes/']
  const page = links.map((link) => `<a href="${link}">${link}</a>`).join('')
  for (const path of ['/shop', '/sale/', '/shoes/', '/shoes/p-1.html', '/shoes/p-12.html'])
    web.route(null, path, (_, response) => response.setHeader('content-type', 'text/html').end(page))
  const fetched: string[] = []
  class Shop extends Spider {
    override name = 'shop'
    override startUrls = [`${web.origins[0]}/shop`]
    override *parse(response: Response): Generator<unknown> {
      fetched.push(new URL(response.url).pathname)
      yield* response.followAll()
    }
  }
  await crawl(Shop, { settings: { DUPEFILTER_CLASS: ProductDupeFilter } })
  expect(fetched.sort()).toEqual(['/sale/', '/shoes/', '/shoes/p-1.html', '/shoes/p-12.html', '/shop'])
})
