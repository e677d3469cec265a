/** One host by its exact name. It is found by its hash, however many there are. */

import { type OneHostSeen, type SlotView, slotNamed, slotTyped } from '@webloom/core'
import type { Query, Region } from '../live/region.ts'
import type { WatchedDesk } from '../live/watched-desk.ts'
import { Order } from '../parts/order.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Card, Figure, Figures, Nothing, Pill, type Tone, WebLink } from '../parts/values.tsx'
import { ago, counted, durationOf, grouped } from '../text/figures.ts'
import { shown } from '../text/shown.ts'
import type { CrawlView, Looker } from './crawl-view.ts'
import { FindHost } from './hosts.tsx'

export const oneHost: CrawlView = { path: 'host', title: 'Host', regions }

/** The longest that a slot may be called. */
const NAME_CHARS_MAX = 256

async function regions(
  { desk }: WatchedDesk,
  { name = '' }: Query,
  { control }: Looker,
): Promise<readonly Region[]> {
  const find: Region = {
    id: 'find',
    isStill: true,
    isWide: true,
    node: <FindHost id={desk.id} name={name} />,
  }
  const host = slotNamed(name.slice(0, NAME_CHARS_MAX).toWellFormed())
  if (host === undefined) return [find]
  const seen = await desk.host(host)
  return [
    find,
    { id: 'host', isWide: true, node: <Host seen={seen} /> },
    ...(control && desk.setHost
      ? [{ id: 'steer', isWide: true, node: <Steer id={desk.id} seen={seen} /> }]
      : []),
    { id: 'host-pace', node: <Pace seen={seen} /> },
    { id: 'host-answers', node: <Answers seen={seen} /> },
    { id: 'host-news', isWide: true, node: <News seen={seen} /> },
    { id: 'host-sample', isWide: true, node: <Sample seen={seen} /> },
  ]
}

const STATES: { readonly [State in SlotView['state']]: readonly [Tone, string] } = {
  none: ['calm', 'nothing waits'],
  ready: ['good', 'ready'],
  later: ['busy', 'waits for its delay'],
  held: ['good', 'held by a worker'],
  hot: ['good', 'hot'],
}

function Host({ seen: { host, slot } }: { seen: OneHostSeen }) {
  if (!slot)
    return (
      <Card title={shown(host, 100)}>
        <Nothing>Each worker keeps its own pace (QUEUE_MODE=job), so there are no lines of hosts.</Nothing>
      </Card>
    )
  const [tone, word] = slot.pausedMs > 0 ? (['warn', 'paused'] as const) : STATES[slot.state]
  return (
    <div class="now">
      <p class="state-line">
        <b class="host-name">{shown(host, 100)}</b> <Pill tone={tone}>{word}</Pill>
        <span>
          {slot.lanes > 0 && `${counted(slot.lanes, 'lane')} · `}with {holdersOf(slot)}
        </span>
      </p>
      <Figures>
        <Figure name="Waiting" value={grouped(slot.waiting)} />
        <Figure name="Held for later" value={grouped(slot.delayed)} />
        <Figure name="In flight" value={grouped(slot.leased)} />
        <Figure
          name="Failures"
          value={grouped(slot.failures)}
          unit="in a row"
          {...(slot.failures > 0 && { tone: 'bad' as const })}
        />
      </Figures>
    </div>
  )
}

/** What is told of this host holds for all workers, until it is taken back or the run ends. */
function Steer({ id, seen: { host, slot, isBoosted } }: { id: string; seen: OneHostSeen }) {
  const name = slotTyped(host)
  const to = { id, verb: 'set_host', back: `host?name=${encodeURIComponent(name.toWellFormed())}` }
  return (
    <section class="card host-orders" aria-label="Steer this host">
      <div class="steer">
        <Order {...to} fields={{ name }}>
          <NumberInput
            id="delay"
            name="delaySeconds"
            words="Seconds between two requests"
            min={0}
            max={86_400}
          />
          <button type="submit" class="plain">
            Set the delay
          </button>
        </Order>
        <Order {...to} fields={{ name, delayMs: 'none' }}>
          <button type="submit" class="plain">
            As the crawl has it
          </button>
        </Order>
      </div>
      <div class="steer">
        <Order {...to} fields={{ name }}>
          <NumberInput
            id="pause"
            name="pauseMinutes"
            words="Minutes without a request"
            min={1}
            max={43_200}
          />
          <button type="submit" class="plain">
            Pause
          </button>
        </Order>
        {(slot?.pausedMs ?? 0) > 0 && (
          <Order {...to} fields={{ name, pauseMs: 'none' }}>
            <button type="submit">Go on</button>
          </Order>
        )}
      </div>
      <div class="steer">
        <Order {...to} fields={{ name, boost: String(!isBoosted) }}>
          <span class="label">Its turn {isBoosted ? 'comes before others' : 'comes as that of others'}</span>
          <button type="submit" class="plain">
            {isBoosted ? 'No longer before others' : 'Before others'}
          </button>
        </Order>
      </div>
    </section>
  )
}

interface NumberInputProps {
  readonly id: string
  readonly name: string
  readonly words: string
  readonly min: number
  readonly max: number
}

function NumberInput({ id, name, words, min, max }: NumberInputProps) {
  return (
    <>
      <label for={id}>{words}</label>
      <input id={id} name={name} type="number" min={min} max={max} step="any" inputmode="decimal" required />
    </>
  )
}

function holdersOf({ holders }: SlotView): string {
  if (holders.length === 0) return 'no worker'
  return (
    shown(holders.slice(0, 4).join(', '), 160) + (holders.length > 4 ? ` and ${holders.length - 4} more` : '')
  )
}

function Pace({ seen: { slot, delayFrom } }: { seen: OneHostSeen }) {
  if (!slot) return null
  return (
    <Card title="Pace">
      <dl class="pairs">
        <dt>Delay</dt>
        <dd>{slot.delayMs > 0 ? durationOf(slot.delayMs) : 'none'}</dd>
        <dt>It comes from</dt>
        <dd>{delayFrom === null ? '–' : shown(delayFrom, 160)}</dd>
        <dt>Next request</dt>
        <dd>{slot.nextInMs > 0 ? `in ${durationOf(slot.nextInMs)}` : 'may go now'}</dd>
        <dt>Pause</dt>
        <dd>
          {slot.pausedMs > 0
            ? `${durationOf(slot.pausedMs)} more${slot.pauseReason ? `: ${shown(slot.pauseReason, 160)}` : ''}`
            : 'none'}
        </dd>
      </dl>
    </Card>
  )
}

/** Kinds that are shown; a server may make up statuses. */
const KINDS_SHOWN = 13

function Answers({ seen: { statuses, errors, countedSince, readAt } }: { seen: OneHostSeen }) {
  const kinds = Object.entries(statuses ?? {}).sort(([, a], [, b]) => b - a)
  return (
    <Card title="Answers" aside={countedSince && `counted since ${ago(countedSince, readAt)}`}>
      {kinds.length === 0 ? (
        <Nothing>No worker that is present remembers an answer of this host.</Nothing>
      ) : (
        <dl class="pairs">
          {kinds.slice(0, KINDS_SHOWN).map(([kind, count]) => (
            <>
              <dt>{shown(kind, 40)}</dt>
              <dd>{grouped(count)}</dd>
            </>
          ))}
        </dl>
      )}
      {errors.length > 0 && (
        <>
          <h3>Last errors</h3>
          <ul class="plain">
            {errors.slice(0, 10).map(({ reason, atMs }) => (
              <li>
                {shown(reason, 160)} ({ago(new Date(atMs).toISOString(), readAt)})
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  )
}

function News({ seen: { lists, readAt } }: { seen: OneHostSeen }) {
  const at = (ms: number) => ago(new Date(ms).toISOString(), readAt)
  const news = [
    ...lists.failing.map(
      (one) => `${counted(one.failures, 'failure')} in a row: ${one.reason} (${at(one.seenAtMs)})`,
    ),
    ...lists.givenUp.map((one) => `given up ${at(one.sinceMs)}: ${one.reason}`),
    ...lists.slowest.map((one) => `answers in ${durationOf(one.latencyMs)} (${at(one.seenAtMs)})`),
    ...lists.unanswered.map(
      (one) => `no answer to ${counted(one.requests, 'request')}, the first sent ${at(one.sinceMs)}`,
    ),
    ...lists.recovered.map((one) => `well again since ${at(one.seenAtMs)}`),
  ]
  return (
    <Card title="What workers report">
      {news.length === 0 ? (
        <Nothing>Nothing stands out: the host answers quickly and well, or was not asked lately.</Nothing>
      ) : (
        <ul class="plain">
          {news.slice(0, 10).map((text) => (
            <li>{shown(text, 240)}</li>
          ))}
        </ul>
      )}
    </Card>
  )
}

const SAMPLE: readonly Column<{ readonly url: string; readonly priority: number }>[] = [
  { name: 'Address', cell: ({ url }) => <WebLink url={url} /> },
  { name: 'Priority', isNumber: true, cell: ({ priority }) => grouped(priority) },
]

/** Of a crawl of one process without Redis. */
const NOT_LISTED = 'Not known: waiting requests are listed only for crawls on Redis (REDIS_URL).'

function Sample({ seen: { slot, sample } }: { seen: OneHostSeen }) {
  return (
    <Card title="What waits" aside={sample && sample.length > 0 && `the first ${sample.length}`}>
      {sample && sample.length > 0 ? (
        <Table caption="What waits for this host" columns={SAMPLE} rows={sample} />
      ) : (
        <Nothing>
          {sample
            ? 'Nothing waits in its line.'
            : slot
              ? NOT_LISTED
              : 'Not known: there are no lines of hosts.'}
        </Nothing>
      )}
    </Card>
  )
}
