/** What Redis still has of crawls that are over, and what their stats say of it. */

import type { WorldServers } from './world-servers.ts'

export interface Remains {
  readonly servers: WorldServers
  readonly spiders: readonly string[]
  readonly isShared: boolean
  /** Spiders whose end, or beginning, is lost with a fault: what is left of these is not judged. */
  readonly cutOff: readonly string[]
  /** A worker stood still, or was cut off, or the machine was too busy for it. */
  readonly wasSilent: boolean
  /** A Redis has begun another run, and may be older. */
  readonly mayHaveGoneBack: boolean
}

/** Resolves to what is wrong. */
export async function remainsOf(remains: Remains): Promise<string[]> {
  return [...(await leftOver(remains)), ...(await toldAgain(remains))]
}

/** What docs/redis-keys.md says stays of a crawl that has finished, beside what expires. */
const STAYS = [
  /:record$/,
  /:stats$/,
  /^webloom:crawls$/,
  /^webloom:\{\w+\}:failures(:|$)/,
  /^webloom:\{\w+\}:(workers|settings|history|runs|cleared|id|meta|marker|events|pc|stalled-check|frontier:counts)$/,
]
/**
 * What a worker that had been silent when the crawl ended was about to tell, or had sent on a connection that nobody reads any more: a
 * turn to BullMQ, a question to the filter. docs/redis-keys.md says so, too.
 */
const LATE = [
  /^webloom:\{\w+\}:([^:]+~\d+~\d+|active|prioritized|stalled)$/,
  /^\w+:dupefilter$/,
  /^\{\w+:dupefilter\}:(pending|owners(:.*)?)$/,
]
/** With SCHEDULER_PERSIST nothing is emptied. */
const PERSISTS = [/dupefilter/, /:start-hosts$/]

async function leftOver({ servers, spiders, isShared, cutOff, wasSilent }: Remains): Promise<string[]> {
  const wrong: string[] = []
  // Who is gone has left his names in the filter, which the others do not empty.
  if (cutOff.length === spiders.length || (cutOff.length > 0 && !isShared)) return wrong
  const stays = isShared ? [...STAYS, ...PERSISTS] : STAYS
  for (const server of servers.current) {
    const left: string[] = []
    for (const key of (await server.command('KEYS', '*')) as string[])
      if (
        ![...stays, ...cutOff.map((spider) => new RegExp(`\\{${spider}\\}`))].some((one) => one.test(key)) &&
        (await server.command('PTTL', key)) === -1
      )
        left.push(key)
    const isLate = (key: string) => wasSilent && LATE.some((one) => one.test(key))
    if (left.some((key) => !isLate(key)))
      wrong.push(
        `left on Redis: ${someOf(left.sort())}; still to be done: ${await todosOf(spiders, servers)}`,
      )
  }
  for (const spider of spiders.filter((one) => !cutOff.includes(one))) {
    const state = await servers.queueOf(spider).command('HGET', `webloom:{${spider}}:record`, 'state')
    if (state !== 'finished') wrong.push(`the record of ${spider} says ${state}`)
    const counts = ['HMGET', `webloom:{${spider}}:frontier:counts`, 'waiting', 'delayed', 'leased'] as const
    const left = ((await servers.queueOf(spider).command(...counts)) as (string | null)[]).map(Number)
    if (left.some((count) => count !== 0)) wrong.push(`the counts of ${spider} say ${left.join(', ')}`)
  }
  return wrong
}

/** What the next worker would do before anything else, as the one that left could not. */
async function todosOf(spiders: readonly string[], servers: WorldServers): Promise<string> {
  const todos = spiders.map((spider) =>
    servers.queueOf(spider).command('HGET', `webloom:{${spider}}:record`, 'todo'),
  )
  return (await Promise.all(todos)).map((todo) => todo ?? 'nothing').join(', ')
}

/**
 * A page that was settled is told once more that its links are new only when the queue's Redis has begun another run: else all of
 * them are queued twice, and so on along the frontier. Small sites hide that, where faults allow most pages twice.
 */
async function toldAgain({ servers, spiders, mayHaveGoneBack }: Remains): Promise<string[]> {
  if (mayHaveGoneBack) return []
  const told = await Promise.all(
    spiders.map((spider) =>
      servers.queueOf(spider).command('HGET', `${spider}:stats`, 'dupefilter/told_again'),
    ),
  )
  const links = told.reduce((sum: number, count) => sum + Number(count ?? 0), 0)
  return links > 0 ? [`no Redis went back, and ${links} links were told to be new again`] : []
}

/** How the crawl of a world that is stuck stands. */
export async function stateOf(servers: WorldServers): Promise<string> {
  try {
    const queue = servers.of('queue')
    const counts = (await queue.command('HGETALL', 'webloom:{pages}:frontier:counts')) as string[]
    const state = await queue.command('HGET', 'webloom:{pages}:record', 'state')
    return `record ${state}, counts ${counts.join(' ')}`
  } catch (error) {
    return (error as Error).message
  }
}

export function someOf(texts: readonly string[]): string {
  return texts.slice(0, 8).join(', ') + (texts.length > 8 ? ', …' : '')
}
