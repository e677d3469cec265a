/** What stands out among the hosts. Nothing here grows with how many a crawl knows. */

import type { HostLists, HostsSeen } from '@webloom/core'
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
  const seen = (await watched.view('hosts'))!
  const id = watched.desk.id
  const only = LISTS.find(({ name }) => name === query.list)
  const lists = (only ? [only] : LISTS).map(({ name, section }) => ({
    id: `hosts-${name}`,
    isWide: only !== undefined,
    node: section({ seen, id, most: only ? 200 : FIRST }),
  }))
  return [
    { id: 'find', isStill: true, isWide: true, node: <FindHost id={id} /> },
    ...(seen.totals ? [{ id: 'host-totals', isWide: true, node: <HostTotals totals={seen.totals} /> }] : []),
    ...lists,
  ]
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

function HostTotals({ totals }: { totals: NonNullable<HostsSeen['totals']> }) {
  const { withLine, ready, later, held, hot, paused } = totals
  return (
    <Figures>
      <Figure name="With requests" value={grouped(withLine)} unit={withLine === 1 ? 'host' : 'hosts'} />
      <Figure name="Ready" value={grouped(ready)} note="may be asked now" />
      <Figure name="Later" value={grouped(later)} note="a delay or pause runs" />
      <Figure name="Held" value={grouped(held)} note="with a worker" />
      <Figure name="Hot" value={grouped(hot)} note="shared by several workers" />
      <Figure name="Paused" value={grouped(paused)} {...(paused > 0 && { tone: 'warn' as const })} />
    </Figures>
  )
}

interface ListProps {
  readonly seen: HostsSeen
  readonly id: string
  readonly most: number
}

interface ListOfHosts {
  readonly name: keyof HostLists
  readonly section: (props: ListProps) => Child
}

function listed<Entry>(
  name: keyof HostLists,
  title: string,
  none: string,
  entriesOf: (lists: HostLists) => readonly Entry[],
  columnsOf: (seen: HostsSeen) => readonly Column<Entry>[],
  hostOf: (entry: Entry) => string,
): ListOfHosts {
  return {
    name,
    section({ seen, id, most }) {
      const entries = entriesOf(seen.lists)
      const host: Column<Entry> = { name: 'Host', cell: (entry) => <HostLink id={id} host={hostOf(entry)} /> }
      return (
        <Card title={title} aside={entries.length > 0 && countWords(entries.length)}>
          {entries.length === 0 ? (
            <Nothing>{none}</Nothing>
          ) : (
            <Table caption={title} columns={[host, ...columnsOf(seen)]} rows={entries.slice(0, most)} />
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
    <a class="row-link" href={`${crawlPath(id)}/host?name=${encodeURIComponent(host.toWellFormed())}`}>
      {shown(host, 80)}
    </a>
  )
}

const at = (ms: number) => new Date(ms).toISOString()

const LISTS: readonly ListOfHosts[] = [
  listed(
    'mostQueued',
    'Most queued',
    'No worker holds a host of which something waits.',
    (lists) => lists.mostQueued,
    () => [{ name: 'Waiting', isNumber: true, cell: ({ waiting }) => grouped(waiting) }],
    ({ slot }) => slot,
  ),
  listed(
    'failing',
    'Failing',
    'Every host has answered its last request.',
    (lists) => lists.failing,
    ({ readAt }) => [
      { name: 'In a row', isNumber: true, cell: ({ failures }) => grouped(failures) },
      { name: 'Last error', cell: ({ reason }) => shown(reason, 120) },
      { name: 'Seen', isExtra: true, cell: ({ seenAtMs }) => ago(at(seenAtMs), readAt) },
    ],
    ({ host }) => host,
  ),
  listed(
    'slowest',
    'Slowest',
    'Every host answers within half a second.',
    (lists) => lists.slowest,
    ({ readAt }) => [
      { name: 'Answers in', isNumber: true, cell: ({ latencyMs }) => durationOf(latencyMs) },
      { name: 'Seen', isExtra: true, cell: ({ seenAtMs }) => ago(at(seenAtMs), readAt) },
    ],
    ({ host }) => host,
  ),
  listed(
    'paused',
    'Paused',
    'No host is left alone.',
    (lists) => lists.paused,
    ({ readAt }) => [
      {
        name: 'For',
        isNumber: true,
        cell: ({ untilMs }) => durationOf(Math.max(0, untilMs - Date.parse(readAt))),
      },
      { name: 'Why', cell: ({ reason }) => shown(reason, 120) },
    ],
    ({ host }) => host,
  ),
  listed(
    'givenUp',
    'Given up',
    'No host was given up.',
    (lists) => lists.givenUp,
    ({ readAt }) => [
      { name: 'Since', isNumber: true, cell: ({ sinceMs }) => ago(at(sinceMs), readAt) },
      { name: 'Why', cell: ({ reason }) => shown(reason, 120) },
    ],
    ({ host }) => host,
  ),
  listed(
    'recovered',
    'Well again',
    'No host that failed has come back yet.',
    (lists) => lists.recovered,
    ({ readAt }) => [{ name: 'Since', isNumber: true, cell: ({ seenAtMs }) => ago(at(seenAtMs), readAt) }],
    ({ host }) => host,
  ),
]
