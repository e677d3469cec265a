/**
 * How many workers would help a crawl. Neither processors nor the length of the queue tell that: workers that wait for hosts use
 * no processor, and a million requests of one polite host keep no second worker busy. What tells it is
 *
 *     requests a second that the hosts allow ÷ requests a second that one worker can do
 *
 * The first is a sum over the hosts with something queued: each allows 1 ÷ its delay; without a delay, its concurrency by the time
 * that an answer takes; and never more than a minute would leave nothing of. The second is measured: what the workers do, by the
 * part of their places that is taken, or the best that they have shown in the last minutes, whichever is more. So workers that are
 * starved now are not taken for slow ones, and never more are asked for than what the hosts allow keeps busy at the best speed shown.
 */

import {
  type CrawlStatus,
  type HostPace,
  type ScaleSeen,
  type SlotView,
  silentWords,
  type WorkerSeen,
} from '@webloom/core'
import { CRAWL_LOST, NOT_OPENED } from '@webloom/queue'
import { counted, grouped } from '../../terminal/figures.ts'
import { SHOWN_MS, ShownSpeeds } from './shown-speeds.ts'

/** Of a slot: how it stands, and the pace that holds for it. */
export type PacedSlot = Pick<SlotView, 'waiting' | 'leased' | 'pausedMs'> &
  Pick<HostPace, 'delayMs' | 'concurrency'>

export interface WorkersWantedInput {
  readonly status: Pick<
    CrawlStatus,
    | 'state'
    | 'finishReason'
    | 'paused'
    | 'workers'
    | 'silentShards'
    | 'counts'
    | 'start'
    | 'seeds'
    | 'mode'
    | 'readAt'
  >
  /** Each slot with how many it stands for. Absent: the queue keeps none (QUEUE_MODE=job). */
  readonly slots?: readonly { readonly slot: PacedSlot; readonly weight: number }[]
  /** CONCURRENT_REQUESTS; 0: no bound. */
  readonly concurrency: number
  /** Absent: nothing was shown. */
  readonly shown?: ShownSpeeds
}

/** What is queued counts as far as it lasts so long: a worker needs some seconds to start. */
const AHEAD_S = 60
/** Below this share of use a worker's speed is more chance than measure. */
const BUSY_FROM = 0.1
/** A tenth of a worker is nobody. */
const SPARE = 0.1
/**
 * At most so many times as many as there are: how fast ten times as many would be, nobody has measured. From one worker two steps come
 * to nine.
 */
const GROWTH_MAX = 3
/** The same while the workers' machines have no time for them: they are slow for that, and would all be slower beside many more. */
const LATE_GROWTH_MAX = 1.1
/** An event loop that is this late has no time for more pages. */
const LATE_FROM_MS = 200
/** The reason with which a worker ends that gets a signal: it was to end, and not the crawl. */
const WORKERS_ENDED = 'shutdown'
/** So much faster than now, what was shown is told beside it. */
const MUCH_MORE = 1.2
/** An answer takes as long as this where none was measured. */
const ANSWER_S = 1

/** Returns how many would help. Where a shard does not answer, its part of the work is not known: no worker is sent away for that. */
export function workersWanted(input: WorkersWantedInput): ScaleSeen {
  const { state, silentShards } = input.status
  const seen = wantedFor(input)
  if (state !== 'running' || silentShards.length === 0) return seen
  const unknown = `${silentWords(silentShards)}, and what waits there is not known`
  if (seen.desired >= seen.present) return { ...seen, words: `${seen.words}. But ${unknown}` }
  return { ...seen, desired: seen.present, words: `${unknown}: no fewer than there are` }
}

function wantedFor({
  status,
  slots,
  concurrency,
  shown = new ShownSpeeds([], 0),
}: WorkersWantedInput): ScaleSeen {
  const present = status.workers.filter(({ lost }) => !lost)
  const speed = speedOf(present, concurrency)
  const allowedPerSecond =
    slots === undefined ? status.counts.waiting / AHEAD_S : allowedBy(slots, speed.answerS)
  const perSecond = speed.perSecond === null ? null : Math.max(speed.perSecond, shown.perWorker)
  const known = {
    present: present.length,
    allowedPerSecond: rounded(allowedPerSecond),
    perWorkerPerSecond: perSecond && rounded(perSecond),
    readAt: status.readAt,
  }
  const resting = notRunning(status, present.length)
  if (resting) return { ...known, ...resting }
  if (speed.perSecond === null || perSecond === null) return { ...known, ...unmeasured(present) }
  const words = `${figure(allowedPerSecond)} ${allowedBecause(status)}; ${speedInWords(perSecond, speed.perSecond)}`
  const helping = Math.max(1, Math.ceil(allowedPerSecond / perSecond - SPARE))
  const step = stepFrom(present, shown)
  if (helping <= step.most) return { ...known, desired: helping, words }
  return { ...known, desired: step.most, words: `${words}. That makes ${grouped(helping)}; ${step.why}` }
}

type Decision = Pick<ScaleSeen, 'desired' | 'words'>

function speedInWords(perSecond: number, now: number): string {
  return perSecond > now * MUCH_MORE
    ? `a worker has done ${figure(perSecond)} in the last ${SHOWN_MS / 60_000} minutes, and does ${figure(now)} now`
    : `a worker does ${figure(perSecond)} when it is in full use`
}

interface Step {
  readonly most: number
  readonly why: string
}

/** How far one answer goes. It may be followed at once, and how fast so many would be is not measured yet. */
function stepFrom(present: readonly WorkerSeen[], shown: ShownSpeeds): Step {
  const late = present.filter(({ loopLagMs }) => loopLagMs >= LATE_FROM_MS).length
  if (late * 2 > present.length && !shown.haveMoreHelped(present.length))
    return {
      most: present.length,
      why: 'but the processors are busy, and so many are no faster than fewer were: no more for now',
    }
  if (late * 2 > present.length)
    return {
      most: Math.ceil(present.length * LATE_GROWTH_MAX),
      why: 'but the processors are busy, and workers are slow for that: few more at a time',
    }
  return {
    most: present.length * GROWTH_MAX,
    why: `at most ${GROWTH_MAX} times as many at a time, and then it is measured again`,
  }
}

function notRunning(status: WorkersWantedInput['status'], present: number): Decision | undefined {
  const { state, finishReason, paused, seeds } = status
  if (state === 'running') {
    if (paused) return { desired: Math.max(1, present), words: 'the crawl is paused: as many as there are' }
    return seeds && seeds.waiting === 0 && isDone(status)
      ? { desired: 0, words: 'nothing is queued, and no start URL waits' }
      : undefined
  }
  const areWorkersEnded = state === 'stopped' && finishReason === WORKERS_ENDED
  if (state === 'stopped' && finishReason === CRAWL_LOST) return { desired: 1, words: LOST_WORDS }
  if (state === 'stopped' && finishReason === NOT_OPENED) return { desired: 1, words: REFUSED_WORDS }
  if (state === 'stopped' && !areWorkersEnded) return { desired: 0, words: 'the crawl was stopped' }
  if (seeds && seeds.waiting > 0)
    return {
      desired: 1,
      words: `${counted(seeds.waiting, 'start URL')} ${seeds.waiting === 1 ? 'waits' : 'wait'} for a worker`,
    }
  if (areWorkersEnded)
    return isDone(status)
      ? { desired: 0, words: 'its workers were told to end, and nothing is queued' }
      : {
          desired: 1,
          words: 'its workers were told to end, and it is not done: the first worker goes on with it',
        }
  if (state === 'finished') return { desired: 0, words: 'the crawl has finished' }
  return seeds
    ? { desired: 0, words: 'no crawl is begun, and no start URL waits' }
    : { desired: 1, words: 'no crawl is begun yet: the first worker begins it' }
}

// Nobody has ended these: none is to be sent away in silence.
const LOST_WORDS =
  'what was queued of the crawl is gone from its Redis (crawl_lost): the first worker begins it from the start, or says what to do'
const REFUSED_WORDS = 'its last worker could not begin (not_opened): the next one does, or says why not'

function isDone({ counts, start, seeds }: WorkersWantedInput['status']): boolean {
  return (
    start.ended &&
    counts.waiting + counts.delayed + counts.leased === 0 &&
    (seeds === null || seeds.inWork === 0)
  )
}

/** How fast a worker is, is not known before one has had something to do. */
function unmeasured(present: readonly WorkerSeen[]): Decision {
  if (present.length === 0)
    return { desired: 1, words: 'no worker is present: how much one can do is not known' }
  const [{ waits } = { waits: '' }] = present
  if (present.every((worker) => worker.waits !== ''))
    return {
      desired: present.length,
      words: `no worker takes part yet, each waits ${waits}: as many as there are`,
    }
  if (present.some(({ blocked, busy }) => blocked || busy >= BUSY_FROM))
    return {
      desired: present.length,
      words: 'the workers are busy, and nothing comes of it: as many as there are',
    }
  return { desired: 1, words: 'the workers that there are have next to nothing to do' }
}

function allowedBecause({ mode }: WorkersWantedInput['status']): string {
  return mode === 'job'
    ? 'requests a second would leave nothing queued in a minute'
    : 'requests a second are what the hosts allow'
}

interface Speed {
  /** Null: not known. */
  readonly perSecond: number | null
  readonly answerS: number
}

/** Measures the speed of all workers together, as one alone is measured too roughly. */
function speedOf(present: readonly WorkerSeen[], concurrency: number): Speed {
  const working = present.filter(({ blocked }) => !blocked)
  const busy = working.reduce((sum, worker) => sum + worker.busy, 0)
  const perSecond = working.reduce((sum, { pagesPerMinute }) => sum + pagesPerMinute / 60, 0)
  if (busy < BUSY_FROM || perSecond === 0) return { perSecond: null, answerS: ANSWER_S }
  const downloading = working.reduce((sum, worker) => sum + worker.downloading, 0)
  // As long as a request is with a worker (Little): its places that are taken, by what comes out of them.
  const answerS = Math.min(downloading, concurrency > 0 ? busy * concurrency : downloading) / perSecond
  return { perSecond: perSecond / busy, answerS: answerS > 0 ? answerS : ANSWER_S }
}

function allowedBy(slots: NonNullable<WorkersWantedInput['slots']>, answerS: number): number {
  return slots.reduce((sum, { slot, weight }) => sum + weight * slotAllows(slot, answerS), 0)
}

/** Returns how many requests a second the slot allows. */
function slotAllows(slot: PacedSlot, answerS: number): number {
  const awakeS = AHEAD_S - Math.min(AHEAD_S, slot.pausedMs / 1000)
  const byDelay = slot.delayMs > 0 ? 1000 / slot.delayMs : Number.POSITIVE_INFINITY
  const atOnce = slot.concurrency > 0 ? slot.concurrency : Number.POSITIVE_INFINITY
  const byQueue = (slot.waiting + slot.leased) / AHEAD_S
  return Math.min(byQueue, (Math.min(byDelay, atOnce / answerS) * awakeS) / AHEAD_S)
}

function rounded(perSecond: number): number {
  return Math.round(perSecond * 100) / 100
}

function figure(perSecond: number): string {
  return perSecond < 10 ? String(rounded(perSecond)) : grouped(Math.round(perSecond))
}
