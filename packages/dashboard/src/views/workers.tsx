/** The workers of a crawl. */

import type { CrawlStatus, WorkerSeen } from '@webloom/core'
import type { Region } from '../live/region.ts'
import type { WatchedDesk } from '../live/watched-desk.ts'
import { type Column, Table } from '../parts/table.tsx'
import { Card, Figure, Figures, Nothing, Pill } from '../parts/values.tsx'
import { ago, byteSize, durationOf, grouped, perSecond } from '../text/figures.ts'
import { shown } from '../text/shown.ts'
import type { CrawlView } from './crawl-view.ts'

export const workers: CrawlView = { path: 'workers', title: 'Workers', regions }

const SHOWN_MAX = 500

async function regions(watched: WatchedDesk): Promise<readonly Region[]> {
  const status = await watched.status()
  return [
    { id: 'worker-sums', isWide: true, node: <Sums status={status} /> },
    { id: 'workers', isWide: true, node: <Workers status={status} /> },
  ]
}

function Sums({ status: { workers: all } }: { status: CrawlStatus }) {
  const present = all.filter(({ lost }) => !lost)
  const sum = (of: (worker: WorkerSeen) => number) => present.reduce((whole, worker) => whole + of(worker), 0)
  const lost = all.length - present.length
  const blocked = present.filter((worker) => worker.blocked).length
  return (
    <Figures>
      <Figure name="Present" value={grouped(present.length)} />
      <Figure name="Lost" value={grouped(lost)} {...(lost > 0 && { tone: 'bad' as const })} />
      <Figure name="Blocked" value={grouped(blocked)} {...(blocked > 0 && { tone: 'warn' as const })} />
      <Figure name="Memory" value={byteSize(sum(({ rssBytes }) => rssBytes))} />
      <Figure name="Processors" value={grouped(sum(({ cpuCores }) => cpuCores))} unit="in use" />
      <Figure name="Downloading" value={grouped(sum(({ downloading }) => downloading))} />
    </Figures>
  )
}

function Workers({ status: { workers: all, readAt } }: { status: CrawlStatus }) {
  if (all.length === 0) return <Nothing>No worker is present.</Nothing>
  // The lost ones first: they are what somebody must look at.
  const rows = [...all].sort((a, b) => Number(b.lost) - Number(a.lost)).slice(0, SHOWN_MAX)
  return (
    <Card title="Workers" {...(all.length > SHOWN_MAX && { aside: `the first ${SHOWN_MAX}` })}>
      <Table caption="Workers" columns={columnsAt(readAt)} rows={rows} />
    </Card>
  )
}

/** A figure that a worker of an older release does not tell is 0. What a lost one told holds no longer: it is `–`. */
const told = (value: number, shownAs: (value: number) => string) => (value > 0 ? shownAs(value) : '–')

/** What the id does not say already: most often it is made of host and process. */
function originWords({ id, host, pid, release }: WorkerSeen): string {
  return [
    !id.startsWith(`${host}:${pid}:`) && `${shown(host, 60)}, process ${pid}`,
    release !== '' && `version ${shown(release, 30)}`,
  ]
    .filter(Boolean)
    .join(', ')
}

function columnsAt(readAt: string): readonly Column<WorkerSeen>[] {
  const sinceMs = (at: string) => Math.max(0, Date.parse(readAt) - Date.parse(at))
  return [
    {
      name: 'Worker',
      cell: (worker) => (
        <>
          <b>{shown(worker.id, 60)}</b>
          <small>{originWords(worker)}</small>
        </>
      ),
    },
    {
      name: 'State',
      cell: ({ lost, blocked, startedAt, seenAt }) => (
        <>
          {lost ? (
            <Pill tone="bad">lost</Pill>
          ) : blocked ? (
            <Pill tone="warn">blocked</Pill>
          ) : (
            <Pill tone="good">present</Pill>
          )}
          <small>
            {lost
              ? `was up ${durationOf(Math.max(0, Date.parse(seenAt) - Date.parse(startedAt)))}`
              : `up ${durationOf(sinceMs(startedAt))}`}
          </small>
        </>
      ),
    },
    { name: 'Heartbeat', isNumber: true, cell: ({ seenAt }) => ago(seenAt, readAt) },
    {
      name: 'Pages/s',
      isNumber: true,
      cell: ({ lost, pages, pagesPerMinute }) => (
        <>
          {lost ? '–' : perSecond(pagesPerMinute)}
          <small>{grouped(pages)} in all</small>
        </>
      ),
    },
    {
      name: 'In work',
      isNumber: true,
      cell: ({ lost, downloading, scraping, suspects }) =>
        lost ? (
          '–'
        ) : (
          <>
            {grouped(downloading)}
            <small>{grouped(scraping)} in callbacks</small>
            {suspects > 0 && <small>{grouped(suspects)} to fetch alone</small>}
          </>
        ),
    },
    {
      name: 'Hosts held',
      isNumber: true,
      cell: ({ lost, heldHosts, longestMs, longestHost }) => (
        <>
          {lost ? '–' : told(heldHosts, grouped)}
          {!lost && longestMs > 0 && (
            <small>
              {durationOf(longestMs)} of work at {shown(longestHost, 40)}
            </small>
          )}
        </>
      ),
    },
    {
      name: 'Loop lag',
      isNumber: true,
      cell: ({ lost, loopLagMs }) =>
        lost ? '–' : <span class={loopLagMs >= 200 ? 'bad' : undefined}>{durationOf(loopLagMs)}</span>,
    },
    {
      name: 'Memory',
      isNumber: true,
      cell: ({ lost, rssBytes }) => (lost ? '–' : told(rssBytes, byteSize)),
    },
    {
      name: 'CPU',
      isNumber: true,
      cell: ({ lost, cpuCores }) => (lost ? '–' : told(cpuCores, (cores) => grouped(cores, 2))),
    },
  ]
}
