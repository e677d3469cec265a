/** Requests that were given up, by what their failures have in common. */

import {
  type CrawlDesk,
  type CrawlStatus,
  type FailureGroup,
  type FailuresSeen,
  failureSignature,
  OTHER_FAILURES,
  type ResponseSnapshot,
} from '@webloom/core'
import type { Query, Region } from '../live/region.ts'
import type { WatchedDesk } from '../live/watched-desk.ts'
import { Opened, Order } from '../parts/order.tsx'
import { crawlPath } from '../parts/page.tsx'
import { Card, Figure, Figures, Nothing, WebLink, When } from '../parts/values.tsx'
import { counted, grouped } from '../text/figures.ts'
import { shown, shownLines } from '../text/shown.ts'
import type { CrawlView, Looker } from './crawl-view.ts'

export const failures: CrawlView = { path: 'failures', title: 'Failures', regions }

const BY_REASON = 'failed/reason_count/'
/** All that there are. */
const REASONS_MAX = 7
const GROUPS_MAX = 50
const EXAMPLES_MAX = 5
const SNAPSHOT_CHARS_MAX = 4000
const HEADERS_MAX = 30
/** A thousand requests in quarantine are read to tell them apart; what is beyond is one group that nobody can name. */
const QUARANTINED_REST = failureSignature('quarantined', OTHER_FAILURES)
const QUARANTINED_REST_WORDS =
  'more requests than are read to be told apart: webloom quarantine list has all of them'

async function regions(
  watched: WatchedDesk,
  { response }: Query,
  { control }: Looker,
): Promise<readonly Region[]> {
  const [status, seen] = await Promise.all([watched.status(), watched.view('failures')])
  const snapshot = response === undefined ? [] : await snapshotRegions(watched, response)
  const reasons = seen ? <KeptByReason seen={seen} /> : <Reasons stats={status.stats} />
  const counts: Region = { id: 'reasons', isWide: true, node: reasons }
  if (!seen)
    return [
      counts,
      {
        id: 'failures',
        isWide: true,
        node: (
          <Card title="By signature">
            <Nothing>Not known: this crawl keeps no ledger of failures.</Nothing>
          </Card>
        ),
      },
    ]
  return [
    counts,
    ...snapshot,
    {
      id: 'failures',
      isWide: true,
      node: (
        <Card title="By signature" aside={keptWords(seen)}>
          {seen.groups.length === 0 && <Nothing>No request was given up.</Nothing>}
          {seen.groups.slice(0, GROUPS_MAX).map((group) => (
            <Group group={group} id={watched.desk.id} desk={control ? watched.desk : undefined} />
          ))}
          {control && watched.desk.retryFailed && seen.groups.length > 0 && (
            <Order id={watched.desk.id} verb="failed_retry" fields={{ all: 'true' }} back="failures">
              <button type="submit" class="plain">
                Queue all {grouped(seen.count)} again
              </button>
            </Order>
          )}
        </Card>
      ),
    },
  ]
}

/** What the ledger has at this moment: exact, as it is written in the step that gives a request up. */
function KeptByReason({ seen: { groups } }: { seen: FailuresSeen }) {
  const kept = new Map<string, number>()
  for (const { reason, count } of groups) kept.set(reason, (kept.get(reason) ?? 0) + count)
  const all = [...kept].reduce((sum, [reason, count]) => sum + (reason === 'quarantined' ? 0 : count), 0)
  const reasons = [...kept].sort(([, a], [, b]) => b - a)
  return (
    <Figures>
      <Figure
        name="Given up"
        value={grouped(all)}
        note="in the ledger"
        {...(all > 0 && { tone: 'bad' as const })}
      />
      {reasons.slice(0, REASONS_MAX).map(([reason, count]) => (
        <Figure name={shown(reason, 40)} value={grouped(count)} />
      ))}
    </Figures>
  )
}

/** How often a request was given up in this run: those that were queued again since are among them. */
function Reasons({ stats }: Pick<CrawlStatus, 'stats'>) {
  const all = Number(stats['failed/count'] ?? 0)
  const reasons = Object.entries(stats)
    .filter(([stat]) => stat.startsWith(BY_REASON))
    .map(([stat, count]) => [stat.slice(BY_REASON.length), Number(count)] as const)
    .sort(([, a], [, b]) => b - a)
  return (
    <Figures>
      <Figure
        name="Given up"
        value={grouped(all)}
        note="in this run"
        {...(all > 0 && { tone: 'bad' as const })}
      />
      {reasons.slice(0, REASONS_MAX).map(([reason, count]) => (
        <Figure name={shown(reason, 40)} value={grouped(count)} />
      ))}
    </Figures>
  )
}

/** As `webloom failed list` counts them. */
function keptWords({ count, trimmed, groups }: FailuresSeen): string {
  const quarantined = groups
    .filter(({ reason }) => reason === 'quarantined')
    .reduce((sum, group) => sum + group.count, 0)
  return [
    `${counted(count - quarantined, 'request')} kept`,
    quarantined > 0 && `${grouped(quarantined)} in quarantine`,
    trimmed > 0 && `${grouped(trimmed)} older ones dropped (FAILED_MAX)`,
  ]
    .filter(Boolean)
    .join(', ')
}

async function snapshotRegions({ desk }: WatchedDesk, signature: string): Promise<readonly Region[]> {
  const found = await desk.failedResponse?.(signature)
  const card = (
    <Card title="The first response" aside={shown(signature, 120)}>
      {found ? <Snapshot snapshot={found} /> : <Nothing>No response was kept.</Nothing>}
    </Card>
  )
  return [{ id: 'response', isWide: true, isStill: true, node: card }]
}

/** @param desk where its requests may be queued again */
function Group({ group, id, desk }: { group: FailureGroup; id: string; desk: CrawlDesk | undefined }) {
  const { signature, reason, message, status, count, total, firstAt, lastAt, examples } = group
  // Of a status nothing else is known: its message is the same. Beside another reason it would read as if it were the cause.
  const head = reason === 'status' && status !== null ? `${reason} ${status}` : reason
  const isRest = signature === QUARANTINED_REST
  return (
    <details class="group" id={`failure-${anchorOf(signature)}`}>
      <summary>
        <span class="count">{grouped(count)}</span>
        <span class="signature">
          <b>{shown(head, 60)}</b> {isRest ? QUARANTINED_REST_WORDS : message !== head && shown(message, 160)}
          {total > count && <small> {grouped(total)} with those that are gone</small>}
        </span>
        <small>
          <When at={firstAt} /> – <When at={lastAt} />
        </small>
      </summary>
      <ul class="plain">
        {examples.slice(0, EXAMPLES_MAX).map(({ url, method, attempts, at }) => (
          <li>
            <code>{shown(method, 10)}</code> <WebLink url={url} /> · {counted(attempts, 'attempt')} ·{' '}
            <When at={at} />
          </li>
        ))}
      </ul>
      <p>
        <code>{shown(signature, 160)}</code> ·{' '}
        <a href={`${crawlPath(id)}/failures?response=${encodeURIComponent(signature.toWellFormed())}`}>
          the first response
        </a>
      </p>
      {desk?.retryFailed && !isRest && (
        <div class="steer">
          <Order id={id} verb="failed_retry" fields={{ signature }} back="failures">
            <button type="submit" class="plain">
              Queue {counted(count, 'request')} again
            </button>
          </Order>
          {desk.dropFailed && (
            <Opened id={`drop-${anchorOf(signature)}`} words="Delete…">
              <Order id={id} verb="failed_drop" fields={{ signature }} back="failures">
                <button type="submit" class="grave">
                  Delete {counted(count, 'request')} from the ledger
                </button>
              </Order>
            </Opened>
          )}
        </div>
      )}
    </details>
  )
}

function Snapshot({ snapshot: { url, status, headers, text, bytes } }: { snapshot: ResponseSnapshot }) {
  const lines = headers
    .slice(0, HEADERS_MAX)
    .map(([name, value]) => `${shown(name, 80)}: ${shown(value, 200)}`)
  return (
    <div class="snapshot">
      <p>
        {status} from <WebLink url={url} />, {grouped(bytes)} bytes
      </p>
      <pre tabindex={0}>{`${lines.join('\n')}\n\n${shownLines(text, SNAPSHOT_CHARS_MAX)}`}</pre>
    </div>
  )
}

/** A signature has an end that is its hash; what stands before that may be anything. */
function anchorOf(signature: string): string {
  return signature.replace(/[^\w]+/g, '-').slice(-80)
}
