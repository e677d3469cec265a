/** A site of a few pages, and a crawl of it by a spider. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { environmentSettings, type ProtocolTimes } from '@webloom/core'
import type { SettingsInput, SpiderClass } from 'webloom'
import type { Logger } from 'webloom/ports'
import { assemble } from '../../packages/webloom/src/assembly/assemble.ts'

export type Page = string | { readonly type?: string; readonly body: string | Uint8Array }

export interface SmallSite extends AsyncDisposable {
  readonly url: string
  /** Paths in the order they were asked for. */
  readonly asked: string[]
}

/** Pages by path; `{site}` in them is the address of the site. HTML unless they say otherwise. */
export async function startSite(pages: Readonly<Record<string, Page>>): Promise<SmallSite> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url!)
    const page = pages[request.url!]
    if (page === undefined) {
      response.writeHead(404, { 'content-type': 'text/html' }).end()
      return
    }
    const { type = 'text/html', body } = typeof page === 'string' ? { body: page } : page
    response.writeHead(200, { 'content-type': type })
    response.end(typeof body === 'string' ? body.replaceAll('{site}', url) : body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

export interface Outcome {
  readonly items: unknown[]
  readonly stats: Record<string, unknown>
  readonly warnings: string[]
}

export async function run(
  Class: SpiderClass,
  site: SmallSite,
  settings: SettingsInput = {},
  times?: ProtocolTimes,
): Promise<Outcome> {
  const items: unknown[] = []
  const warnings: string[] = []
  const note = (first: object | string, message?: string) => void warnings.push(message ?? String(first))
  const logger: Logger = { debug() {}, info() {}, warn: note, error: note, child: () => logger }
  class Collector {
    processItem(item: unknown) {
      items.push(item)
      return item
    }
  }
  const crawl = await assemble(Class, {
    args: { site: site.url },
    layers: {
      environment: environmentSettings(process.env),
      command: { ITEM_PIPELINES: [[Collector as never, 1]], CONCURRENT_REQUESTS: 1, ...settings },
    },
    folder: process.cwd(),
    createLogger: () => logger,
    ...(times && { times }),
  })
  const { stats } = await crawl.run()
  return { items, stats: stats as Record<string, unknown>, warnings }
}
