import type { PagePlace } from '../graph/options.ts'
import { randomStream } from '../graph/random.ts'
import type { Site } from '../graph/urls.ts'
import { plainLinks, variedLinks } from './links-html.ts'
import { paragraphs, titleWords } from './words.ts'

/** What a spider should extract from a page. */
export interface PageItem {
  /** `h1.title`, which is also the page's `<title>`. Unique on its host. */
  readonly title: string
  /** `p.price`: `£12.34`. */
  readonly price: string
  /** `div.item span.name`, in order. */
  readonly names: readonly string[]
}

/** The item of a page, drawn from its place. */
export function itemOf({ host, page }: PagePlace, seed: number): PageItem {
  const random = randomStream(seed, ITEM, host, page)
  return {
    title: `${titleWords(2, random)} ${page}`,
    price: `£${(1 + random() * 99).toFixed(2)}`,
    names: Array.from({ length: 3 }, () => titleWords(2, random)),
  }
}

/** The page as it is served, before compression. */
export function pageHtml(place: PagePlace, site: Site): string {
  const { plan } = site.graph
  const random = randomStream(plan.seed, MARKUP, place.host, place.page)
  const writeLinks = plan.variedLinks ? variedLinks : plainLinks
  const links = writeLinks({ kind: 'page', ...place }, site.graph.links(place), site, random)
  const head = headHtml(itemOf(place, plan.seed))
  const room = site.graph.pageBytes(place) - Buffer.byteLength(head) - Buffer.byteLength(links) - FOOT.length
  return head + links + paragraphs(Math.max(0, room), random) + FOOT
}

/** Returns what an error answers with: small, and with a link that no crawl may follow. */
export function errorHtml(status: number): string {
  return `<!doctype html>\n<html><head><title>${status}</title></head><body><h1>${status}</h1>\n<a href="/trap/error.html">home</a></body></html>\n`
}

const ITEM = 101
const MARKUP = 102
const FOOT = '</body></html>\n'

function headHtml({ title, price, names }: PageItem): string {
  const items = names.map((name) => `<div class="item"><span class="name">${name}</span></div>\n`)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title></head>
<body>
<h1 class="title">${title}</h1>
<p class="price">${price}</p>
${items.join('')}`
}
