/** How a crawl stands: what it does now and did before, what holds it up, and how long it still takes. */

import { type CrawlDesk, type CrawlStatus, type HistorySample, silentWords, totalsOf } from '@webloom/core'
import type { Query, Region } from '../live/region.ts'
import type { WatchedDesk } from '../live/watched-desk.ts'
import { Sparkline, StackedBar } from '../parts/drawn.tsx'
import { Opened, Order } from '../parts/order.tsx'
import { crawlPath } from '../parts/page.tsx'
import { Card, Figure, Figures, StatePill, type Tone, When } from '../parts/values.tsx'
import { counted, durationOf, grouped, perSecond } from '../text/figures.ts'
import { shown } from '../text/shown.ts'
import type { CrawlView, Looker } from './crawl-view.ts'

/** What the curves show at first. */
export const CHART_MINUTES = 60

export const overview: CrawlView = { path: 'overview', title: 'Overview', regions }

async function regions(watched: WatchedDesk, _: Query, { control }: Looker): Promise<readonly Region[]> {
  const [status, samples] = await Promise.all([watched.status(), watched.history(CHART_MINUTES)])
  const isSteered = control && status.state === 'running'
  return [
    ...(isSteered
      ? [{ id: 'steer', isWide: true, node: <Steer desk={watched.desk} status={status} /> }]
      : []),
    { id: 'now', isWide: true, node: <Now status={status} samples={samples} /> },
    { id: 'limit', node: <Limit status={status} /> },
    { id: 'queue', node: <Queue status={status} /> },
    { id: 'rates', isWide: true, isStill: true, node: <Rates id={watched.desk.id} samples={samples} /> },
    { id: 'totals', isWide: true, node: <Totals status={status} /> },
  ]
}

function Steer({ desk, status: { paused } }: { desk: CrawlDesk; status: CrawlStatus }) {
  const { id } = desk
  const back = 'overview'
  return (
    <section class="steer" aria-label="Steer the crawl">
      {paused
        ? desk.resume && (
            <Order id={id} verb="resume" back={back}>
              <button type="submit">Go on</button>
            </Order>
          )
        : desk.pause && (
            <Order id={id} verb="pause" back={back}>
              <button type="submit" class="plain">
                Pause
              </button>
            </Order>
          )}
      {desk.stop && (
        <Opened id="stop" words="Stop…">
          <Order id={id} verb="stop" back={back}>
            <label for="reason">The reason, for the list of runs</label>
            <input id="reason" name="reason" maxlength={200} placeholder="stopped" autocomplete="off" />
            <button type="submit" class="grave">
              Stop the crawl
            </button>
          </Order>
        </Opened>
      )}
    </section>
  )
}

function Now({ status, samples }: { status: CrawlStatus; samples: readonly HistorySample[] }) {
  const { pagesPerMinute, itemsPerMinute, errorsPerMinute, workers } = status
  const of = (rate: (sample: HistorySample) => number) => samples.slice(-120).map(rate)
  const lost = workers.filter((worker) => worker.lost).length
  // The script adds it to the curves.
  const point = [Date.parse(status.readAt), pagesPerMinute, itemsPerMinute, errorsPerMinute].join(' ')
  return (
    <div class="now" data-point={point}>
      <p class="state-line">
        <StatePill state={status.state} paused={status.paused} />
        <span>{sinceWords(status)}</span>
      </p>
      <Figures>
        <Figure name="Pages" value={perSecond(pagesPerMinute)} unit="a second">
          <Sparkline
            values={of((sample) => sample.pagesPerMinute)}
            label="Pages a second, the last 20 minutes"
          />
        </Figure>
        <Figure name="Items" value={perSecond(itemsPerMinute)} unit="a second">
          <Sparkline
            values={of((sample) => sample.itemsPerMinute)}
            label="Items a second, the last 20 minutes"
          />
        </Figure>
        <Figure
          name="Errors"
          value={perSecond(errorsPerMinute)}
          unit="a second"
          {...(errorsPerMinute > 0 && { tone: 'bad' as const })}
        >
          <Sparkline
            values={of((sample) => sample.errorsPerMinute)}
            label="Errors a second, the last 20 minutes"
          />
        </Figure>
        <Figure
          name="Workers"
          value={grouped(workers.length - lost)}
          unit="present"
          {...(lost > 0 && { tone: 'bad' as const, note: `${grouped(lost)} lost` })}
        />
      </Figures>
    </div>
  )
}

function sinceWords({ begunAt, endedAt, readAt, finishReason, state }: CrawlStatus) {
  if (begunAt === null) return 'no run is known yet'
  const until = endedAt ?? readAt
  const time = durationOf(Math.max(0, Date.parse(until) - Date.parse(begunAt)))
  return (
    <>
      {endedAt === null ? 'for ' : 'took '}
      <b>{time}</b>, begun <When at={begunAt} />
      {endedAt !== null && finishReason !== null && finishReason !== state && (
        <> · {shown(finishReason, 80)}</>
      )}
    </>
  )
}

const LIMIT_TONES: { readonly [Kind in CrawlStatus['limit']['kind']]: Tone } = {
  ended: 'calm',
  paused: 'warn',
  'no workers': 'bad',
  joining: 'warn',
  'redis memory': 'bad',
  workers: 'busy',
  memory: 'bad',
  suspects: 'warn',
  hosts: 'busy',
  'nothing left': 'calm',
  none: 'good',
}

const LIMIT_TITLES: { readonly [Kind in CrawlStatus['limit']['kind']]: string } = {
  ended: 'Nothing to do',
  paused: 'Paused',
  'no workers': 'No workers',
  joining: 'No worker takes part yet',
  'redis memory': 'Redis is full',
  workers: 'Workers',
  memory: 'Memory',
  suspects: 'Requests fetched alone',
  hosts: 'The hosts’ pace',
  'nothing left': 'Nearly done',
  none: 'Nothing',
}

function Limit({ status: { limit, timeLeft, state } }: { status: CrawlStatus }) {
  return (
    <Card title="What limits it now">
      <p class={`lead tone-${LIMIT_TONES[limit.kind]}`}>{LIMIT_TITLES[limit.kind]}</p>
      <p>{shown(limit.words, 400)}</p>
      {state === 'running' && (
        <dl class="pairs">
          <dt>Time left</dt>
          <dd>{shown(timeLeft.words, 300)}</dd>
        </dl>
      )}
    </Card>
  )
}

function Queue({
  status: { counts, start, state, seeds, itemsQueued, silentShards },
}: {
  status: CrawlStatus
}) {
  const { waiting, delayed, leased, quarantined } = counts
  const parts = [
    { name: 'waiting', value: waiting, shown: grouped(waiting) },
    { name: 'held for later', value: delayed, shown: grouped(delayed) },
    { name: 'in flight', value: leased, shown: grouped(leased) },
    { name: 'quarantined', value: quarantined, shown: grouped(quarantined) },
  ]
  return (
    <Card title="Queue" aside={counted(waiting + delayed + leased, 'request')}>
      <StackedBar parts={parts} label="Requests by state" />
      <dl class="pairs">
        {state === 'running' && (
          <>
            <dt>start()</dt>
            <dd>{start.ended ? 'has ended' : `goes on, ${counted(start.cursor, 'element')} so far`}</dd>
          </>
        )}
        {seeds && (
          <>
            <dt>Start URLs</dt>
            <dd>
              {grouped(seeds.waiting)} waiting, {grouped(seeds.inWork)} in work, {grouped(seeds.invalid)}{' '}
              invalid
            </dd>
          </>
        )}
        {itemsQueued !== null && (
          <>
            <dt>Items on Redis</dt>
            <dd>{grouped(itemsQueued)}</dd>
          </>
        )}
      </dl>
      {silentShards.length > 0 && (
        <p class="warning">{shown(silentWords(silentShards), 400)}. What it holds is missing here.</p>
      )}
    </Card>
  )
}

function Rates({ id, samples }: { id: string; samples: readonly HistorySample[] }) {
  return (
    <Card title="Over time" aside="a second, the last hour">
      <figure class="chart" data-chart={`${crawlPath(id)}/samples.json?minutes=${CHART_MINUTES}`}>
        <Sparkline
          values={samples.map(({ pagesPerMinute }) => pagesPerMinute)}
          height={180}
          label="Pages a second, the last hour"
        />
        {samples.length < 2 && (
          <p class="nothing">A crawl on Redis keeps a sample every ten seconds. There are none yet.</p>
        )}
      </figure>
    </Card>
  )
}

function Totals({ status: { done, stats, statsLack } }: { status: CrawlStatus }) {
  const { pages, items, errors, filtered, retries } = totalsOf(stats)
  return (
    <Card title="Since the run began">
      <Figures>
        {done !== null && <Figure name="Done" value={grouped(done)} note="requests, given up ones too" />}
        <Figure name="Pages" value={grouped(pages)} />
        <Figure name="Items" value={grouped(items)} />
        <Figure name="Errors" value={grouped(errors)} {...(errors > 0 && { tone: 'bad' as const })} />
        <Figure name="Seen before" value={grouped(filtered)} />
        <Figure name="Retries" value={grouped(retries)} />
      </Figures>
      {statsLack && (
        <p class="warning">
          A worker was lost. What it had counted since its last heartbeat, three seconds at most, may be
          missing here
          {done !== null && ', but for what is done: that is counted on Redis'}.
        </p>
      )}
    </Card>
  )
}
