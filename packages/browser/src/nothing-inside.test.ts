/** No way that a page has leads to where the crawl may not go. That without our proxy each of them does: the soak. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browsing, Site } from '../testing/browsing.ts'
import { Inside, serveWays, WAYS } from '../testing/ways-inside.ts'

/** Stands for the internet: PRIVATE_ADDRESSES_ALLOWED lets it in, and nothing else. */
const PUBLIC = '127.0.9.1'
const INSIDE = ['127.0.0.1', '::1']

let inside: Inside
let site: Site

beforeAll(async () => {
  inside = await Inside.start([...INSIDE, PUBLIC])
  site = await Site.start()
})
afterAll(async () => {
  await site[Symbol.asyncDispose]()
  await inside[Symbol.asyncDispose]()
})

const hitsOf = (target: string) =>
  [...inside.hits].filter((hit) => hit.endsWith(` ${target}`)).map((hit) => hit.split(' ')[0])

test('through our proxy every way leads outside, and none inside: by address, by metadata, by a name that rebinds; the document itself may not be inside, and the error says why', async () => {
  const { port } = inside
  let lookups = 0
  await using browsing = await Browsing.open({
    settings: {
      PRIVATE_ADDRESSES_ALLOWED: [`${PUBLIC}/32`, `outside.localhost:${site.port}`],
      DNSCACHE_ENABLED: false,
    },
    // Outside when it is looked up first, and inside from then on.
    lookup: async (hostname) => (hostname === 'rebinds.example' && lookups++ > 0 ? ['127.0.0.1'] : [PUBLIC]),
  })
  const url = serveWays(site, {
    loopback: `127.0.0.1:${port}`,
    loopback6: `[::1]:${port}`,
    metadata: `169.254.169.254:${port}`,
    written: `2130706433:${port}`,
    public: `${PUBLIC}:${port}`,
  })
  inside.hits.clear()
  const response = await browsing.visit(url, { meta: { browser: { waitFor: 500 }, download_timeout: 12 } })
  expect(new Set(hitsOf('public'))).toEqual(new Set(WAYS))
  for (const target of ['loopback', 'loopback6', 'metadata', 'written'])
    expect(hitsOf(target), target).toEqual([])
  for (const address of INSIDE) expect(inside.contactsAt(address), address).toBe(0)
  const refused = response.browser!.blocked.map(({ url: place }) => place)
  expect(refused).toEqual(
    expect.arrayContaining([`127.0.0.1:${port}`, `[::1]:${port}`, `169.254.169.254:${port}`]),
  )
  expect(response.browser!.errors.join()).toContain(
    'Not allowed to load local resource: file:///etc/hostname',
  )

  // Pinned while its page is open; the next page looks it up anew, and is refused. Each has a word of its own, as what a page
  // that is closed has sent may arrive later.
  for (const [target, expected] of [
    ['rebinds', WAYS.length],
    ['again', 0],
  ] as const) {
    const rebinds = serveWays(site, { [target]: `rebinds.example:${port}` })
    await browsing.visit(rebinds, { meta: { browser: { waitFor: 500 }, download_timeout: 12 } })
    expect(hitsOf(target)).toHaveLength(expected)
  }
  for (const address of INSIDE) expect(inside.contactsAt(address), address).toBe(0)
  // The document itself.
  for (const url of [`http://127.0.0.1:${site.port}/`, 'http://169.254.169.254/'])
    await expect(browsing.visit(url)).rejects.toMatchObject({ code: 'WL_ADDRESS_REFUSED' })
})
