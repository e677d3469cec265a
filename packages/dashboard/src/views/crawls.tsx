/** All crawls, those that run first. */

import type { CrawlSummary } from '@webloom/core'
import type { Child } from 'hono/jsx'
import type { Region } from '../live/region.ts'
import type { WatchedDesks } from '../live/watched-desk.ts'
import { crawlPath } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Figure, Figures, Nothing, StatePill, When } from '../parts/values.tsx'
import { counted, grouped, perSecond } from '../text/figures.ts'
import { shown } from '../text/shown.ts'

export async function crawlsRegions(watched: WatchedDesks): Promise<readonly Region[]> {
  const crawls = await watched.crawls()
  return [
    { id: 'sums', isWide: true, node: <Sums crawls={crawls} /> },
    { id: 'crawls', isWide: true, node: <Crawls crawls={crawls} /> },
  ]
}

function Sums({ crawls }: { crawls: readonly CrawlSummary[] }) {
  const sum = (of: (crawl: CrawlSummary) => number) => crawls.reduce((all, crawl) => all + of(crawl), 0)
  const lost = sum(({ workers }) => workers.lost)
  return (
    <Figures>
      <Figure
        name="Running"
        value={grouped(sum(({ state }) => (state === 'running' ? 1 : 0)))}
        unit={`of ${counted(crawls.filter(isCrawl).length, 'crawl')}`}
      />
      <Figure name="Pages" value={perSecond(sum(({ pagesPerMinute }) => pagesPerMinute))} unit="a second" />
      <Figure name="Items" value={perSecond(sum(({ itemsPerMinute }) => itemsPerMinute))} unit="a second" />
      <Figure
        name="Workers"
        value={grouped(sum(({ workers }) => workers.present))}
        {...(lost > 0 && { note: `${grouped(lost)} lost`, tone: 'bad' as const })}
      />
    </Figures>
  )
}

function Crawls({ crawls }: { crawls: readonly CrawlSummary[] }) {
  if (crawls.length === 0)
    return <Nothing>No crawl is known here yet. Start one: webloom worker &lt;spider&gt;</Nothing>
  return (
    <section class="card">
      <Table caption="All crawls" columns={COLUMNS} rows={crawls} />
    </section>
  )
}

/** Else a server that does not answer, in the place of crawls that are not known yet. */
function isCrawl({ spider }: CrawlSummary): boolean {
  return spider !== ''
}

/** Of a crawl whose Redis does not answer none is known. */
function figure(name: string, of: (crawl: CrawlSummary) => Child): Column<CrawlSummary> {
  return { name, isNumber: true, cell: (crawl) => (crawl.state === null ? '–' : of(crawl)) }
}

const COLUMNS: readonly Column<CrawlSummary>[] = [
  {
    name: 'Crawl',
    cell: (crawl) => {
      const { id, spider, crawlId, server } = crawl
      if (!isCrawl(crawl)) return <b>{shown(server, 60)}</b>
      return (
        <a class="row-link" href={`${crawlPath(id)}/overview`}>
          <b>{shown(spider, 60)}</b>
          {crawlId !== null && <span class="id">{shown(crawlId, 40)}</span>}
          <small>{shown(server, 60)}</small>
        </a>
      )
    },
  },
  {
    name: 'State',
    cell: ({ state, paused, finishReason, trouble }) => (
      <>
        <StatePill state={state} paused={paused} />
        {trouble !== undefined && <small class="bad">{shown(trouble, 140)}</small>}
        {state === 'stopped' && finishReason !== null && <small>{shown(finishReason, 60)}</small>}
      </>
    ),
  },
  figure('Pages/s', ({ pagesPerMinute }) => perSecond(pagesPerMinute)),
  figure('Waiting', ({ counts }) => grouped(counts.waiting + counts.delayed)),
  figure('Pages', ({ totals }) => grouped(totals.pages)),
  figure('Items', ({ totals }) => grouped(totals.items)),
  figure('Errors', ({ totals }) => (
    <span class={totals.errors > 0 ? 'bad' : undefined}>{grouped(totals.errors)}</span>
  )),
  figure('Workers', ({ workers }) => (
    <>
      {grouped(workers.present)}
      {workers.lost > 0 && <small class="bad">{grouped(workers.lost)} lost</small>}
    </>
  )),
  { name: 'Begun', isExtra: true, cell: ({ begunAt }) => <When at={begunAt} /> },
]
