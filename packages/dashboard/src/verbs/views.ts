/** Verbs that look and change nothing. */

import { type CrawlDesk, type FailedFilter, skipsOf, slotNamed } from '@webloom/core'
import {
  FAILED_REQUEST,
  FAILURES,
  FILTER,
  ITEMS,
  KNOWN,
  RESPONSE,
  RUN,
  SAMPLE,
  SETTING,
} from './crawl-answers.ts'
import { HOSTS, ONE_HOST } from './host-answers.ts'
import { FAILED_FILTER, HOST_NAME, SIGNATURE } from './inputs.ts'
import { Refusal } from './refusal.ts'
import { input, listOf, object } from './schema.ts'
import { SCALE, SKIP, STATUS, SUMMARY } from './status-answers.ts'
import type { VerbOfAll, VerbOfOne } from './verb.ts'

const NOTHING = input<object>({})
const URL_CHARS_MAX = 8192
const LISTED_BY_DEFAULT = 100
const LISTED_MAX = 1000
const MINUTES_BY_DEFAULT = 60
/** A day of samples is the most that is kept. */
const MINUTES_MAX = 24 * 60

export const CRAWLS: VerbOfAll = {
  of: 'all',
  name: 'crawls',
  method: 'get',
  path: '/crawls',
  summary: 'all crawls and how they stand, those that run first',
  input: NOTHING,
  answer: object<{ crawls: unknown }>({ crawls: listOf(SUMMARY) }),
  act: async (desks) => ({ crawls: await desks.crawls() }),
}

/** A view that takes nothing. */
function view(
  name: string,
  summary: string,
  answer: VerbOfOne['answer'],
  act: (desk: CrawlDesk) => Promise<object> | undefined,
): VerbOfOne {
  return { of: 'one', name, method: 'get', path: `/${name}`, summary, input: NOTHING, answer, act }
}

export const HOST: VerbOfOne<{ readonly name: string }> = {
  of: 'one',
  name: 'host',
  method: 'get',
  path: '/host',
  summary:
    'one host by its exact name: its delay and where that comes from, what waits for it, what it answered',
  input: input<{ name: string }>({ name: HOST_NAME }),
  answer: ONE_HOST,
  act: (desk, { name }) => desk.host(slotNamed(name) ?? name),
}

export const KNOWN_URL: VerbOfOne<{ readonly url: string }> = {
  of: 'one',
  name: 'known',
  method: 'get',
  path: '/known',
  summary: 'whether the crawl has seen a URL, and its fingerprint; records nothing',
  input: input<{ url: string }>({ url: { type: 'string', minLength: 1, maxLength: URL_CHARS_MAX } }),
  answer: KNOWN,
  act: (desk, { url }) => desk.isKnown?.(url),
}

interface FailedInput extends FailedFilter {
  readonly max?: number
}

export const FAILED: VerbOfOne<FailedInput> = {
  of: 'one',
  name: 'failed',
  method: 'get',
  path: '/failed',
  summary: 'requests that were given up: all, or those that every given part of the filter means',
  input: input<FailedInput>(
    {
      ...FAILED_FILTER,
      max: {
        type: 'integer',
        minimum: 1,
        maximum: LISTED_MAX,
        default: LISTED_BY_DEFAULT,
        description: 'how many at the most',
      },
    },
    ['ids', 'signature', 'host', 'status', 'reason', 'since', 'until', 'max'],
  ),
  answer: object<{ failed: unknown }>({ failed: listOf(FAILED_REQUEST) }),
  act: (desk, { max = LISTED_BY_DEFAULT, ...filter }) =>
    desk.failed?.(filter, max).then((failed) => ({ failed })),
}

export const FAILED_RESPONSE: VerbOfOne<{ readonly signature: string }> = {
  of: 'one',
  name: 'failed_response',
  method: 'get',
  path: '/failed/response',
  summary: 'the first response of a signature, where one was kept',
  input: input<{ signature: string }>({ signature: SIGNATURE }),
  answer: RESPONSE,
  act: (desk, { signature }) =>
    desk.failedResponse?.(signature).then((response) => {
      if (response) return response
      throw new Refusal(404, 'no response of that signature is kept', 'signature')
    }),
}

export const HISTORY: VerbOfOne<{ readonly minutes?: number }> = {
  of: 'one',
  name: 'history',
  method: 'get',
  path: '/history',
  summary: 'samples of the last minutes, one every ten seconds, of earlier runs, too; the oldest first',
  input: input<{ minutes?: number }>(
    {
      minutes: {
        type: 'integer',
        minimum: 1,
        maximum: MINUTES_MAX,
        default: MINUTES_BY_DEFAULT,
        description: 'how far back',
      },
    },
    ['minutes'],
  ),
  answer: object<{ samples: unknown }>({ samples: listOf(SAMPLE) }),
  act: (desk, { minutes = MINUTES_BY_DEFAULT }) =>
    desk.history?.(Date.now() - minutes * 60_000).then((samples) => ({ samples })),
}

export const VIEWS_OF_ONE: readonly VerbOfOne[] = [
  view(
    'status',
    'how the crawl stands: state, rates, queue, workers, all stats, what limits it now, time left',
    STATUS,
    (desk) => desk.status(),
  ),
  view('hosts', 'the hosts that stand out: most queued, failing, slow, paused, given up', HOSTS, (desk) =>
    desk.hosts(),
  ),
  HOST,
  view(
    'scale',
    'how many workers would help now, by what the hosts allow and by how fast a worker is',
    SCALE,
    (desk) => desk.scale?.(),
  ),
  view(
    'skips',
    'what the crawl skipped, by reason: met before (seen by the dupefilter), offsite, robots.txt, depth, traps …',
    object<{ skips: unknown }>({ skips: listOf(SKIP) }),
    async (desk) => ({ skips: skipsOf((await desk.status()).stats) }),
  ),
  view(
    'filter',
    'the dupefilter: how many requests it has seen, how full it is, how often it errs',
    FILTER,
    (desk) => desk.filter?.(),
  ),
  KNOWN_URL,
  view('items', 'how many items, which fields they have, and the last few', ITEMS, (desk) => desk.items?.()),
  view('failures', 'requests that were given up, by signature, with examples', FAILURES, (desk) =>
    desk.failures?.(),
  ),
  FAILED,
  FAILED_RESPONSE,
  HISTORY,
  view(
    'runs',
    'the runs of the crawl, the latest first',
    object<{ runs: unknown }>({ runs: listOf(RUN) }),
    (desk) => desk.runs?.().then((runs) => ({ runs })),
  ),
  view(
    'settings',
    'the settings of its workers, without secrets, and the place that set each',
    object<{ settings: unknown }>({ settings: listOf(SETTING) }),
    (desk) => desk.settings?.().then((settings) => ({ settings })),
  ),
]
