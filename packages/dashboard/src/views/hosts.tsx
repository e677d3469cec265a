/** What stands out among the hosts. Nothing here grows with how many a crawl knows. */

import { type HostLists, type HostsSeen, slotTyped, UNANSWERED_FROM_MS } from '@webloom/core'
import type { Child } from 'hono/jsx'
import type { Query, Region } from '../live/region.ts'
import type { WatchedDesk } from '../live/watched-desk.ts'
import { crawlPath } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Card, Figure, Figures, Nothing } from '../parts/values.tsx'
import { ago, counted, durationOf, grouped } from '../text/figures.ts'
import { shown } from '../text/shown.ts'
import type { CrawlView } from './crawl-view.ts'

export const hosts: CrawlView = { path: 'hosts', title: 'Hosts', regions }

/** Of each list at first; a link leads to all. */
const FIRST = 10

async function regions(watched: WatchedDesk, query: Query): Promise<readonly Region[]> {
  const [all, { workers }] = await Promise.all([watched.view('hosts'), watched.status()])
  const seen = pausedNow(all!)
  const isTold = workers.some(({ lost }) => !lost)
  const id = watched.desk.id
  const only = LISTS.find(({ name }) => name === query.list)
  const lists = (only ? [only] : LISTS).map(({ name, section }) => ({
    id: `hosts-${name}`,
    isWide: only !== undefined,
    node: section({ seen, id, most: only ? 200 : FIRST, isTold }),
  }))
  return [
    { id: 'find', isStill: true, isWide: true, node: <FindHost id={id} /> },
    {
      id: 'host-totals',
      isWide: true,
      node: seen.totals ? <HostTotals totals={seen.totals} /> : <Nothing>{noTotals(seen)}</Nothing>,
    },
    ...lists,
  ]
}

/** Without pauses that have passed since their worker told of them. */
function pausedNow(seen: HostsSeen): HostsSeen {
  const now = Date.parse(seen.readAt)
  return {
    ...seen,
    lists: { ...seen.lists, paused: seen.lists.paused.filter(({ untilMs }) => untilMs > now) },
  }
}

export function FindHost({ id, name = '' }: { id: string; name?: string }) {
  return (
    <search>
      <form class="find" action={`${crawlPath(id)}/host`} method="get">
        <label for="name">One host, by its exact name</label>
        <input
          id="name"
          name="name"
          value={name}
          maxlength={253}
          placeholder="example.com"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          required
        />
        <button type="submit">Look</button>
      </form>
    </search>
  )
}

function noTotals({ mode }: HostsSeen): string {
  return mode === 'job'
    ? 'How many hosts wait is not known with QUEUE_MODE=job: its queue has no lines of hosts.'
    : 'Hosts with waiting requests are counted only in crawls on Redis (REDIS_URL). These hosts of this process stand out.'
}

function HostTotals({ totals }: { totals: NonNullable<HostsSeen['totals']> }) {
  const { withLine, ready, later, held, hot, paused } = totals
  return (
    <Figures>
      <Figure name="With requests" value={grouped(withLine)} unit={withLine === 1 ? 'host' : 'hosts'} />
      <Figure name="Ready" value={grouped(ready)} note="may be asked now" />
      <Figure name="Later" value={grouped(later)} note="a delay or pause runs" />
      <Figure name="Held" value={grouped(held)} note="with a worker" />
      <Figure name="Hot" value={grouped(hot)} note="apart from the others, for one worker or several" />
      <Figure name="Paused" value={grouped(paused)} {...(paused > 0 && { tone: 'warn' as const })} />
    </Figures>
  )
}

interface ListProps {
  readonly seen: HostsSeen
  readonly id: string
  readonly most: number
  /** False: no worker is present, and what stands out is what those that are present tell. */
  readonly isTold: boolean
}

interface ListOfHosts {
  readonly name: keyof HostLists
  readonly section: (props: ListProps) => Child
}

interface Listing<Name extends keyof HostLists> {
  readonly name: Name
  readonly title: string
  /** Stands there when the list is empty. */
  readonly none: string
  /** What is wrong with it: stands below its name, as it may be long. */
  readonly why?: (entry: HostLists[Name][number]) => string
  readonly columns: (seen: HostsSeen) => readonly Column<HostLists[Name][number]>[]
}

function listed<Name extends keyof HostLists>({
  name,
  title,
  none,
  why,
  columns,
}: Listing<Name>): ListOfHosts {
  type Entry = HostLists[Name][number]
  return {
    name,
    section({ seen, id, most, isTold }) {
      const entries: readonly Entry[] = seen.lists[name]
      const host: Column<Entry> = {
        name: 'Host',
        cell: (entry) => (
          <>
            <HostLink id={id} host={'slot' in entry ? slotTyped(entry.slot) : entry.host} />
            {why && <small>{shown(why(entry), 120)}</small>}
          </>
        ),
      }
      return (
        <Card title={title} aside={entries.length > 0 && countWords(entries.length)}>
          {entries.length === 0 ? (
            <Nothing>{isTold ? none : 'Not known: no worker is present, and only workers can tell.'}</Nothing>
          ) : (
            <Table caption={title} columns={[host, ...columns(seen)]} rows={entries.slice(0, most)} />
          )}
          {entries.length > most && (
            <p class="more">
              <a href={`${crawlPath(id)}/hosts?list=${name}`}>All {grouped(entries.length)}</a>
            </p>
          )}
        </Card>
      )
    },
  }
}

/** As many as a list has at the most, or more. */
const LIST_MAX = 200

function countWords(count: number): string {
  return count >= LIST_MAX ? `${LIST_MAX} or more` : counted(count, 'host')
}

export function HostLink({ id, host }: { id: string; host: string }) {
  return (
    <a class="host-link" href={`${crawlPath(id)}/host?name=${encodeURIComponent(host.toWellFormed())}`}>
      {shown(host, 80)}
    </a>
  )
}

const at = (ms: number) => new Date(ms).toISOString()

const LISTS: readonly ListOfHosts[] = [
  listed({
    name: 'mostQueued',
    title: 'Most queued',
    none: 'No worker has a host with waiting requests.',
    columns: () => [{ name: 'Waiting', isNumber: true, cell: ({ waiting }) => grouped(waiting) }],
  }),
  listed({
    name: 'failing',
    title: 'Failing',
    none: 'Every host has answered its last request.',
    why: ({ reason }) => reason,
    columns: ({ readAt }) => [
      { name: 'In a row', isNumber: true, cell: ({ failures }) => grouped(failures) },
      { name: 'Seen', isNumber: true, cell: ({ seenAtMs }) => ago(at(seenAtMs), readAt) },
    ],
  }),
  listed({
    name: 'slowest',
    title: 'Slowest',
    none: 'Every host answers within half a second.',
    columns: ({ readAt }) => [
      { name: 'Answers in', isNumber: true, cell: ({ latencyMs }) => durationOf(latencyMs) },
      { name: 'Seen', isNumber: true, cell: ({ seenAtMs }) => ago(at(seenAtMs), readAt) },
    ],
  }),
  listed({
    name: 'unanswered',
    title: 'No answer',
    none: `No request has waited for ${durationOf(UNANSWERED_FROM_MS)} or longer.`,
    columns: ({ readAt }) => [
      { name: 'Requests', isNumber: true, cell: ({ requests }) => grouped(requests) },
      { name: 'Sent', isNumber: true, cell: ({ sinceMs }) => ago(at(sinceMs), readAt) },
    ],
  }),
  listed({
    name: 'paused',
    title: 'Paused',
    none: 'No host is paused.',
    why: ({ reason }) => reason,
    columns: ({ readAt }) => [
      {
        name: 'For',
        isNumber: true,
        cell: ({ untilMs }) => durationOf(Math.max(0, untilMs - Date.parse(readAt))),
      },
    ],
  }),
  listed({
    name: 'givenUp',
    title: 'Given up',
    none: 'No host was given up.',
    why: ({ reason }) => reason,
    columns: ({ readAt }) => [
      { name: 'Since', isNumber: true, cell: ({ sinceMs }) => ago(at(sinceMs), readAt) },
    ],
  }),
  listed({
    name: 'recovered',
    title: 'Well again',
    none: 'No host that failed has recovered yet.',
    columns: ({ readAt }) => [
      { name: 'Since', isNumber: true, cell: ({ seenAtMs }) => ago(at(seenAtMs), readAt) },
    ],
  }),
]
