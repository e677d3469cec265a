/** What the crawl yields. */

import type { ItemsSeen } from '@webloom/core'
import type { Region } from '../live/region.ts'
import type { WatchedDesk } from '../live/watched-desk.ts'
import { Meter } from '../parts/drawn.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Card, Figure, Figures, Nothing, When } from '../parts/values.tsx'
import { counted, grouped, percent, perSecond } from '../text/figures.ts'
import { shown, shownLines } from '../text/shown.ts'
import type { CrawlView } from './crawl-view.ts'

export const items: CrawlView = { path: 'items', title: 'Items', regions }

const ITEM_CHARS_MAX = 2000
const FIELDS_MAX = 200

async function regions(watched: WatchedDesk): Promise<readonly Region[]> {
  const [seen, { stats, itemsQueued }] = await Promise.all([watched.view('items'), watched.status()])
  if (!seen) return [{ id: 'items', isWide: true, node: <Nothing>Not known.</Nothing> }]
  const count = (stat: string) => Number(stats[stat] ?? 0)
  return [
    {
      id: 'items',
      isWide: true,
      node: (
        <Figures>
          <Figure name="Items" value={grouped(seen.count)} />
          <Figure name="Rate" value={perSecond(seen.perMinute)} unit="a second" />
          <Figure name="Dropped" value={grouped(count('item_dropped_count'))} />
          <Figure
            name="Lost to errors"
            value={grouped(count('item_error_count'))}
            {...(count('item_error_count') > 0 && { tone: 'bad' as const })}
          />
          {itemsQueued !== null && <Figure name="Waiting on Redis" value={grouped(itemsQueued)} />}
        </Figures>
      ),
    },
    { id: 'fields', node: <Fields seen={seen} /> },
    { id: 'last', node: <Last seen={seen} /> },
  ]
}

type FieldRow = readonly [field: string, count: number]

function Fields({ seen: { fields, count } }: { seen: ItemsSeen }) {
  const rows = Object.entries(fields ?? {}).sort(([, a], [, b]) => b - a)
  const columns: readonly Column<FieldRow>[] = [
    { name: 'Field', cell: ([field]) => <code>{shown(field, 80)}</code> },
    { name: 'Items', isNumber: true, cell: ([, having]) => grouped(having) },
    {
      name: 'Share',
      cell: ([field, having]) => (
        <span class="share">
          <Meter
            share={count > 0 ? having / count : 0}
            label={`${shown(field, 80)} in ${percent(count > 0 ? having / count : 0)}`}
          />
          {percent(count > 0 ? having / count : 0, 1)}
        </span>
      ),
    },
  ]
  return (
    <Card title="Fields" aside={rows.length > 0 && counted(rows.length, 'field')}>
      {rows.length === 0 ? (
        <Nothing>{fields === null ? 'Not known.' : 'No item has come yet.'}</Nothing>
      ) : (
        <Table caption="How many items have each field" columns={columns} rows={rows.slice(0, FIELDS_MAX)} />
      )}
    </Card>
  )
}

function Last({ seen: { last } }: { seen: ItemsSeen }) {
  return (
    <Card title="The last few">
      {last === null || last.length === 0 ? (
        <Nothing>
          {last === null
            ? 'Not known: this view shows items that the pipeline redis writes (REDIS_ITEMS_KEY).'
            : 'None wait there now.'}
        </Nothing>
      ) : (
        <ol class="plain">
          {last.map(({ at, json }) => (
            <li>
              {at !== null && (
                <small>
                  <When at={at} />
                </small>
              )}
              <pre tabindex={0}>{shownLines(laidOut(json), ITEM_CHARS_MAX)}</pre>
            </li>
          ))}
        </ol>
      )}
    </Card>
  )
}

/** A cut item is not JSON any more. */
function laidOut(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}
