/** What the crawl passed over, and why. */

import { type SkipSeen, skipsOf } from '@webloom/core'
import type { Region } from '../live/region.ts'
import type { WatchedDesk } from '../live/watched-desk.ts'
import { Meter } from '../parts/drawn.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Card, Nothing } from '../parts/values.tsx'
import { grouped, percent } from '../text/figures.ts'
import { shown } from '../text/shown.ts'
import type { CrawlView } from './crawl-view.ts'

export const skips: CrawlView = { path: 'skips', title: 'Skips', regions }

/** Kinds of one reason that are named; a site may make up statuses. */
const PARTS_MAX = 12

async function regions(watched: WatchedDesk): Promise<readonly Region[]> {
  const { stats } = await watched.status()
  const all = skipsOf(stats).sort((a, b) => b.count - a.count)
  return [{ id: 'skips', isWide: true, node: <Skips all={all} /> }]
}

function Skips({ all }: { all: readonly SkipSeen[] }) {
  const whole = all.reduce((sum, { count }) => sum + count, 0)
  const columns: readonly Column<SkipSeen>[] = [
    {
      name: 'Reason',
      cell: ({ reason, words }) => (
        <>
          <b>{reason}</b>
          <small>{words}</small>
        </>
      ),
    },
    { name: 'Skipped', isNumber: true, cell: ({ count }) => grouped(count) },
    {
      name: 'Share',
      isExtra: true,
      cell: ({ count, reason }) =>
        count > 0 && (
          <span class="share">
            <Meter share={count / whole} label={`${reason}: ${percent(count / whole, 1)}`} />
            {shareWords(count / whole)}
          </span>
        ),
    },
    {
      name: 'Of which',
      cell: ({ stats }) =>
        stats.length > 0 && (
          <ul class="chips">
            {stats.slice(0, PARTS_MAX).map(({ stat, count }) => (
              <li>
                <code>{shown(stat, 60)}</code> {grouped(count)}
              </li>
            ))}
          </ul>
        ),
    },
  ]
  return (
    <Card title="What was skipped" aside="since the run began, all workers">
      {whole === 0 && <Nothing>Nothing yet.</Nothing>}
      <Table caption="What was skipped, by reason" columns={columns} rows={all} />
    </Card>
  )
}

/** Of all that was passed over. */
function shareWords(share: number): string {
  return share < 0.001 ? '< 0.1 %' : percent(share, 1)
}
