/** A page that is looked at without a crawl, as `webloom fetch` does it: the same rules hold for it as in a crawl. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Request, silentLogger } from '@webloom/core'
import { expect, test } from 'vitest'
import { type Response, type SettingsInput, Spider } from 'webloom'
import { Workbench } from '../../packages/webloom/src/authoring/workbench.ts'
import { runCallback } from '../../packages/webloom/src/testing.ts'
import { run, startSite } from '../spiders/small-site.ts'

class Visitor extends Spider {
  override name = 'visitor'
  site = ''
  override *start() {
    yield new Request(`${this.site}?q=1`)
  }
  override *parse(response: Response): Generator<unknown> {
    yield { url: response.url }
    yield* response.followAll('a')
  }
}

function workbench(settings: SettingsInput = {}): Promise<Workbench> {
  return Workbench.open(Visitor, {
    layers: { command: { ROBOTSTXT_OBEY: false, ...settings } },
    folder: import.meta.dirname,
    createLogger: () => silentLogger,
  })
}

/** How each of them writes a URL without a path. */
const RULES = [
  { rules: 'w3lib-2.4', link: 'http://other.example?q=2' },
  { rules: 'w3lib-2.5', link: 'http://other.example/?q=2' },
] as const

test.each(RULES)('it has the URL that the crawl gives it, by $rules', async ({ rules }) => {
  await using site = await startSite({ '/?q=1': '<title>one page</title>' })
  const settings = { URL_RULES: rules, ROBOTSTXT_OBEY: false }
  const { items } = await run(Visitor, site, settings)
  await using alone = await workbench(settings)
  const page = await alone.fetch(new Request(`${site.url}?q=1`, { dontFilter: true }))
  expect(items).toEqual([{ url: page.url }])
})

test.each(RULES)(
  'a link of a saved page has the URL that the crawl gives it, by $rules',
  async ({ rules, link }) => {
    const body = '<a href="http://other.example?q=2">other</a>'
    const settings = { URL_RULES: rules }
    const { requests } = await runCallback(Visitor, { url: 'http://one.example/', body }, { settings })
    expect(requests.map(({ url }) => url)).toEqual([link])
  },
)

test.each([
  { by: 'POLITENESS_GROUP_BY=ip', settings: { POLITENESS_GROUP_BY: 'ip' }, meta: {} },
  { by: 'meta.download_slot', settings: {}, meta: { download_slot: 'shop' } },
] as const)('two names of one slot are not asked at once ($by)', async ({ settings, meta }) => {
  await using busy = await countingServer()
  await using alone = await workbench({ ...settings, CONCURRENT_REQUESTS_PER_DOMAIN: 1 })
  await Promise.all(
    ['127.0.0.1', 'localhost'].map((name) =>
      alone.fetch(new Request(`http://${name}:${busy.port}/`, { dontFilter: true, meta })),
    ),
  )
  expect(busy.mostAtOnce()).toBe(1)
})

/** A server that takes its time, and counts how many requests it has at once. */
async function countingServer() {
  let now = 0
  let most = 0
  const server = createServer(async (_, response) => {
    most = Math.max(most, ++now)
    // Waits: so long it takes: long enough for a second request to come, if one may.
    await sleep(100)
    now--
    response.end()
  })
  await once(server.listen(0), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    mostAtOnce: () => most,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
