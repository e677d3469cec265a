/**
 * What it costs to count the fields of items, and to watch those that monitors name: processor time of whole crawls, in turn.
 *
 *     npm run build && node --conditions=webloom-source benchmarks/coverage-bench.ts [--items 100000] [--per-page 20] [--rounds 5]
 *
 * Each crawl is a process of its own, and so is the site. An item has twelve fields, four of them within an object, and is written to a
 * JSON lines file. `watched` has six monitors of fields beside the counting, and one of twenty items lacks what they watch.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { crawl, Request, type Response, type SettingsInput, Spider } from 'webloom'
import { silentLogger } from '../packages/core/src/index.ts'

const { values } = parseArgs({
  options: {
    items: { type: 'string', default: '100000' },
    'per-page': { type: 'string', default: '20' },
    rounds: { type: 'string', default: '5' },
    serve: { type: 'boolean', default: false },
    crawl: { type: 'string' },
    site: { type: 'string', default: '' },
  },
})
const PER_PAGE = Number(values['per-page'])
const PAGES = Math.ceil(Number(values.items) / PER_PAGE)

const WATCHED = { title: 0.5, price: 0.5, 'seller.name': 0.5, 'seller.city': 0.5, url: 0.5, sku: 0.5 }
const KINDS: Readonly<Record<string, SettingsInput>> = {
  uncounted: { FIELD_COVERAGE_MAX: 0 },
  counted: {},
  watched: { MONITORS: { coverage: WATCHED } },
}

class Shop extends Spider {
  override name = 'shop'
  override *start() {
    for (let n = 0; n < PAGES; n++) yield new Request(`${values.site}/${n}`)
  }

  override *parse(response: Response) {
    for (const [n, article] of response.css('article').entries()) {
      const price = article.css('.price::text').get()
      yield {
        url: `${response.url}#${n}`,
        title: article.css('h2::text').get(),
        price: n === 0 ? null : price,
        sku: article.css('::attr(id)').get(),
        currency: 'EUR',
        stock: n,
        tags: ['a', 'b'],
        seenAt: response.url,
        seller: { name: 'Seller', city: n === 0 ? '' : 'Town', country: 'DE', rating: 4.5 },
      }
    }
  }
}

if (values.serve) await serve()
else if (values.crawl !== undefined) await measured(KINDS[values.crawl]!)
else await compare()

async function serve(): Promise<void> {
  const article = (n: number) =>
    `<article id="s${n}"><h2>Product ${n}</h2><p class="price">${n}.90</p><p>${'some words '.repeat(20)}</p></article>`
  const body = `<html><body>${Array.from({ length: PER_PAGE }, (_, n) => article(n)).join('\n')}</body></html>`
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(body))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

async function measured(settings: SettingsInput): Promise<void> {
  const before = process.cpuUsage()
  const { stats } = await crawl(Shop, {
    settings: {
      ...settings,
      CONCURRENT_REQUESTS: 16,
      CONCURRENT_REQUESTS_PER_DOMAIN: 16,
      DOWNLOAD_DELAY: 0,
      FEEDS: {
        [join(tmpdir(), `webloom-coverage-${process.pid}.jsonl`)]: { format: 'jsonlines', overwrite: true },
      },
    },
    ...(process.env.LOUD ? {} : { logger: silentLogger }),
  })
  const { user, system } = process.cpuUsage(before)
  console.log(JSON.stringify({ seconds: (user + system) / 1e6, items: stats.item_scraped_count }))
}

async function compare(): Promise<void> {
  const site = started(['--serve', '--per-page', String(PER_PAGE)])
  try {
    const url = await lineOf(site)
    const seconds = new Map(Object.keys(KINDS).map((kind) => [kind, [] as number[]]))
    for (let round = 0; round < Number(values.rounds); round++) {
      const kinds = round % 2 === 0 ? [...seconds.keys()] : [...seconds.keys()].reverse()
      for (const kind of kinds) {
        const args = ['--crawl', kind, '--site', url, '--items', values.items, '--per-page', String(PER_PAGE)]
        const answer = JSON.parse(await lineOf(started(args))) as { seconds: number; items: number }
        if (answer.items !== PAGES * PER_PAGE) throw new Error(`${kind}: ${answer.items} items`)
        seconds.get(kind)!.push(answer.seconds)
        console.log(`round ${round + 1}  ${kind.padEnd(10)} ${answer.seconds.toFixed(2)} s of processor time`)
      }
    }
    const least = (kind: string) => Math.min(...seconds.get(kind)!)
    for (const kind of seconds.keys()) {
      const more = ((least(kind) / least('uncounted') - 1) * 100).toFixed(1)
      console.log(
        `${kind.padEnd(10)} ${least(kind).toFixed(2)} s at the least: ${more} % more than uncounted`,
      )
    }
  } finally {
    site.kill()
  }
}

function started(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['--conditions=webloom-source', import.meta.filename, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function lineOf(child: ChildProcess): Promise<string> {
  let text = ''
  for await (const part of child.stdout!) {
    text += String(part)
    if (text.includes('\n')) return text.slice(0, text.indexOf('\n'))
  }
  throw new Error('the process ended without an answer')
}
