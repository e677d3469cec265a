/** What keeps a crawl from going faster at this moment, in words: the first of these that holds. */

import type { CrawlLimit, CrawlStatus } from '@webloom/core'
import { CRAWL_LOST } from '@webloom/queue'
import { byteSize, counted, grouped } from '../terminal/figures.ts'
import { commandName } from '../terminal/resume-line.ts'

export interface CrawlBounds {
  /** CONCURRENT_REQUESTS; 0: no bound. */
  readonly concurrency: number
  /** START_LOW_WATER. */
  readonly startLowWater: number
  /** The crawl as it is typed behind a command. */
  readonly spider: string
}

export type StatusFigures = Omit<CrawlStatus, 'crawl' | 'mode' | 'limit' | 'timeLeft'>

/** Above this part of their places workers count as full: a place is empty for a moment between two requests. */
const FULL_FROM = 0.85
/** An event loop that is this late has no time for more pages. */
const LAG_FROM_MS = 200

export function limitOf(seen: StatusFigures, bounds: CrawlBounds): CrawlLimit {
  return (
    ended(seen) ??
    standing(seen, bounds) ??
    joining(seen) ??
    suspects(seen) ??
    nothingLeft(seen) ??
    fullRedis(seen) ??
    busyWorkers(seen, bounds) ??
    waitingForHosts(seen, bounds) ?? {
      kind: 'none',
      words: 'Nothing holds it up that can be seen from here.',
    }
  )
}

function ended({ state, finishReason }: StatusFigures): CrawlLimit | undefined {
  if (state === 'running') return undefined
  const words = {
    idle: 'No run is known. The next worker begins one.',
    stopped:
      finishReason === CRAWL_LOST
        ? 'What was queued of it is gone from its Redis (crawl_lost). The next worker begins it from the start, or says what to do.'
        : `It was stopped (${finishReason ?? 'stopped'}). The next worker goes on with what waits.`,
    finished: 'It has finished: nothing waits, and nothing is in flight.',
  }[state]
  return { kind: 'ended', words }
}

function standing({ paused, flushing, workers }: StatusFigures, { spider }: CrawlBounds) {
  if (flushing) return { kind: 'ended', words: 'Queue and filter are being emptied.' } as const
  if (paused)
    return { kind: 'paused', words: `It is paused. ${commandName()} resume ${spider} goes on.` } as const
  if (workers.some(({ lost }) => !lost)) return undefined
  return {
    kind: 'no workers',
    words: `No worker is present. Start one: ${commandName()} worker ${spider}`,
  } as const
}

function joining({ workers }: StatusFigures): CrawlLimit | undefined {
  const present = workers.filter(({ lost }) => !lost)
  const [first] = present
  if (!first || present.some(({ waits }) => waits === '')) return undefined
  const who =
    present.length === 1
      ? 'The worker that is present waits'
      : `All ${present.length} workers that are present wait`
  return { kind: 'joining', words: `${who} ${first.waits}.` }
}

function nothingLeft({ counts: { waiting, delayed, leased }, start }: StatusFigures): CrawlLimit | undefined {
  if (waiting > 0 || delayed > 0 || !start.ended) return undefined
  return {
    kind: 'nothing left',
    words:
      leased === 0
        ? 'Nothing is left to do: it is about to end.'
        : `Nothing waits any more. ${counted(leased, 'request')} in flight may still bring links.`,
  }
}

function fullRedis({ servers, highWater }: StatusFigures): CrawlLimit | undefined {
  if (highWater === 0) return undefined
  const full = servers.find(
    ({ roles, usedBytes, maxBytes }) =>
      roles.includes('queue') && maxBytes > 0 && usedBytes > highWater * maxBytes,
  )
  if (!full) return undefined
  const used = Math.round((100 * full.usedBytes) / full.maxBytes)
  return {
    kind: 'redis memory',
    words: `${full.shown} is ${used} % full (${byteSize(full.usedBytes)} of ${byteSize(full.maxBytes)}), above REDIS_HIGH_WATER: new links wait while what is queued is crawled. Raise its maxmemory.`,
  }
}

function busyWorkers({ workers }: StatusFigures, { concurrency }: CrawlBounds): CrawlLimit | undefined {
  const present = workers.filter(({ lost }) => !lost)
  const blocked = present.filter((worker) => worker.blocked).length
  if (blocked * 2 >= present.length)
    return {
      kind: 'workers',
      words: `${blocked} of ${counted(present.length, 'worker')} ${blocked === 1 ? 'is' : 'are'} blocked: a callback computes for seconds without an await.`,
    }
  const late = present.filter(({ loopLagMs }) => loopLagMs >= LAG_FROM_MS).length
  if (late * 2 > present.length)
    return {
      kind: 'workers',
      words: `The processors are busy: the event loop of ${late} of ${counted(present.length, 'worker')} is late by ${LAG_FROM_MS} ms or more. More workers on other processors help.`,
    }
  const full = present.filter(({ scrapingFull }) => scrapingFull).length
  if (full * 2 > present.length)
    return {
      kind: 'memory',
      words: `The callbacks and pipelines of ${full} of ${counted(present.length, 'worker')} work on as many bytes of responses as SCRAPER_SLOT_MAX_ACTIVE_SIZE allows, so no page is begun there. Faster ones help, more workers, or a larger bound where there is memory for it.`,
    }
  const downloading = present.reduce((sum, worker) => sum + worker.downloading, 0)
  if (concurrency === 0 || downloading < FULL_FROM * concurrency * present.length) return undefined
  return {
    kind: 'workers',
    words: `The workers are full: ${grouped(downloading)} downloads at once in ${counted(present.length, 'worker')}. More workers, or a higher CONCURRENT_REQUESTS, help.`,
  }
}

function suspects({ workers }: StatusFigures): CrawlLimit | undefined {
  const present = workers.filter(({ lost }) => !lost)
  const held = present.filter((worker) => worker.suspects > 0)
  if (held.length * 2 < present.length) return undefined
  const count = held.reduce((sum, worker) => sum + worker.suspects, 0)
  return {
    kind: 'suspects',
    words: `${counted(count, 'request')} ${count === 1 ? 'is' : 'are'} to be fetched alone: what was in flight as a worker was lost may have killed it. ${held.length} of ${counted(present.length, 'worker')} ${held.length === 1 ? 'does' : 'do'} little else meanwhile, some seconds for each whose host does not answer. It passes by itself.`,
  }
}

function waitingForHosts(
  { counts: { waiting, delayed }, start }: StatusFigures,
  { startLowWater }: CrawlBounds,
): CrawlLimit | undefined {
  if (waiting === 0 && delayed === 0) return undefined
  const behind =
    !start.ended && waiting >= startLowWater
      ? ' start() is read on when fewer wait (START_LOW_WATER, START_AHEAD_MAX): if most of these are of few hosts, mix the list, or raise START_AHEAD_MAX.'
      : ''
  return {
    kind: 'hosts',
    words: `${counted(waiting, 'request')} ${waiting === 1 ? 'waits' : 'wait'}${delayed > 0 ? ` and ${grouped(delayed)} ${delayed === 1 ? 'is' : 'are'} held for later` : ''}, while workers have room: the hosts’ delays, pauses and CONCURRENT_REQUESTS_PER_DOMAIN decide.${behind}`,
  }
}
