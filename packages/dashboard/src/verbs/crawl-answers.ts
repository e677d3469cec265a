/** What a crawl has kept, as schemas: filter, items, settings, failures, samples and runs. */

import type {
  AlertSeen,
  FailedRequest,
  FailureGroup,
  FailuresSeen,
  FilterSeen,
  HistorySample,
  ItemsSeen,
  KnownSeen,
  ResponseSnapshot,
  RunSeen,
  SettingSeen,
  UnsentSeen,
} from '@webloom/core'
import { count, listOf, moment, number, object, oneOf, orNull, recordOf, text, truth } from './schema.ts'

export const FILTER = object<FilterSeen>({
  name: text('DUPEFILTER_CLASS'),
  fingerprinter: text(),
  urlRules: orNull(text()),
  exists: truth('false: nothing was recorded yet'),
  count: count(),
  capacity: orNull(number()),
  fill: orNull(number('share of the bits that are set, 0 to 1')),
  errorNow: orNull(number('share of new requests that it mistakes for seen ones')),
  errorAtCapacity: orNull(number()),
  pagesLost: orNull(number('new pages that were mistaken for seen ones until now, estimated')),
  memoryBytes: orNull(number()),
  warnings: listOf(text()),
})

export const KNOWN = object<KnownSeen>({
  url: text(),
  known: orNull(truth('null: this filter cannot tell without recording')),
  fingerprint: text('hexadecimal'),
})

export const ITEMS = object<ItemsSeen>({
  count: count(),
  perMinute: number(),
  fields: orNull(recordOf(count(), 'how many items have a value there')),
  last: orNull(
    listOf(
      object<NonNullable<ItemsSeen['last']>[number]>({
        at: orNull(moment()),
        json: text('cut when it is long'),
      }),
      'the latest first',
    ),
  ),
})

export const SETTING = object<SettingSeen>({
  name: text(),
  value: text('as messages show it, without secrets'),
  source: text('the place that set it'),
  summary: text(),
})

export const FAILED_REQUEST = object<FailedRequest>({
  id: text(),
  url: text(),
  method: text(),
  reason: text(),
  message: text(),
  status: orNull(count('of the response; null: there was none')),
  attempts: count(),
  worker: text(),
  signature: text('what failures of the same kind have in common'),
  at: moment(),
})

const GROUP = object<FailureGroup>({
  signature: text(),
  reason: text(),
  message: text('the latest one’s'),
  status: orNull(count()),
  count: count('how many the ledger has'),
  total: count('how many there were'),
  firstAt: orNull(moment()),
  lastAt: orNull(moment()),
  examples: listOf(FAILED_REQUEST),
})

export const FAILURES = object<FailuresSeen>({
  count: count(),
  trimmed: count('dropped for newer ones (FAILED_MAX)'),
  groups: listOf(GROUP, 'the largest first'),
})

export const RESPONSE = object<ResponseSnapshot>({
  url: text(),
  status: count(),
  headers: listOf(listOf(text()), 'name and value'),
  text: text('its beginning'),
  bytes: count('of the whole body'),
})

export const SAMPLE = object<HistorySample>({
  atMs: number('milliseconds since 1970'),
  pages: count(),
  items: count(),
  errors: count(),
  waiting: count(),
  delayed: count(),
  leased: count(),
  workers: count(),
  pagesPerMinute: number(),
  itemsPerMinute: number(),
  errorsPerMinute: number(),
})

export const RUN = object<RunSeen>(
  {
    run: text(),
    state: oneOf(['running', 'stopped', 'finished', 'lost'] satisfies RunSeen['state'][]),
    begunAt: moment(),
    endedAt: moment(),
    finishReason: text(),
    requests: count(),
    pages: count(),
    items: count(),
    itemPages: count('with RECRAWL, pages whose items are written'),
    errors: count(),
    criticals: count(),
    warnings: count(),
    givenUp: count('requests that were given up'),
    retries: count(),
    exhausted: count('requests that were given up after all their tries'),
    exceptions: count('downloads without an answer'),
    dropped: count('items that pipelines dropped'),
    invalid: count('those of them that their schema refused'),
    filtered: count(),
    bytes: number(),
    statuses: recordOf(count()),
    fields: recordOf(count()),
    times: recordOf(object<{ seconds: unknown; count: unknown }>({ seconds: number(), count: count() })),
    mayMiss: object<NonNullable<RunSeen['mayMiss']>>({
      before: moment(),
      seconds: number('of what its process did before it was killed: that may not be counted'),
    }),
    alerts: listOf(
      object<AlertSeen>(
        { id: text(), words: text(), at: moment(), resolvedAt: moment(), pages: listOf(text()) },
        ['resolvedAt', 'pages'],
      ),
    ),
    unsent: listOf(
      object<UnsentSeen>({
        channel: text('without secrets'),
        lost: count('messages that it has not taken'),
        waiting: count('messages that are still to be sent to it'),
        reason: text('of the last try that failed'),
        at: moment(),
      }),
    ),
  },
  [
    'endedAt',
    'finishReason',
    'itemPages',
    'criticals',
    'warnings',
    'retries',
    'exhausted',
    'exceptions',
    'dropped',
    'invalid',
    'mayMiss',
    'times',
    'alerts',
    'unsent',
  ],
)
