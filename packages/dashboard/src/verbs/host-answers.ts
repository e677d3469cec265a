/** Hosts of a crawl, as schemas. */

import type { HostError, HostLists, HostsSeen, HostTotals, OneHostSeen, SlotView } from '@webloom/core'
import { count, listOf, moment, number, object, oneOf, orNull, recordOf, text, truth } from './schema.ts'

type Entry<Name extends keyof HostLists> = HostLists[Name][number]

const WHEN_MS = number('milliseconds since 1970')

const HOST_ERROR = object<HostError>({ reason: text(), atMs: WHEN_MS })

const LISTS = object<HostLists>({
  mostQueued: listOf(object<Entry<'mostQueued'>>({ slot: text(), waiting: count() })),
  failing: listOf(
    object<Entry<'failing'>>({
      host: text(),
      failures: count('in a row'),
      reason: text(),
      seenAtMs: WHEN_MS,
    }),
  ),
  slowest: listOf(object<Entry<'slowest'>>({ host: text(), latencyMs: number(), seenAtMs: WHEN_MS })),
  unanswered: listOf(object<Entry<'unanswered'>>({ host: text(), requests: count(), sinceMs: WHEN_MS })),
  paused: listOf(object<Entry<'paused'>>({ host: text(), untilMs: WHEN_MS, reason: text() })),
  givenUp: listOf(
    object<Entry<'givenUp'>>({ host: text(), reason: text(), sinceMs: WHEN_MS, seenAtMs: WHEN_MS }),
  ),
  recovered: listOf(object<Entry<'recovered'>>({ host: text(), seenAtMs: WHEN_MS })),
  answers: listOf(
    object<Entry<'answers'>>({
      host: text(),
      counts: recordOf(count()),
      errors: listOf(HOST_ERROR),
      sinceMs: WHEN_MS,
      seenAtMs: WHEN_MS,
    }),
  ),
})

const TOTALS = object<HostTotals>({
  withLine: count('something waits for them'),
  ready: count(),
  later: count('a delay or pause runs'),
  held: count('a worker has some of its requests'),
  hot: count('apart from the others, for one worker or several'),
  paused: count(),
})

export const HOSTS = object<HostsSeen>(
  { mode: oneOf(['turns', 'job'], 'QUEUE_MODE'), lists: LISTS, totals: TOTALS, readAt: moment() },
  ['totals'],
)

const SLOT = object<SlotView>(
  {
    slot: text(),
    waiting: count(),
    delayed: count(),
    leased: count(),
    delayMs: number(),
    failures: count('in a row'),
    nextInMs: number('until it may be asked; 0: now'),
    pausedMs: number('until its pause is over; 0: it is not paused'),
    pauseReason: text(),
    state: oneOf(['none', 'ready', 'later', 'held', 'hot'] satisfies SlotView['state'][]),
    lanes: count(),
    holders: listOf(text('the id of a worker')),
  },
  ['pauseReason'],
)

export const ONE_HOST = object<OneHostSeen>({
  host: text(),
  slot: orNull(SLOT),
  delayFrom: orNull(text()),
  isBoosted: truth('its requests go before those of others, by an order for this host'),
  lists: LISTS,
  sample: orNull(listOf(object<{ url: string; priority: number }>({ url: text(), priority: number() }))),
  statuses: orNull(recordOf(count())),
  errors: listOf(HOST_ERROR),
  countedSince: orNull(moment()),
  readAt: moment(),
})
