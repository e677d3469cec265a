/** Settings as they stand, and who set each. */

import type { SettingSeen } from '@webloom/core'
import type { Query, Region } from '../live/region.ts'
import type { WatchedDesk } from '../live/watched-desk.ts'
import { crawlPath } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Card, Nothing } from '../parts/values.tsx'
import { counted } from '../text/figures.ts'
import { shown } from '../text/shown.ts'
import type { CrawlView } from './crawl-view.ts'

export const settings: CrawlView = { path: 'settings', title: 'Settings', regions }

async function regions(watched: WatchedDesk, query: Query): Promise<readonly Region[]> {
  const seen = await watched.view('settings')
  if (!seen || seen.length === 0)
    return [
      { id: 'settings', isWide: true, node: <Nothing>No worker has reported its settings yet.</Nothing> },
    ]
  const isAll = query.all === '1'
  const set = seen.filter(({ source }) => source !== 'default')
  const path = `${crawlPath(watched.desk.id)}/settings`
  return [
    {
      id: 'settings',
      isWide: true,
      isStill: true,
      node: (
        <Card
          title={isAll ? 'All settings' : 'Settings that were set'}
          aside={
            isAll ? (
              <a href={path}>only what was set</a>
            ) : (
              <a href={`${path}?all=1`}>all {counted(seen.length, 'setting')}</a>
            )
          }
        >
          {set.length === 0 && !isAll ? (
            <Nothing>Every setting has its default.</Nothing>
          ) : (
            <Table caption="Settings" columns={COLUMNS} rows={isAll ? seen : set} />
          )}
        </Card>
      ),
    },
  ]
}

const COLUMNS: readonly Column<SettingSeen>[] = [
  {
    name: 'Setting',
    cell: ({ name, summary }) => (
      <>
        <code>{shown(name, 80)}</code>
        <small>{codeIn(shown(summary, 400))}</small>
      </>
    ),
  },
  { name: 'Value', cell: ({ value }) => <code class="value">{shown(value, 300)}</code> },
  { name: 'Set by', cell: ({ source }) => shown(source, 40) },
]

/** What stands between backticks is code. */
function codeIn(text: string) {
  return text.split('`').map((part, n) => (n % 2 === 0 ? part : <code>{part}</code>))
}
