/** `webloom status`: a crawl on Redis as it is at this moment. */

import {
  type AlertSeen,
  type CrawlStatus,
  type HostLists,
  type ServerSeen,
  type SlotView,
  silentWords,
  slotNamed,
  totalsOf,
  type UnsentSeen,
  unsentWords,
} from '@webloom/core'
import {
  CRAWL_LOST,
  crawlShown,
  isCrawlKnown,
  type RunRecord,
  readHostLists,
  readRun,
  readRuns,
  readSlot,
  readSlots,
  whileRecordAnswers,
} from '@webloom/queue'
import type { SpiderClass } from '@webloom/spider'
import {
  type CrawlFromOutside,
  type OutsideFlags,
  withCrawlFromOutside,
} from '../assembly/crawl-from-outside.ts'
import { paced, readPaces } from '../desk/hosts/paces.ts'
import { readStatus } from '../desk/read-status.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { type BudgetSeen, budgetLines, readBudgets } from '../status/status-budgets.ts'
import { hostLines, hostListLines } from '../status/status-hosts.ts'
import { byteSize, counted, duration, durationInWords, grouped, row } from '../terminal/figures.ts'
import { commandName } from '../terminal/resume-line.ts'
import { visible, visibleJson } from '../terminal/sanitize.ts'

export interface StatusFlags extends OutsideFlags {
  /** The one host that is shown; default: those that are paused, or have most waiting. */
  readonly host?: string
}

interface Status extends CrawlStatus {
  /** False: nobody has begun a crawl of that name here. */
  readonly known: boolean
  /** The last run, where no crawl is there because Redis has lost it; null otherwise. */
  readonly lostRun:
    | (Pick<RunRecord, 'begunAt' | 'endedAt' | 'pages' | 'items'> & {
        /** The line that shows all runs, to be typed. */
        readonly more: string
      })
    | null
  /** What is spent of each of BUDGETS. */
  readonly budgets: readonly BudgetSeen[]
  /** What monitors have found in the run, in order. */
  readonly alerts: readonly AlertSeen[]
  /** Of whom it is known that messages about that did not reach them. */
  readonly unsent: readonly UnsentSeen[]
  readonly hosts: readonly SlotView[]
  /** What stands out among the hosts, as the workers that are present have told within the last ten seconds or so. */
  readonly hostLists: HostLists
  /** The host that was asked for; null: none was. */
  readonly host: string | null
}

/** Hosts shown: the paused ones, then those with the longest lines. */
const HOSTS_MAX = 20

const NOT_KNOWN =
  '    nobody has begun it here; a misspelt name, and another CRAWL_ID or REDIS_URL than the workers have, look like this, too'

/** Prints state, queue, workers, totals, budgets, hosts, what stands out among them, and servers. */
export async function status(Class: SpiderClass, flags: StatusFlags, config: LoadedConfig): Promise<void> {
  // What stands out is shown with the port, and slots are named without.
  const host = flags.host === undefined ? null : (slotNamed(flags.host) ?? flags.host)
  const seen = await withCrawlFromOutside(Class, flags, config, (crawl) =>
    whileRecordAnswers(crawl, () => statusOf(crawl, host)),
  )
  if (flags.json) console.log(visibleJson(JSON.stringify(seen)))
  else for (const line of statusLines(seen, Date.now())) console.log(visible(line))
}

async function statusOf(crawl: CrawlFromOutside, host: string | null): Promise<Status> {
  const seen = await readStatus(crawl)
  const hosts = seen.mode === 'turns' ? await hostsOf(crawl, host) : []
  const present = seen.workers.filter(({ lost }) => !lost).map(({ id }) => id)
  const hostLists = await readHostLists(crawl.redis, crawl.keys, present)
  const run = seen.run === null ? undefined : await readRun(crawl.redis, crawl.keys, seen.run)
  const { alerts = [], unsent = [] } = run ?? {}
  const lostRun = seen.state === 'idle' ? await lostRunOf(crawl) : null
  const known = seen.state !== 'idle' || (await isCrawlKnown(crawl.redis, crawl.keys))
  return {
    ...seen,
    known,
    lostRun,
    budgets: await readBudgets(crawl),
    alerts,
    unsent,
    hosts,
    hostLists,
    host,
  }
}

async function lostRunOf({ redis, keys, typed }: CrawlFromOutside): Promise<Status['lostRun']> {
  const [run] = await readRuns(redis, keys)
  if (run?.finishReason !== CRAWL_LOST) return null
  const { begunAt, endedAt, pages, items } = run
  const more = `${commandName()} runs ${typed}`
  return { begunAt, pages, items, more, ...(endedAt && { endedAt }) }
}

async function hostsOf(crawl: CrawlFromOutside, host: string | null): Promise<SlotView[]> {
  const { redis, keys } = crawl
  const read =
    host === null ? readSlots(redis, keys, HOSTS_MAX) : readSlot(redis, keys, host).then((slot) => [slot])
  const [slots, paces] = await Promise.all([read, readPaces(crawl)])
  return slots.map((slot) => paced(slot, paces))
}

/** The text form, line by line. */
export function statusLines(seen: Status, now: number): string[] {
  const { crawl, state, paused, flushing, begunAt, endedAt, finishReason } = seen
  const since = begunAt ? `, begun ${begunAt}` : ''
  const ended = endedAt ? `, ended ${endedAt}${finishReason ? ` (${finishReason})` : ''}` : ''
  return [
    `${crawlShown({ queueName: crawl })}   ${state}${paused ? ', paused' : ''}${flushing ? ', being emptied' : ''}${since}${ended}`,
    ...(seen.known ? [] : [NOT_KNOWN]),
    ...lostLines(seen),
    ...queueLines(seen),
    ...limitLines(seen),
    ...workerLines(seen, now),
    ...totalLines(seen),
    ...alertLines(seen),
    ...budgetLines(seen),
    ...seedLines(seen),
    ...hostLines(seen),
    ...hostListLines(seen),
    ...seen.servers.flatMap(serverLines),
  ]
}

function lostLines({ lostRun }: Status): string[] {
  if (lostRun === null) return []
  const words = `begun ${lostRun.begunAt.toISOString()}, lost with its Redis (crawl_lost) after ${counted(lostRun.pages, 'page')}`
  return [row('last run', `${words}. All runs:  ${lostRun.more}`)]
}

function queueLines({ counts, shards, silentShards, start, state }: Status): string[] {
  const { waiting, delayed, leased, quarantined } = counts
  return [
    row(
      'queue',
      `waiting ${grouped(waiting)} · delayed ${grouped(delayed)} · leased ${grouped(leased)} · quarantined ${grouped(quarantined)}${shards > 1 ? ` · in ${grouped(shards)} shards` : ''}`,
    ),
    ...silentShards.map(
      (one) => `    ! ${silentWords([one])}: what it holds is missing here. webloom doctor  says more`,
    ),
    ...(state === 'running' && !start.ended
      ? [row('start()', `${grouped(start.cursor)} elements so far, run by ${start.worker ?? 'nobody'}`)]
      : []),
  ]
}

function limitLines({ state, limit, timeLeft }: Status): string[] {
  if (state !== 'running') return []
  return [row('limit', limit.words), row('time left', timeLeft.words)]
}

function workerLines({ workers, pagesPerMinute, itemsPerMinute, state }: Status, now: number): string[] {
  const lost = workers.filter((worker) => worker.lost).length
  const present = workers.length - lost
  if (workers.length === 0) return state === 'running' ? [row('workers', 'none is present')] : []
  return [
    row(
      'workers',
      `${present} present${lost > 0 ? `, ${lost} lost` : ''} · ${grouped(pagesPerMinute)} pages/min · ${grouped(itemsPerMinute)} items/min`,
    ),
    ...workers.map((worker) =>
      worker.lost
        ? `    ${worker.id}   lost, last seen ${durationInWords((now - Date.parse(worker.seenAt)) / 1000)} ago`
        : `    ${worker.id}   ${worker.blocked ? 'blocked by a callback · ' : ''}downloading ${worker.downloading} · scraping ${worker.scraping}${worker.suspects > 0 ? ` · ${grouped(worker.suspects)} to fetch alone` : ''} · ${grouped(worker.pagesPerMinute)} pages/min · for ${duration(now - Date.parse(worker.startedAt))}`,
    ),
  ]
}

function totalLines({ done, stats, statsLack }: Status): string[] {
  const count = (key: string) => grouped(Number(stats[key] ?? 0))
  if (Object.keys(stats).length === 0 && !done) return []
  const exact = done === null ? '' : `done ${grouped(done)} · `
  const givenUp = Number(stats['failed/count'] ?? 0) > 0 ? ` · given up ${count('failed/count')}` : ''
  return [
    row(
      'totals',
      `${exact}pages ${count('response_received_count')} · items ${count('item_scraped_count')} · errors ${grouped(totalsOf(stats).errors)} · filtered ${count('dupefilter/filtered')} · retries ${count('retry/count')}${givenUp}`,
    ),
    ...(statsLack
      ? [
          `    a worker was lost: these may lack what it had counted since its last heartbeat${done === null ? '' : ', but for what is done'}`,
        ]
      : []),
  ]
}

function alertLines({ alerts, unsent }: Status): string[] {
  if (alerts.length + unsent.length === 0) return []
  const standing = alerts.filter(({ resolvedAt }) => resolvedAt === undefined).length
  const over = alerts.length > standing ? `, and ${grouped(alerts.length - standing)} that are over` : ''
  return [
    row(
      'alerts',
      `${counted(standing, 'alert')} of monitors${over}. What they found:  ${commandName()} runs`,
    ),
    ...unsent.map((one) => `    ! not told: ${unsentWords(one)}`),
  ]
}

function seedLines({ seeds, itemsQueued }: Status): string[] {
  return [
    ...(seeds
      ? [
          row(
            'seeds',
            `waiting ${grouped(seeds.waiting)} · in work ${grouped(seeds.inWork)} · invalid ${grouped(seeds.invalid)}`,
          ),
        ]
      : []),
    ...(itemsQueued === null ? [] : [row('items', `queued ${grouped(itemsQueued)}`)]),
  ]
}

function serverLines({
  roles,
  shown,
  version,
  usedBytes,
  maxBytes,
  persistence,
  warnings,
}: ServerSeen): string[] {
  const share =
    maxBytes > 0 ? ` of ${byteSize(maxBytes)} (${Math.round((100 * usedBytes) / maxBytes)} %)` : ''
  if (version === '') return [row('redis', `${shown}   ${roles.join(', ')} · ${warnings.join(' · ')}`)]
  return [
    row(
      'redis',
      `${shown}   ${roles.join(', ')} · ${byteSize(usedBytes)}${share} · ${persistence} · ${version}`,
    ),
    ...warnings.map((warning) => `    ${warning}`),
  ]
}
