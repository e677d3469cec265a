import type { Target, WebGraph } from '../graph/graph.ts'
import type { PagePlace } from '../graph/options.ts'
import { type Site, targetAt, urlOf } from '../graph/urls.ts'
import { errorHtml, itemOf, type PageItem, pageHtml } from '../pages/page-html.ts'

/** All there is to know about one URL of the web. */
export interface PageTruth extends PagePlace {
  readonly url: string
  readonly kind: Target['kind']
  /** What it answers in the end, after a flaky page's failures; 0 when it hangs. */
  readonly status: number
  /** The absolute URLs of the pages and redirects it leads to, each once; empty unless the status is 200 or 30x. */
  readonly links: readonly string[]
  /** The absolute URLs of the images it links to. */
  readonly images: readonly string[]
  /** Where a redirect leads. */
  readonly location?: string
  readonly title: string
  /** What a spider should extract; only good pages have one. */
  readonly item?: PageItem
  /** The body of a page before compression; empty for a redirect and an image. */
  readonly html: string
  /** Bytes of `html`. */
  readonly bytes: number
  /** How many requests fail before one succeeds. */
  readonly flakyTimes: number
  readonly latencyMs: number
}

/** What a crawl of the web must find: pure functions of the plan and the addresses, the same in every process. */
export class FakeWebTruth {
  /** `origins[k]`: where host k answers, such as `http://127.0.0.1:40123`. */
  readonly origins: readonly string[]
  readonly #site: Site
  #reached: Reached | undefined

  constructor(site: Site) {
    this.origins = site.origins
    this.#site = site
  }

  /** Start URLs: page 0 of every host, or of host 0 with `seedHosts: 'first'`. */
  get seeds(): string[] {
    return seedPages(this.#site).map(({ host }) => this.pageUrl(host, 0))
  }

  /** Good pages: what a complete crawl from the seeds must fetch, each with status 200 and an item. */
  reachable(): Set<string> {
    return new Set(this.#reach().good)
  }

  /** Every URL a complete crawl may request: the good pages, the broken ones they link to, and the redirects. */
  linked(): Set<string> {
    return new Set(this.#reach().all)
  }

  pageUrl(host: number, page: number): string {
    return this.#urlOf({ kind: 'page', host, page })
  }

  /** The truth about a URL; undefined for one that is not of this web. A fragment does not matter. */
  page(url: string): PageTruth | undefined {
    const target = this.target(url)
    return target && this.#truthOf(target)
  }

  /** The items of all reachable pages. */
  items(): PageItem[] {
    return [...this.#reach().good].map((url) => itemOf(this.target(url)!, this.#site.graph.plan.seed))
  }

  /** The target under a URL. */
  target(url: string): Target | undefined {
    const { origin, pathname, search } = new URL(url)
    const host = this.origins.indexOf(origin)
    return host < 0 ? undefined : targetAt(host, pathname + search, this.#site.graph.plan)
  }

  #truthOf(target: Target): PageTruth {
    const { graph } = this.#site
    const links = linksOf(target, graph).map(this.#urlOf)
    const content = this.#contentOf(target)
    return {
      ...target,
      ...content,
      url: this.#urlOf(target),
      status: statusOf(target, graph),
      links,
      images: imagesOf(target, graph).map(this.#urlOf),
      ...(target.kind === 'hop' && { location: links[0]! }),
      bytes: Buffer.byteLength(content.html),
      flakyTimes: target.kind === 'page' ? graph.flakyTimes(target) : 0,
      latencyMs: target.kind === 'image' ? 0 : graph.latencyMs(target),
    }
  }

  #contentOf(target: Target): Pick<PageTruth, 'title' | 'html' | 'item'> {
    const { graph } = this.#site
    if (target.kind !== 'page') return { title: '', html: '' }
    const status = graph.status(target)
    if (status !== 200) return { title: String(status), html: errorHtml(status) }
    const item = itemOf(target, graph.plan.seed)
    return { title: item.title, html: pageHtml(target, this.#site), item }
  }

  /** Walked once: nothing about it can change. */
  #reach(): Reached {
    this.#reached ??= reach(this.#site)
    return this.#reached
  }

  readonly #urlOf = (target: Target): string => urlOf(target, this.#site)
}

interface Reached {
  readonly good: ReadonlySet<string>
  readonly all: ReadonlySet<string>
}

function seedPages({ graph }: Site): Target[] {
  const { hosts, seedHosts } = graph.plan
  const count = seedHosts === 'first' ? 1 : hosts
  return Array.from({ length: count }, (_, host) => ({ kind: 'page', host, page: 0 }))
}

/** A breadth-first walk along the links, each target once. */
function reach(site: Site): Reached {
  const queue = seedPages(site)
  const met = new Set(queue.map(keyOf))
  // The queue grows while it is walked; it ends because each target joins it once.
  for (const target of queue) {
    for (const link of linksOf(target, site.graph)) {
      if (!met.has(keyOf(link))) queue.push(link)
      met.add(keyOf(link))
    }
  }
  const good = queue.filter((target) => target.kind === 'page' && site.graph.status(target) === 200)
  return { good: urlsOf(good, site), all: urlsOf(queue, site) }
}

/** Cheaper than its URL: a page of a large web is met ten times as often as it is new. */
function keyOf({ kind, host, page }: Target): number {
  return (host * 2 ** 31 + page) * 2 + (kind === 'hop' ? 1 : 0)
}

function urlsOf(targets: readonly Target[], site: Site): Set<string> {
  return new Set(targets.map((target) => urlOf(target, site)))
}

/** What a crawl follows: pages and redirects. */
function linksOf(target: Target, graph: WebGraph): Target[] {
  if (target.kind === 'hop') return [{ ...target, kind: 'page' }]
  return anchorsOf(target, graph).filter((link) => link.kind !== 'image')
}

function imagesOf(target: Target, graph: WebGraph): Target[] {
  return anchorsOf(target, graph).filter((link) => link.kind === 'image')
}

function anchorsOf(target: Target, graph: WebGraph): Target[] {
  return target.kind === 'page' && graph.status(target) === 200 ? graph.links(target) : []
}

function statusOf(target: Target, graph: WebGraph): number {
  if (target.kind === 'image') return 200
  return target.kind === 'hop' ? graph.hopStatus(target) : graph.status(target)
}
