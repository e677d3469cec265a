/** Verbs that change something. They need `--control`. */

import { type FailedFilter, type FailedRetried, type HostChange, slotNamed } from '@webloom/core'
import { FAILED_FILTER, HOST_NAME } from './inputs.ts'
import { Refusal } from './refusal.ts'
import { count, input, object, orNull, truth } from './schema.ts'
import type { VerbOfOne } from './verb.ts'

const REASON_CHARS_MAX = 200
const DELAY_MS_MAX = 24 * 3_600_000
const PAUSE_MS_MAX = 30 * 24 * 3_600_000

interface Paused {
  readonly paused: boolean
}

const PAUSE: VerbOfOne = {
  of: 'one',
  name: 'pause',
  method: 'post',
  path: '/pause',
  summary: 'until resume no worker begins a request',
  description: 'All workers obey within two seconds. What is in flight is finished.',
  input: input<object>({}),
  answer: object<Paused>({ paused: truth() }),
  act: (desk) => desk.pause?.().then((isDone) => told(isDone, 'pause', { paused: true })),
}

const RESUME: VerbOfOne = {
  of: 'one',
  name: 'resume',
  method: 'post',
  path: '/resume',
  summary: 'the crawl goes on after a pause',
  input: input<object>({}),
  answer: object<Paused>({ paused: truth() }),
  act: (desk) => desk.resume?.().then((isDone) => told(isDone, 'resume', { paused: false })),
}

const STOP: VerbOfOne<{ readonly reason?: string }> = {
  of: 'one',
  name: 'stop',
  method: 'post',
  path: '/stop',
  summary: 'every worker finishes what it has in flight and ends',
  description:
    'A worker that is started later goes on with the crawl, unless its workers run with SCHEDULER_PERSIST=false: then the last one empties queue and filter.',
  isFinal: true,
  input: input<{ reason?: string }>(
    {
      reason: { type: 'string', minLength: 1, maxLength: REASON_CHARS_MAX, description: 'the finish reason' },
    },
    ['reason'],
  ),
  answer: object<{ stopped: boolean }>({ stopped: truth() }),
  act: (desk, { reason }) => desk.stop?.(reason).then((isDone) => told(isDone, 'stop', { stopped: true })),
}

interface HostInput extends HostChange {
  readonly name: string
}

const SET_HOST: VerbOfOne<HostInput> = {
  of: 'one',
  name: 'set_host',
  method: 'post',
  path: '/host',
  summary: 'sets the delay, pause or place before others of one host, while the crawl runs',
  description: 'All workers obey within two seconds. Null takes back what was set.',
  input: input<HostInput>(
    {
      name: HOST_NAME,
      delayMs: orNull({
        type: 'integer',
        minimum: 0,
        maximum: DELAY_MS_MAX,
        description: 'milliseconds between two requests',
      }),
      pauseMs: orNull({
        type: 'integer',
        minimum: 0,
        maximum: PAUSE_MS_MAX,
        description: 'for so many milliseconds from now no request to it starts',
      }),
      boost: truth('its requests go before those of others; false takes that back'),
    },
    ['delayMs', 'pauseMs', 'boost'],
  ),
  answer: object<{ host: string }>({ host: HOST_NAME }),
  act(desk, { name, ...change }) {
    if (Object.keys(change).length === 0)
      throw new Refusal(
        400,
        `there is no order for the host ${JSON.stringify(name)}; expected delayMs, pauseMs or boost`,
      )
    const host = slotNamed(name)
    if (host === undefined)
      throw new Refusal(
        400,
        `name is ${JSON.stringify(name)}; expected a host, as quotes.toscrape.com`,
        'name',
      )
    return desk.setHost?.(host, change).then(() => ({ host }))
  },
}

interface FailedMeant extends FailedFilter {
  readonly all?: boolean
}

const FAILED_MEANT = input<FailedMeant>(
  {
    ...FAILED_FILTER,
    all: { type: 'boolean', enum: [true], description: 'every request that was given up' },
  },
  ['ids', 'signature', 'host', 'status', 'reason', 'since', 'until', 'all'],
)

const FAILED_RETRY: VerbOfOne<FailedMeant> = {
  of: 'one',
  name: 'failed_retry',
  method: 'post',
  path: '/failed/retry',
  summary: 'queues requests that were given up again, each once',
  description:
    'Give a filter, whose given parts must all hold, or all: true. A crawl that has finished is opened again.',
  input: FAILED_MEANT,
  answer: object<FailedRetried>({
    queued: count(),
    unreadable: count('of those that are meant, how many stay: too large to be kept, or of another release'),
  }),
  act: (desk, meant) => desk.retryFailed?.(filterOf(meant)),
}

const FAILED_DROP: VerbOfOne<FailedMeant> = {
  of: 'one',
  name: 'failed_drop',
  method: 'post',
  path: '/failed/drop',
  summary: 'deletes requests that were given up from the ledger; they are not crawled',
  description: 'Give a filter, whose given parts must all hold, or all: true.',
  isFinal: true,
  input: FAILED_MEANT,
  answer: object<{ dropped: number }>({ dropped: count() }),
  act: (desk, meant) => desk.dropFailed?.(filterOf(meant)).then((dropped) => ({ dropped })),
}

export const STEERING: readonly VerbOfOne[] = [PAUSE, RESUME, STOP, SET_HOST, FAILED_RETRY, FAILED_DROP]

/** An empty filter means every request: nobody may say that by leaving something out. */
function filterOf({ all, ...filter }: FailedMeant): FailedFilter {
  const { reason, ...others } = filter
  // Requests in quarantine may kill workers: all of them at once are not meant by chance. `webloom failed` has the same rule.
  const isFiltered = Object.keys(others).length > 0 || (reason !== undefined && reason !== 'quarantined')
  if (isFiltered || all) return filter
  throw new Refusal(
    400,
    reason === undefined
      ? `no filter says which requests are meant; expected one of ${Object.keys(FAILED_FILTER).join(', ')}, or all: true`
      : 'reason: quarantined means every request in quarantine; expected all: true beside it, or ids, a signature, host or time',
  )
}

function told<Answer extends object>(isDone: boolean, what: string, answer: Answer): Answer {
  if (isDone) return answer
  throw new Refusal(409, `the crawl is not running, so there is nothing to ${what}`)
}
