/**
 * What a seed fixes: the site, the crawl's shape, the faults and the points at which they strike. Not how the workers'
 * steps fall between each other: that is the machine's, so a seed that fails is run many times.
 */

import { type FakeWebOptions, randomStream } from '@webloom/testkit'

export type Role = 'queue' | 'filter'

/** The nth call of a command, counted over all workers. Its name is that of `CommandNames`. */
export interface Point {
  readonly name: string
  readonly nth: number
}

/** Whoever sent the command of the point is the worker that is meant. */
export type Fault = { readonly at: Point } & (
  | { readonly kind: 'kill'; readonly when: 'before' | 'after'; readonly backInMs: number }
  | { readonly kind: 'pause'; readonly ms: number }
  | { readonly kind: 'silence'; readonly ms: number }
  | { readonly kind: 'lose replies'; readonly times: number }
  | { readonly kind: 'hold reply'; readonly ms: number }
  | { readonly kind: 'cut before' }
  | { readonly kind: 'set back'; readonly role: Role; readonly byMs: number }
  | { readonly kind: 'restart redis'; readonly role: Role | 'all'; readonly downMs: number }
  | { readonly kind: 'promote replica'; readonly role: Role; readonly lagMs: number }
  | { readonly kind: 'full'; readonly role: Role; readonly ms: number }
  /** Takes no writes, as no replica is near. */
  | { readonly kind: 'refuse'; readonly role: Role; readonly ms: number }
  | { readonly kind: 'jump'; readonly ms: number }
  | { readonly kind: 'restart cluster'; readonly downMs: number }
  /** A worker of another spider begins its crawl anew, of a site of its own, and ends it. */
  | { readonly kind: 'visit'; readonly flushes: boolean }
)

/** What a crawl meets: its faults are of this kind. */
export const FAMILIES = [
  'calm',
  'kill',
  'pause',
  'replies',
  'set-back',
  'replica',
  'full',
  'jump',
  'restart',
  'shared',
  'mixed',
  'changing',
  'foreign',
  'stormy',
  'hail',
  'refusing',
] as const
export type Family = (typeof FAMILIES)[number]

export interface WorldPlan {
  /** `<family>-<number>`. */
  readonly seed: string
  readonly family: Family
  readonly mode: 'turns' | 'job'
  /** One Redis for queue and filter, or one for each. */
  readonly servers: 1 | 2
  readonly workers: number
  readonly concurrency: number
  readonly delayMs: number
  readonly web: FakeWebOptions
  /** The share of pages that show other links at each fetch, beside those they always have. */
  readonly changing: number
  /** Two spiders on one filter. */
  readonly isShared: boolean
  /** The second spider's queue is on a Redis of its own: crawls that share a filter need not share anything else. */
  readonly hasOwnQueue: boolean
  /** The pages of the second one, which visits; it crawls the same ones where there are none. */
  readonly visitedPages: number
  /** Of all times of the protocol: 0.1 stands for a lock of 600 ms instead of six seconds. */
  readonly factor: number
  readonly faults: readonly Fault[]
}

/**
 * Where nothing strikes, nothing waits for these times, and next to nothing may be fetched twice. So they are not scaled there: a
 * machine so busy that a worker stands still for half of a short lock would allow what is looked for.
 */
const FACTOR = 0.1
const MS = (unscaled: number) => Math.round(unscaled * FACTOR)

export function planOf(seed: string): WorldPlan {
  const [, family, number] = /^([a-z-]+)-(\d+)$/.exec(seed) ?? []
  if (!FAMILIES.includes(family as Family))
    throw new Error(
      `the seed is ${JSON.stringify(seed)}; expected <family>-<number>, with one of ${FAMILIES.join(', ')}`,
    )
  const draw = new Draw(randomStream(Number(number), FAMILIES.indexOf(family as Family)))
  const plan = drawn(seed, family as Family, draw)
  // Not drawn: what a seed draws must stay what it was.
  const hasOwnQueue = family === 'shared' && Number(number) % 2 === 0
  const isCalm = plan.faults.length === 0
  return { ...plan, hasOwnQueue, factor: isCalm ? 1 : FACTOR }
}

type Drawn = Omit<WorldPlan, 'hasOwnQueue' | 'factor'>

function drawn(seed: string, family: Family, draw: Draw): Drawn {
  const isShared = family === 'shared' || family === 'foreign'
  const mode = draw.chance(0.25) ? 'job' : 'turns'
  const servers = draw.chance(0.3) ? 1 : 2
  const hosts = draw.whole(1, 4)
  // A page that comes back from a full queue with other links: while it was away nobody else may have asked about the first.
  const isOneByOne = family === 'full' && draw.chance(0.5)
  const plan = {
    seed,
    family,
    mode,
    servers,
    workers: family === 'shared' ? 2 : isOneByOne ? 1 : draw.whole(1, 3),
    concurrency: isOneByOne ? 1 : draw.whole(2, 8),
    delayMs: draw.chance(0.2) ? draw.whole(2, 10) : 0,
    web: {
      seed: draw.whole(1, 1_000_000),
      hosts,
      pagesPerHost: Math.round(draw.whole(100, 240) / hosts),
      linksPerPage: draw.whole(4, 12),
      crossHostLinks: draw.chance(0.5) ? 0.3 : 0.1,
      latencyMs: isOneByOne ? 25 : ([5, draw.whole(20, 60)] as const),
      pageBytes: 1500,
    },
    changing: isOneByOne ? 0.9 : family === 'changing' ? 0.6 : 0,
    isShared,
    visitedPages: family === 'foreign' ? 20 : 0,
  } as const
  return { ...plan, faults: faultsOf(family, draw, plan) }
}

interface Surroundings {
  readonly mode: WorldPlan['mode']
  readonly workers: number
  readonly concurrency: number
}

function faultsOf(family: Family, draw: Draw, plan: Surroundings): Fault[] {
  if (family === 'calm') return []
  if (plan.concurrency === 1) return [fullWhileNew(draw)]
  if (family === 'mixed')
    return Array.from({ length: draw.whole(2, 4) }, () => oneOf(draw.of(MIXABLE), draw, plan))
  if (family === 'changing')
    return Array.from({ length: draw.whole(1, 2) }, () => oneOf(draw.of(LOSING), draw, plan))
  if (family === 'foreign') return visits(draw, plan)
  if (family === 'stormy') return storm(draw, plan)
  if (family === 'hail') return hail(draw)
  if (family === 'shared') return draw.chance(0.5) ? [] : [oneOf(draw.of(MIXABLE), draw, plan)]
  const isShort = family === 'replies' || family === 'refusing'
  return Array.from({ length: isShort ? draw.whole(2, 6) : draw.whole(1, 2) }, () =>
    oneOf(family, draw, plan),
  )
}

/** Early, while most links are new, and for longer than links wait for room, on a busy machine, too. */
function fullWhileNew(draw: Draw): Fault {
  const at = { name: 'redis/ask', nth: draw.whole(2, 15) }
  return { at, kind: 'full', role: 'queue', ms: draw.whole(MS(14_000), MS(24_000)) }
}

/** Early enough that the crawl goes on when the other one has ended; in some something else strikes meanwhile. */
function visits(draw: Draw, plan: Surroundings): Fault[] {
  const coming = spread(draw, draw.whole(1, 3), 50).map(
    (nth): Fault => ({ at: { name: 'redis/ask', nth }, kind: 'visit', flushes: draw.chance(0.5) }),
  )
  return draw.chance(0.5) ? coming : [...coming, oneOf(draw.of(MIXABLE), draw, plan)]
}

/** What takes workers and what takes time away from Redis, one after the other. */
function storm(draw: Draw, plan: Surroundings): Fault[] {
  const points = spread(draw, 4, 70)
  const kinds = draw.shuffled(['kill', 'set-back', 'replica', 'replies'] as const)
  return kinds.map((kind, n) => ({ ...oneOf(kind, draw, plan), at: { name: 'redis/ask', nth: points[n]! } }))
}

/** All of Redis is away for longer than a lock, again and again; nothing of it is lost. */
function hail(draw: Draw): Fault[] {
  return spread(draw, draw.whole(2, 3), 70).map((nth) => ({
    at: { name: 'redis/ask', nth },
    kind: 'restart redis',
    role: 'all',
    downMs: draw.whole(MS(7000), MS(15_000)),
  }))
}

/** So many points, in order: each in a part of its own. */
function spread(draw: Draw, count: number, until: number): number[] {
  const part = Math.floor(until / count)
  return Array.from({ length: count }, (_, n) => n * part + draw.whole(2, part))
}

const LOSING = ['kill', 'pause', 'set-back', 'restart', 'full'] as const
const MIXABLE = ['kill', 'pause', 'replies', 'set-back', 'replica', 'full', 'jump', 'restart'] as const

/** An older state is as much older as a Redis that writes to disk every second may lose. */
function oneOf(family: Family, draw: Draw, plan: Surroundings): Fault {
  const at = pointOf(draw, plan)
  switch (family) {
    case 'kill':
      return { at, kind: 'kill', when: draw.of(['before', 'after']), backInMs: draw.whole(0, MS(8000)) }
    case 'pause':
      return { at, kind: draw.of(['pause', 'silence']), ms: draw.whole(MS(2000), MS(20_000)) }
    case 'set-back':
      return draw.chance(0.15)
        ? { at, kind: 'restart redis', role: draw.of(ROLES), downMs: draw.whole(0, MS(5000)) }
        : { at, kind: 'set back', role: draw.of(ROLES), byMs: draw.whole(MS(300), MS(1000)) }
    case 'replica':
      return { at, kind: 'promote replica', role: draw.of(ROLES), lagMs: draw.whole(MS(300), MS(1000)) }
    case 'full':
      return {
        at,
        kind: 'full',
        role: draw.chance(0.8) ? 'queue' : 'filter',
        ms: draw.whole(MS(2000), MS(15_000)),
      }
    case 'refusing': {
      // A worker that begins just then is refused, after a while.
      const later = { name: 'redis/ask', nth: draw.whole(8, 70) }
      return { at: later, kind: 'refuse', role: draw.of(ROLES), ms: draw.whole(MS(200), MS(5000)) }
    }
    case 'jump':
      return { at, kind: 'jump', ms: draw.of([-3_600_000, -5000, 5000, 3_600_000]) }
    case 'restart':
      return { at, kind: 'restart cluster', downMs: draw.whole(MS(4000), MS(8000)) }
    default:
      return replyFault(at, draw)
  }
}

const ROLES = ['queue', 'queue', 'filter'] as const

function replyFault(at: Point, draw: Draw): Fault {
  const kind = draw.of(['lose replies', 'lose replies', 'hold reply', 'cut before'] as const)
  if (kind === 'hold reply') return { at, kind, ms: draw.whole(10, MS(3000)) }
  return kind === 'lose replies' ? { at, kind, times: draw.whole(1, 3) } : { at, kind }
}

/** Commands, and how often a small crawl sends them at least, for each mode. */
const POINTS: Readonly<Record<WorldPlan['mode'], Readonly<Record<string, number>>>> = {
  turns: {
    'buckets/exchange': 60,
    'redis/ask': 80,
    'buckets/begin': 2,
    'buckets/renew': 6,
    'buckets/sweep': 3,
    'buckets/push': 2,
    'bullmq moveToActive': 2,
    'bullmq addPrioritizedJob': 1,
    'members/beat': 4,
    'crawl/start-moved': 1,
  },
  job: {
    'jobs/commit': 60,
    'redis/ask': 80,
    'jobs/renew': 6,
    'jobs/push': 2,
    'bullmq moveToActive': 40,
    'members/beat': 4,
  },
}

/** Half of the points are in the busiest two. */
function pointOf(draw: Draw, { mode }: Surroundings): Point {
  const all = POINTS[mode]
  const names = Object.keys(all)
  const name = draw.chance(0.5) ? draw.of(names.filter((one) => all[one]! >= 60)) : draw.of(names)
  return { name, nth: draw.whole(1, all[name]!) }
}

class Draw {
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
  }

  chance(part: number): boolean {
    return this.#random() < part
  }

  whole(least: number, most: number): number {
    return least + Math.floor(this.#random() * (most - least + 1))
  }

  of<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)]!
  }

  shuffled<T>(list: readonly T[]): T[] {
    return list
      .map((one) => ({ one, at: this.#random() }))
      .sort((a, b) => a.at - b.at)
      .map(({ one }) => one)
  }
}
