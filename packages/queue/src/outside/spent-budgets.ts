/** What a crawl on Redis has spent of its budgets, for whoever looks at it from outside. Reads what `budgets/spend.lua` writes. */

import {
  type BudgetKind,
  type BudgetLimits,
  type BudgetPlan,
  type BudgetWindow,
  type Spent,
  spentKind,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'

/** A host at its limit. */
export interface HostSpent {
  readonly host: string
  readonly spent: Spent
  /** What of its budget is spent. */
  readonly kind: BudgetKind
}

/** One window of a crawl's budgets as it stands. */
export interface WindowSpent {
  readonly window: BudgetWindow
  /** Of all hosts together; null for `host` and `hostDay`, where each has its own. */
  readonly spent: Spent | null
  /** What of it is spent; null: requests may leave. */
  readonly kind: BudgetKind | null
  /** Those at their limit that were found; always empty for `crawl` and `day`. */
  readonly hosts: readonly HostSpent[]
  /** There are more, or there may be. */
  readonly hasMoreHosts: boolean
}

/** Hosts that are named. */
const HOSTS_MAX = 20
/** Hosts whose spending is looked at: a crawl may have met millions, and a look must not keep its Redis busy. */
const HOSTS_READ_MAX = 10_000
const FIELDS_PER_HOST = 4

/** @param day that it is in the budgets' time zone: `2026-11-27` */
export async function readSpentBudgets(
  redis: Redis,
  { record, budgets }: Pick<CrawlRedisKeys, 'record' | 'budgets'>,
  limits: BudgetLimits,
  { day, nowMs }: { readonly day: string; readonly nowMs: number },
): Promise<WindowSpent[]> {
  const ofDay = `${budgets}:day:${day}`
  const minute = Math.floor(nowMs / 60_000)
  // What an earlier run has spent is there until the next one spends.
  const isOfRun = await isOfThisRun(redis, record, `${budgets}:run`)
  const ofRun = isOfRun ? `${budgets}:run` : undefined
  const places: Readonly<Record<BudgetWindow, string | undefined>> = {
    crawl: ofRun,
    host: ofRun,
    day: ofDay,
    hostDay: ofDay,
  }
  const windows = Object.entries(limits) as [BudgetWindow, NonNullable<BudgetLimits[BudgetWindow]>][]
  return Promise.all(
    windows.map(async ([window, limit]) => {
      const kindOf = (spent: Spent) => spentKind(limit, spent, minute)
      const place = places[window]
      if (window === 'host' || window === 'hostDay')
        return { window, spent: null, kind: null, ...(await hostsAtLimit(redis, place, kindOf)) }
      const spent = spentIn(place === undefined ? {} : await fieldsOfAll(redis, place), '')
      return { window, spent, kind: kindOf(spent) ?? null, hosts: [], hasMoreHosts: false }
    }),
  )
}

/**
 * Forgets what was spent on a day, of one host or of all: so much may be spent once more. What a run has spent stays.
 *
 * @returns how many requests had left; undefined: nothing was spent
 */
export async function renewDay(
  redis: Redis,
  { budgets }: Pick<CrawlRedisKeys, 'budgets'>,
  { day, host }: { readonly day: string; readonly host?: string | undefined },
): Promise<number | undefined> {
  const place = `${budgets}:day:${day}`
  const of = host === undefined ? '' : ` ${host}`
  // In one step: what leaves between the two would be forgotten uncounted, and of two that renew at once both would count the same.
  const step = redis.multi().hget(place, `pages${of}`)
  if (host === undefined) step.unlink(place)
  else step.hdel(place, ...NAMES.map((name) => `${name}${of}`))
  const [[failure, pages], [other, forgotten]] = (await step.exec()) as [
    [Error | null, string | null],
    [Error | null, number],
  ]
  if (failure ?? other) throw failure ?? other
  return forgotten === 0 ? undefined : Number(pages ?? 0)
}

/** Resolves to the last day of which the crawl has spent, by its own clock; undefined before it has spent anything. */
export async function lastDaySpent(
  redis: Redis,
  { budgets }: Pick<CrawlRedisKeys, 'budgets'>,
): Promise<string | undefined> {
  return (await redis.hget(`${budgets}:run`, 'day')) ?? undefined
}

/** Resolves to the budgets that workers of the present run were given, by whichever setting; undefined before they have asked. */
export async function notedBudgets(
  redis: Redis,
  { record, budgets }: Pick<CrawlRedisKeys, 'record' | 'budgets'>,
): Promise<BudgetPlan | undefined> {
  if (!(await isOfThisRun(redis, record, `${budgets}:run`))) return undefined
  const text = await redis.hget(`${budgets}:run`, 'plan')
  return text === null ? undefined : (JSON.parse(text) as BudgetPlan)
}

async function isOfThisRun(redis: Redis, record: string, place: string): Promise<boolean> {
  const [run, resumed] = await redis.hmget(record, 'run', 'resumed')
  return (await redis.hget(place, 'run')) === `${run ?? ''} ${resumed ?? '0'}`
}

async function fieldsOfAll(redis: Redis, place: string): Promise<Record<string, string | null>> {
  const values = await redis.hmget(place, ...NAMES)
  return Object.fromEntries(NAMES.map((name, n) => [name, values[n] ?? null]))
}

async function hostsAtLimit(
  redis: Redis,
  place: string | undefined,
  kindOf: (spent: Spent) => BudgetKind | undefined,
): Promise<Pick<WindowSpent, 'hosts' | 'hasMoreHosts'>> {
  if (place === undefined) return { hosts: [], hasMoreHosts: false }
  const { fields, isAll } = await someFields(redis, place)
  const names = new Set(
    [...fields.keys()].filter((field) => field.includes(' ')).map((field) => field.slice(field.indexOf(' '))),
  )
  const read = Object.fromEntries(fields)
  const found = [...names].flatMap((name) => {
    const spent = spentIn(read, name)
    const kind = kindOf(spent)
    return kind ? [{ host: name.slice(1), spent, kind }] : []
  })
  const hosts = found.toSorted((a, b) => b.spent.pages - a.spent.pages || (a.host < b.host ? -1 : 1))
  return { hosts: hosts.slice(0, HOSTS_MAX), hasMoreHosts: !isAll || hosts.length > HOSTS_MAX }
}

/** A part of a large hash: of a host whose fields stand apart, some may be missing, and it is then not at its limit. */
async function someFields(redis: Redis, place: string) {
  const fields = new Map<string, string>()
  let cursor = '0'
  do {
    const [next, pairs] = await redis.hscan(place, cursor, 'COUNT', 1000)
    for (let n = 0; n < pairs.length; n += 2) fields.set(pairs[n]!, pairs[n + 1]!)
    cursor = next
  } while (cursor !== '0' && fields.size < HOSTS_READ_MAX * FIELDS_PER_HOST)
  return { fields, isAll: cursor === '0' }
}

const NAMES = ['pages', 'bytes', 'minutes', 'minute'] as const

function spentIn(fields: Readonly<Record<string, string | null>>, of: string): Spent {
  const [pages, bytes, minutes, minute] = NAMES.map((name) => Number(fields[`${name}${of}`] ?? 0))
  return { pages: pages!, bytes: bytes!, minutes: minutes!, minute: minute! }
}
