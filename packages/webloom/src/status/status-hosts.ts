/** What `webloom status` tells of hosts: those that wait, from Redis, and those that stand out, as the workers have told. */

import {
  HOST_LIST_MAX,
  type HostLists,
  type Moment,
  type QueueCounts,
  SLOW_FROM_MS,
  type SlotView,
  slotTyped,
  UNANSWERED_FROM_MS,
  type WorkerSeen,
} from '@webloom/core'
import { isOfHost, withoutPort } from '../desk/hosts/read-one-host.ts'
import { counted, delayInWords, grouped, row } from '../terminal/figures.ts'

export interface HostsSeen {
  /** QUEUE_MODE. */
  readonly mode: 'turns' | 'job'
  readonly counts: QueueCounts
  readonly hosts: readonly SlotView[]
  readonly hostLists: HostLists
  /** The host that was asked for; null: none was. */
  readonly host: string | null
  readonly workers: readonly Pick<WorkerSeen, 'id' | 'lost' | 'suspects'>[]
  readonly readAt: Moment
}

/** How many entries of each list are printed; `--json` has all. */
const LISTED_MAX = 10

export function hostLines({ hosts, host, mode, counts, workers }: HostsSeen): string[] {
  if (mode === 'job' && (host !== null || counts.waiting + counts.delayed + counts.leased > 0))
    return [row('hosts', 'each worker keeps its own pace (QUEUE_MODE=job)')]
  if (hosts.length === 0) return []
  if (host !== null) {
    const [seen] = hosts as [SlotView]
    return [row('host', stateOf(seen)), hostLine(seen), ...suspectLines(seen, workers)]
  }
  return [row('hosts', 'paused ones, then those with the most waiting'), ...hosts.map(hostLine)]
}

/**
 * The lists of what stands out, each with its first entries. `hostLines` has the same of paused and most queued hosts, and newer,
 * so only those that it does not show are listed here: in a crawl of very many hosts, and where each worker keeps its own pace.
 */
export function hostListLines(seen: HostsSeen): string[] {
  const { failing, slowest, unanswered, paused, givenUp, mostQueued } = seen.hostLists
  const now = Date.parse(seen.readAt)
  const isAsked = ({ host }: { readonly host: string }) => seen.host === null || isOfHost(host, seen.host)
  const shown = new Set(seen.hosts.map(({ slot }) => slot))
  const isShown = (name: string) => shown.has(name) || shown.has(withoutPort(name))
  const leastShown = seen.hosts.at(-1)?.waiting ?? 0
  const ago = (ms: number) => `${delayInWords(now - ms)} ago`
  return [
    ...section('failing', ', most failures in a row first', failing.filter(isAsked), (entry) => [
      entry.host,
      `${counted(entry.failures, 'failure')} in a row · ${entry.reason} · ${ago(entry.seenAtMs)}`,
    ]),
    ...section(
      'given up',
      ', whose requests are dropped (HOST_FAILURES_MAX)',
      givenUp.filter(isAsked),
      ({ host, sinceMs, reason }) => [host, `since ${delayInWords(now - sinceMs)} · ${reason}`],
    ),
    ...section(
      'slowest',
      ` with answers that take ${delayInWords(SLOW_FROM_MS)} or longer`,
      slowest.filter(isAsked),
      ({ host, latencyMs, seenAtMs }) => [host, `${delayInWords(latencyMs)} · answered ${ago(seenAtMs)}`],
    ),
    ...section(
      'no answer',
      ` asked ${delayInWords(UNANSWERED_FROM_MS)} ago or longer`,
      unanswered.filter(isAsked),
      ({ host, requests, sinceMs }) => [host, `${counted(requests, 'request')} · sent ${ago(sinceMs)}`],
    ),
    ...section(
      'paused',
      ', the longest pause first',
      paused.filter((entry) => isAsked(entry) && !isShown(entry.host) && entry.untilMs > now),
      ({ host, untilMs, reason }) => [host, `for ${delayInWords(untilMs - now)} more · ${reason}`],
    ),
    ...section(
      'queued',
      ', the longest lines first, as far as the workers know',
      mostQueued.filter(
        ({ slot, waiting }) => isAsked({ host: slot }) && !isShown(slot) && waiting > leastShown,
      ),
      ({ slot, waiting }) => [slotTyped(slot), `waiting ${grouped(waiting)}`],
    ),
  ]
}

function section<Entry>(
  name: string,
  what: string,
  entries: readonly Entry[],
  words: (entry: Entry) => readonly [host: string, seen: string],
): string[] {
  if (entries.length === 0) return []
  const count = `${counted(entries.length, 'host')}${entries.length === HOST_LIST_MAX ? ' or more' : ''}`
  const of = entries.length > LISTED_MAX ? `; the first ${LISTED_MAX}` : ''
  const lines = entries.slice(0, LISTED_MAX).map(words)
  return [row(name, `${count}${what}${of}`), ...lines.map(([host, seen]) => `    ${host}   ${seen}`)]
}

function stateOf({ state, delayed, lanes, holders }: SlotView): string {
  const by = holders.length > 0 ? holders.join(', ') : 'no worker'
  if (state === 'hot') return `hot, ${counted(lanes, 'lane')} · with ${by}`
  const waits = delayed > 0 ? 'nothing waits but what is held for later' : 'nothing waits'
  return `${state === 'none' ? waits : state} · its bucket is with ${by}`
}

/** What the host's requests may wait for, though it may be asked. */
function suspectLines({ holders }: SlotView, workers: HostsSeen['workers']): string[] {
  return workers
    .filter(({ id, lost, suspects }) => !lost && suspects > 0 && holders.includes(id))
    .map(
      ({ id, suspects }) =>
        `    ${id} has ${counted(suspects, 'request')} to fetch alone, as one may have killed a worker: it begins others in the breaks between them`,
    )
}

function hostLine(host: SlotView): string {
  const { slot, waiting, delayed, leased, delayMs, nextInMs, pausedMs, pauseReason, failures } = host
  return [
    `    ${slotTyped(slot)}   waiting ${grouped(waiting)}`,
    ...(delayed > 0 ? [`delayed ${grouped(delayed)}`] : []),
    `in flight ${grouped(leased)}`,
    ...(delayMs > 0 ? [`delay ${delayInWords(delayMs)}`] : []),
    ...(nextInMs > 0 ? [`next in ${delayInWords(nextInMs)}`] : []),
    ...(pausedMs > 0
      ? [`paused for ${delayInWords(pausedMs)}${pauseReason ? ` (${pauseReason})` : ''}`]
      : []),
    ...(failures > 0 ? [`${counted(failures, 'failure')} in a row`] : []),
  ].join(' · ')
}
