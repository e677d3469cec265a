import type { FakeWebPlan, HangingPage, PagePlace } from './options.ts'
import { chance, randomStream } from './random.ts'

/**
 * Where a link leads. A `hop` answers with a redirect to the page of the same place; an `image` is not HTML.
 */
export interface Target extends PagePlace {
  readonly kind: 'page' | 'hop' | 'image'
}

/**
 * Which page links to which, and how each page behaves: pure functions of the plan, without any address.
 *
 * On every host the pages form a tree whose root is page 0: each page hangs from a good page with a lower number,
 * so whatever the other links are, every page that is not an orphan can be reached, and through good pages only.
 * The rest of a page's links are drawn at random.
 */
export class WebGraph {
  readonly plan: FakeWebPlan
  readonly #trees: HostTree[] = []
  readonly #hanging: ReadonlyMap<string, HangingPage>
  readonly #slowMs: ReadonlyMap<string, number>
  /** Host k's page 0 is linked from here, when only host 0 is a seed. */
  readonly #entrances: ReadonlyMap<string, number[]>

  constructor(plan: FakeWebPlan) {
    this.plan = plan
    this.#hanging = new Map(plan.hangs.map((hanging) => [keyOf(hanging), hanging]))
    this.#slowMs = new Map(plan.slow.map((slow) => [keyOf(slow), slow.ms]))
    this.#entrances = this.#drawEntrances()
  }

  has({ host, page }: PagePlace): boolean {
    return host < this.plan.hosts && page < this.plan.pagesPerHost
  }

  /** Returns what the page answers in the end: 200, one of `errorStatuses`, or 0 for a page that hangs. */
  status(place: PagePlace): number {
    if (this.hanging(place) !== undefined) return 0
    if (!this.#drawn('errors', place)) return 200
    return pick(this.plan.errorStatuses, this.#chance(Draw.errorStatus, place))
  }

  hanging(place: PagePlace): HangingPage | undefined {
    return this.#hanging.size === 0 ? undefined : this.#hanging.get(keyOf(place))
  }

  isOrphan(place: PagePlace): boolean {
    return this.#drawn('orphans', place)
  }

  /** Returns how often the page fails before it succeeds; 0 for most. */
  flakyTimes(place: PagePlace): number {
    return this.#drawn('flaky', place) && this.status(place) === 200 ? this.plan.flakyTimes : 0
  }

  flakyWith(place: PagePlace): '503' | 'reset' {
    if (this.plan.flakyWith !== 'either') return this.plan.flakyWith
    return this.#chance(Draw.flakyWith, place) < 0.5 ? '503' : 'reset'
  }

  hopStatus(place: PagePlace): 301 | 302 {
    return this.#chance(Draw.hopStatus, place) < 0.5 ? 301 : 302
  }

  latencyMs(place: PagePlace): number {
    const slowMs = this.#slowMs.size === 0 ? undefined : this.#slowMs.get(keyOf(place))
    return slowMs ?? within(this.plan.latencyMs, this.#chance(Draw.latency, place))
  }

  pageBytes(place: PagePlace): number {
    return Math.round(within(this.plan.pageBytes, this.#chance(Draw.pageBytes, place)))
  }

  /** Returns where the page's links lead, each target once, in the order of the page. */
  links(place: PagePlace): Target[] {
    const random = randomStream(this.plan.seed, Draw.links, place.host, place.page)
    const places = shuffled(this.#linkedPlaces(place, random), random)
    const targets = places.map((linked): Target => {
      return { kind: random() < this.plan.redirects ? 'hop' : 'page', ...linked }
    })
    if (this.plan.variedLinks && random() < IMAGE_LINKS) targets.push({ kind: 'image', ...place })
    return targets
  }

  /** The tree's children first, then drawn pages until there are enough or the drawing finds no new one. */
  #linkedPlaces(place: PagePlace, random: () => number): PagePlace[] {
    const { linksPerPage } = this.plan
    const places = new Map<string, PagePlace>()
    const add = (linked: PagePlace) => places.set(keyOf(linked), linked)
    for (const page of this.#tree(place.host).childrenOf(place.page)) add({ host: place.host, page })
    for (const host of this.#entrances.get(keyOf(place)) ?? []) add({ host, page: 0 })
    // A small host may have fewer pages than a page has links; the bound ends the search then.
    for (let tries = 0; places.size < linksPerPage && tries < 4 * linksPerPage; tries++) {
      const linked = this.#drawPlace(place.host, random)
      if (!this.isOrphan(linked)) add(linked)
    }
    return [...places.values()]
  }

  #drawPlace(from: number, random: () => number): PagePlace {
    const { hosts, pagesPerHost, crossHostLinks } = this.plan
    const leaves = hosts > 1 && random() < crossHostLinks
    const host = leaves ? (from + 1 + Math.floor(random() * (hosts - 1))) % hosts : from
    return { host, page: Math.floor(random() * pagesPerHost) }
  }

  #tree(host: number): HostTree {
    this.#trees[host] ??= new HostTree(this.plan.pagesPerHost, (page) => this.#parentOf({ host, page }))
    return this.#trees[host]
  }

  #parentOf(place: PagePlace): number | undefined {
    if (place.page === 0 || this.isOrphan(place)) return undefined
    return this.#goodPageAtMost(place.host, Math.floor(this.#chance(Draw.parent, place) * place.page))
  }

  /** Page 0 ends the search, whatever it is like. */
  #goodPageAtMost(host: number, highest: number): number {
    let page = highest
    while (page > 0 && (this.status({ host, page }) !== 200 || this.isOrphan({ host, page }))) page -= 1
    return page
  }

  #drawEntrances(): Map<string, number[]> {
    const entrances = new Map<string, number[]>()
    if (this.plan.seedHosts === 'all') return entrances
    for (let host = 1; host < this.plan.hosts; host++) {
      const random = randomStream(this.plan.seed, Draw.entrance, host)
      const from = Math.floor(random() * host)
      const page = this.#goodPageAtMost(from, Math.floor(random() * this.plan.pagesPerHost))
      const key = keyOf({ host: from, page })
      entrances.set(key, [...(entrances.get(key) ?? []), host])
    }
    return entrances
  }

  #drawn(share: 'errors' | 'flaky' | 'orphans', place: PagePlace): boolean {
    return place.page > 0 && this.plan[share] > 0 && this.#chance(Draw[share], place) < this.plan[share]
  }

  #chance(draw: number, place: PagePlace): number {
    return chance(this.plan.seed, draw, place.host, place.page)
  }
}

/** One stream of chance per question, so that turning one option never changes the draws of another. */
const Draw = {
  errors: 1,
  errorStatus: 2,
  flaky: 3,
  flakyWith: 4,
  orphans: 5,
  hopStatus: 6,
  latency: 7,
  pageBytes: 8,
  links: 9,
  parent: 10,
  entrance: 11,
} as const

/** Of pages with varied links, the share that also link to an image. */
const IMAGE_LINKS = 0.3

/** The children of every page of one host: two arrays of numbers, so that a million pages cost 12 MB and no search. */
class HostTree {
  readonly #children: Int32Array
  /** Page n's children are `#children` from `#firstChild[n]` to `#firstChild[n + 1]`. */
  readonly #firstChild: Int32Array

  constructor(pages: number, parentOf: (page: number) => number | undefined) {
    const parents = Int32Array.from({ length: pages }, (_, page) => parentOf(page) ?? -1)
    this.#firstChild = new Int32Array(pages + 1)
    for (const parent of parents) if (parent >= 0) this.#firstChild[parent + 1]! += 1
    for (let page = 0; page < pages; page++) this.#firstChild[page + 1]! += this.#firstChild[page]!
    this.#children = new Int32Array(this.#firstChild[pages]!)
    const next = this.#firstChild.slice()
    parents.forEach((parent, page) => {
      if (parent >= 0) this.#children[next[parent]!++] = page
    })
  }

  childrenOf(page: number): Int32Array {
    return this.#children.subarray(this.#firstChild[page], this.#firstChild[page + 1])
  }
}

function keyOf({ host, page }: PagePlace): string {
  return `${host}/${page}`
}

function pick<T>(choices: readonly T[], chance: number): T {
  return choices[Math.floor(chance * choices.length)]!
}

function within(range: number | readonly [min: number, max: number], chance: number): number {
  return typeof range === 'number' ? range : range[0] + chance * (range[1] - range[0])
}

function shuffled<T>(list: T[], random: () => number): T[] {
  for (let last = list.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    const moved = list[last]!
    list[last] = list[other]!
    list[other] = moved
  }
  return list
}
