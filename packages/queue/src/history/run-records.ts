/**
 * What the runs of a crawl came to: for `webloom runs`, and to see that a spider brings less than it did.
 *
 * A run is written down again and again while it goes on, with each sample of the crawl (crawl-samples.ts), and for good by the
 * last worker that leaves. So one whose workers were all killed is missing what they did in their last ten seconds, and no more.
 */

import {
  type MonitorNotes,
  NO_NOTES,
  type PastRun,
  type RunSeen,
  redisRefusal,
  runFigures,
  unsentOf,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import { CRAWL_LOST, reasonTold } from '../crawl/crawl-leaving.ts'
import type { CrawlView } from '../outside/crawl-view.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'

/** One crawl from its beginning to its end. Counts are sums over all workers. */
export interface RunRecord extends Omit<RunSeen, 'begunAt' | 'endedAt'> {
  readonly begunAt: Date
  readonly endedAt?: Date
}

interface StoredRun extends Omit<RunRecord, 'begunAt' | 'endedAt'> {
  readonly form: number
  readonly begunAt: number
  readonly endedAt?: number
}

const FORM = 1
/** Weeks of a crawl that runs each night; those that began before these are dropped. */
export const RUNS_MAX = 50

/** Writes down how the run that the crawl is in has come along. */
export async function keepRun(redis: Redis, keys: CrawlRedisKeys, seen: CrawlView): Promise<void> {
  const { run, begunAt } = seen
  if (run === null || begunAt === null) return
  const isNew = await redis.hset(keys.runs, run, JSON.stringify(storedRun(seen, run, begunAt)))
  if (isNew === 1 && (await redis.hlen(keys.runs)) > RUNS_MAX) await dropOldest(redis, keys)
}

/** The crawl's Redis came back without its data: what one of its workers knows of the run is kept, unless another one was first. */
export async function keepLostRun(
  redis: Redis,
  keys: CrawlRedisKeys,
  known: Omit<RunRecord, 'state' | 'endedAt' | 'finishReason'>,
): Promise<RunSeen> {
  const lost = { ...known, state: 'lost', finishReason: CRAWL_LOST } as const
  const stored: StoredRun = { form: FORM, ...lost, begunAt: known.begunAt.getTime(), endedAt: Date.now() }
  if ((await redis.hsetnx(keys.runs, known.run, JSON.stringify(stored))) === 0)
    await endLost(redis, keys, stored)
  return (await readRun(redis, keys, known.run)) ?? seenRun(lost)
}

/** A sample has kept it while it went on, with the figures of all workers then. This worker alone may have counted more since. */
async function endLost(redis: Redis, keys: CrawlRedisKeys, lost: StoredRun): Promise<void> {
  const kept = parsed((await redis.hget(keys.runs, lost.run)) ?? '') as StoredRun | undefined
  if (kept?.state !== 'running') return
  const ended = kept.pages > lost.pages ? { ...kept, ...endOf(lost) } : lost
  await redis.hset(keys.runs, lost.run, JSON.stringify(ended))
}

function endOf({ state, finishReason, endedAt }: StoredRun) {
  return { state, finishReason, endedAt }
}

/** A run, and what monitors have noted of it. */
export interface NotedRun {
  readonly run: RunRecord
  readonly notes: MonitorNotes
}

/** Told once what of the records cannot be read, as another program has written there: the rest is read without it. */
export type OnUnreadable = (what: string) => void

/** Resolves to the runs that are kept, the latest first. */
export async function readRuns(
  redis: Redis,
  keys: CrawlRedisKeys,
  onUnreadable?: OnUnreadable,
): Promise<RunRecord[]> {
  return (await readNotedRuns(redis, keys, onUnreadable)).map(({ run }) => run)
}

/** Resolves to one run as it stands; undefined when it is not kept. One that has just begun has counted nothing. */
export async function readRun(
  redis: Redis,
  keys: Pick<CrawlRedisKeys, 'runs' | 'record' | 'monitors'>,
  run: string,
): Promise<RunSeen | undefined> {
  const [text, noted, [begunAt, ...current]] = await Promise.all([
    redis.hget(keys.runs, run).catch(unlessForeign(() => {}, null)),
    redis.hget(keys.monitors, run).catch(unlessForeign(() => {}, null)),
    redis.hmget(keys.record, 'begunAt', ...STANDING),
  ])
  const isPresent = current[0] === run
  const kept = text !== null ? runOf(text) : isPresent ? justBegun(run, Number(begunAt)) : undefined
  if (kept === undefined || kept === 'unreadable') return undefined
  return seenRun(withAlerts(asItStands(kept, current), notesIn(noted)))
}

/** Its workers have not told of it yet. */
function justBegun(run: string, begunAtMs: number): RunRecord {
  return { run, state: 'running', begunAt: new Date(begunAtMs), ...runFigures({}) }
}

export async function readNotedRuns(
  redis: Redis,
  keys: CrawlRedisKeys,
  onUnreadable: OnUnreadable = () => {},
): Promise<NotedRun[]> {
  const foreign: string[] = []
  const [texts, current, noted] = await Promise.all([
    redis.hvals(keys.runs).catch(unlessForeign(() => foreign.push(keys.runs), [])),
    redis.hmget(keys.record, ...STANDING),
    redis
      .hgetall(keys.monitors)
      .catch(unlessForeign<Record<string, string>>(() => foreign.push(keys.monitors), {})),
  ])
  const runs = texts.map(runOf)
  const damaged = runs.filter((run) => run === 'unreadable').length
  if (foreign.length > 0)
    onUnreadable(`${foreign.join(' and ')} ${foreign.length === 1 ? 'is' : 'are'} no hash`)
  else if (damaged > 0) onUnreadable(`${damaged} of ${texts.length} values in ${keys.runs}`)
  return runs
    .flatMap((run) => (run === undefined || run === 'unreadable' ? [] : run))
    .map((run) => {
      const notes = notesIn(noted[run.run])
      return { run: withAlerts(asItStands(run, current), notes), notes }
    })
    .sort((a, b) => b.run.begunAt.getTime() - a.run.begunAt.getTime())
}

/** Reads a run's notes; those that cannot be read are none. */
export function notesIn(text: string | null | undefined): MonitorNotes {
  const notes = parsed(text ?? '') as MonitorNotes | undefined
  const isOurs = [notes?.alerts, notes?.outbox, notes?.checkpoints].every(Array.isArray)
  return isOurs ? notes! : NO_NOTES
}

/** The run that the crawl is in, as it was seen. */
export function presentRun(seen: CrawlView, run: string, begunAt: Date, notes: MonitorNotes): RunSeen {
  const { form, begunAt: _ms, endedAt, ...figures } = storedRun(seen, run, begunAt)
  const record = { ...figures, begunAt, ...(endedAt !== undefined && { endedAt: new Date(endedAt) }) }
  return seenRun(withAlerts(record, notes))
}

export function pastRun({ run, notes: { worst } }: NotedRun): PastRun {
  return { ...seenRun(run), ...(worst && { worst }) }
}

async function dropOldest(redis: Redis, keys: CrawlRedisKeys): Promise<void> {
  const old = (await readRuns(redis, keys)).slice(RUNS_MAX).map(({ run }) => run)
  if (old.length === 0) return
  await Promise.all([redis.hdel(keys.runs, ...old), redis.hdel(keys.monitors, ...old)])
}

function withAlerts(run: RunRecord, notes: MonitorNotes): RunRecord {
  const [{ alerts }, unsent] = [notes, unsentOf(notes)]
  return { ...run, ...(alerts.length > 0 && { alerts }), ...(unsent.length > 0 && { unsent }) }
}

function storedRun(
  { state, endedAt, finishReason, stats }: CrawlView,
  run: string,
  begunAt: Date,
): StoredRun {
  return {
    form: FORM,
    run,
    state: state === 'idle' ? 'lost' : state,
    begunAt: begunAt.getTime(),
    ...(endedAt && { endedAt: endedAt.getTime() }),
    ...(finishReason !== null && { finishReason }),
    ...runFigures(stats),
  }
}

/** Returns undefined for a run of another form. */
function runOf(text: string): RunRecord | 'unreadable' | undefined {
  const stored = parsed(text) as StoredRun | undefined
  if (stored?.form === undefined) return 'unreadable'
  if (stored.form !== FORM) return undefined
  const { form, begunAt, endedAt, ...run } = stored
  const isWhole =
    typeof run.run === 'string' &&
    [begunAt, endedAt ?? 0].every((ms) => !Number.isNaN(new Date(ms).getTime())) &&
    [run.statuses, run.fields].every((counts) => typeof counts === 'object' && counts !== null)
  if (!isWhole) return 'unreadable'
  return { ...run, begunAt: new Date(begunAt), ...(endedAt !== undefined && { endedAt: new Date(endedAt) }) }
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** For a key that another program has made: there is nothing of ours in it. */
function unlessForeign<T>(onForeign: () => void, none: T): (error: unknown) => T {
  return (error) => {
    if (redisRefusal(error) !== 'wrong-type') throw error
    onForeign()
    return none
  }
}

/** Of the crawl's record, as `asItStands` reads it. */
const STANDING = ['run', 'state', 'endedAt', 'finishReason', 'refusedAs'] as const

/** The crawl's record knows first how the last run ended; a run that it does not speak of any more is over. */
function asItStands(
  run: RunRecord,
  [current, state, endedAt, reason, refusedAs]: readonly (string | null | undefined)[],
): RunRecord {
  if (run.run !== current) return run.state === 'running' ? { ...run, state: 'lost' } : run
  const { endedAt: _before, finishReason: _why, ...rest } = run
  const finishReason = reasonTold(reason, refusedAs)
  return {
    ...rest,
    state: (state ?? 'lost') as RunSeen['state'],
    ...(endedAt && { endedAt: new Date(Number(endedAt)) }),
    ...(finishReason && { finishReason }),
  }
}

/** Returns a run as whoever looks at a crawl sees it: moments are texts. */
export function seenRun({ begunAt, endedAt, ...run }: RunRecord): RunSeen {
  return { ...run, begunAt: begunAt.toISOString(), ...(endedAt && { endedAt: endedAt.toISOString() }) }
}
