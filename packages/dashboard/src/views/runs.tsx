/** The crawl's last runs, each beside the one before: a spider that brings less than it did is seen here first. */

import { type AlertSeen, countOf, fieldsOfRuns, type RunSeen, unsentWords } from '@webloom/core'
import type { Region } from '../live/region.ts'
import type { WatchedDesk } from '../live/watched-desk.ts'
import { Meter } from '../parts/drawn.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Card, Name, Nothing, Pill, type Tone, When } from '../parts/values.tsx'
import { byteSize, counted, durationOf, grouped, percent } from '../text/figures.ts'
import { shown } from '../text/shown.ts'
import type { CrawlView } from './crawl-view.ts'

export const runs: CrawlView = { path: 'runs', title: 'Runs', regions }

const NOT_KEPT = 'Not known: this crawl keeps none.'
const FIELDS_MAX = 100
const STATUSES_MAX = 6
const ALERTS_MAX = 50
/** A field that so many of a hundred items less have than before. */
const FALLEN = 0.1

interface RunRow {
  readonly run: RunSeen
  readonly before: RunSeen | undefined
}

async function regions(watched: WatchedDesk): Promise<readonly Region[]> {
  const seen = await watched.view('runs')
  if (!seen || seen.length === 0)
    return [
      {
        id: 'runs',
        isWide: true,
        node: <Nothing>{seen ? 'No run is known yet: each crawl leaves one.' : NOT_KEPT}</Nothing>,
      },
    ]
  const rows = seen.map((run, n) => ({ run, before: seen[n + 1] }))
  return [
    {
      id: 'runs',
      isWide: true,
      node: (
        <Card title="Runs" aside={`${counted(seen.length, 'run')}, the latest first`}>
          <Table caption="Runs" columns={COLUMNS} rows={rows} />
        </Card>
      ),
    },
    { id: 'run-alerts', isWide: true, node: <Alerts runs={seen} /> },
    { id: 'run-fields', isWide: true, node: <Fields runs={seen} /> },
  ]
}

const TONES: { readonly [State in RunSeen['state']]: Tone } = {
  running: 'good',
  finished: 'calm',
  stopped: 'warn',
  lost: 'bad',
}

const COLUMNS: readonly Column<RunRow>[] = [
  { name: 'Begun', cell: ({ run }) => <When at={run.begunAt} /> },
  {
    name: 'End',
    cell: ({ run: { state, finishReason, alerts = [] } }) => (
      <>
        <Pill tone={TONES[state]}>{shown(finishReason ?? state, 40)}</Pill>
        {alerts.length > 0 && ' '}
        {alerts.length > 0 && <Pill tone="bad">{counted(alerts.length, 'alert')}</Pill>}
      </>
    ),
  },
  {
    name: 'Took',
    isNumber: true,
    cell: ({ run }) =>
      run.endedAt === undefined ? '–' : durationOf(Date.parse(run.endedAt) - Date.parse(run.begunAt)),
  },
  counts('Pages', ({ pages }) => pages),
  counts('Items', ({ items }) => items),
  counts('Errors', ({ errors }) => errors),
  counts('Given up', ({ givenUp }) => givenUp),
  { name: 'Bytes', isNumber: true, isExtra: true, cell: ({ run }) => byteSize(run.bytes) },
  {
    name: 'Statuses',
    isExtra: true,
    cell: ({ run }) => (
      <ul class="chips whole">
        {Object.entries(run.statuses)
          .sort(([, a], [, b]) => b - a)
          .slice(0, STATUSES_MAX)
          .map(([status, count]) => (
            <li>
              {shown(status, 10)}: {grouped(count)}
            </li>
          ))}
      </ul>
    ),
  },
]

function counts(name: string, of: (run: RunSeen) => number): Column<RunRow> {
  return {
    name,
    isNumber: true,
    cell: ({ run, before }) => (
      <>
        {grouped(of(run))}
        {before && run.state !== 'running' && <small>{changeWords(of(run), of(before))}</small>}
      </>
    ),
  }
}

function changeWords(now: number, before: number): string {
  if (before === 0) return now === 0 ? '±0 %' : 'new'
  const change = (now - before) / before
  if (Math.abs(change) < 0.005) return '±0 %'
  return `${change > 0 ? '+' : '−'}${percent(Math.abs(change))}`
}

interface AlertRow {
  readonly run: RunSeen
  readonly alert: AlertSeen
}

const ALERT_COLUMNS: readonly Column<AlertRow>[] = [
  { name: 'Told', cell: ({ alert }) => <When at={alert.at} /> },
  { name: 'Run begun', isExtra: true, cell: ({ run }) => <When at={run.begunAt} /> },
  { name: 'Monitor', cell: ({ alert }) => <Name text={alert.id} /> },
  {
    name: 'What it found',
    cell: ({ alert }) => (
      <>
        {shown(alert.words, 400)}
        {alert.pages && <small>{alert.pages.map((page) => shown(page, 120)).join(' ')}</small>}
      </>
    ),
  },
]

/** Of the latest run alone: a receiver that takes messages again is no news. */
function Unsent({ unsent = [] }: Pick<RunSeen, 'unsent'>) {
  if (unsent.length === 0) return null
  return (
    <ul class="bad more" aria-label="Not told">
      {unsent.map((one) => (
        <li>Not told: {shown(unsentWords(one), 400)}</li>
      ))}
    </ul>
  )
}

/** What monitors have told of these runs. */
function Alerts({ runs }: { readonly runs: readonly RunSeen[] }) {
  const rows = runs.flatMap((run) => (run.alerts ?? []).map((alert) => ({ run, alert }))).slice(0, ALERTS_MAX)
  return (
    <Card title="What monitors found" aside="of all these runs, the latest first">
      {rows.length === 0 ? (
        <Nothing>Nothing. Which monitors there are is set by the spider’s `monitors`.</Nothing>
      ) : (
        <Table caption="What monitors found" columns={ALERT_COLUMNS} rows={rows} />
      )}
      <Unsent {...runs[0]!} />
    </Card>
  )
}

/**
 * Share of the latest run's items that have each field, and of those of the run before. Fields of earlier runs, too: one that is gone would
 * otherwise vanish with the second run that lacks it.
 */
function Fields({ runs }: { readonly runs: readonly RunSeen[] }) {
  const [run, before] = runs
  const share = (of: RunSeen | undefined, field: string) =>
    of && of.items > 0 ? (countOf(of.fields, field) ?? 0) / of.items : undefined
  const names = fieldsOfRuns(runs).slice(0, FIELDS_MAX).sort()
  const columns: readonly Column<string>[] = [
    { name: 'Field', cell: (field) => <Name text={field} /> },
    {
      name: 'This run',
      cell: (field) => {
        const now = share(run, field) ?? 0
        const isFallen = (share(before, field) ?? 0) - now > FALLEN
        return (
          <span class={isFallen ? 'share bad' : 'share'}>
            <Meter share={now} label={`${shown(field, 80)}: ${percent(now)}`} />
            {percent(now, 1)}
          </span>
        )
      },
    },
    {
      name: 'The run before',
      isNumber: true,
      cell: (field) => {
        const then = share(before, field)
        return then === undefined ? '–' : percent(then, 1)
      },
    },
  ]
  return (
    <Card title="Fields of its items" aside="a falling share is the sign of a changed site">
      {names.length === 0 ? (
        <Nothing>No item has come yet.</Nothing>
      ) : (
        <Table caption="Share of items that have each field" columns={columns} rows={names} />
      )}
    </Card>
  )
}
