/**
 * The runs of a crawl that has no Redis: a file each, in a folder of the project.
 *
 *     .webloom/runs/quotes/2026-11-26T16-00-00-000Z-4711.json
 *
 * One process writes one file, by renaming a whole one over it, so several crawls of a spider may run at once, and whoever reads sees no
 * half of one. The file is written anew every ten seconds while the run goes on: of one that is killed, at most its last ten seconds are
 * missing. A run that is resumed (JOBDIR) goes on with its file, and its figures are added to those of before.
 *
 * Without a folder (a spider's file outside of any project) the present run alone is known, while its process lives.
 */

import { randomUUID } from 'node:crypto'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import {
  type Logger,
  type MonitorNotes,
  makeFolder,
  NO_NOTES,
  type PastRun,
  type RunFigures,
  type RunLog,
  type RunLook,
  type RunSeen,
  type RunState,
  runFigures,
  type StatsCollector,
  type StatValue,
  silentLogger,
  summedFigures,
  unsentOf,
} from '@webloom/core'
import { RUNS_MAX } from './run-records.ts'

export interface FileRunLogOptions {
  /** Where the spider's runs are kept; absent: nowhere. */
  readonly folder?: string | undefined
  /** JOBDIR of the crawl, if it has one: such a crawl may be resumed. */
  readonly jobDir?: string | undefined
  readonly stats: Pick<StatsCollector, 'snapshot'>
  readonly logger?: Logger
  /** Monitors compare runs with those before: without records they find nothing. Default: false. */
  readonly isCompared?: boolean
}

interface StoredRun extends Omit<RunSeen, 'alerts' | 'unsent'> {
  readonly form: number
  readonly writtenAt: string
  readonly process: { readonly host: string; readonly pid: number }
  readonly jobDir?: string
  readonly notes?: MonitorNotes
}

const FORM = 1
const WRITE_EVERY_MS = 10_000
/** A process that has not written its run for so long is not there any more. */
const SILENT_MS_MAX = 60_000
const FILE_NAME = /^[\w.-]+\.json$/

export class FileRunLog implements RunLog {
  readonly #options: FileRunLogOptions
  readonly #logger: Logger
  #run: { readonly id: string; readonly begunAt: string; readonly sinceMs: number } | undefined
  /** Of the run before it was resumed. */
  #before: RunFigures | undefined
  #mayMiss: RunSeen['mayMiss']
  #end: { readonly state: RunSeen['state']; readonly reason: string; readonly at: string } | undefined
  #notes: MonitorNotes = NO_NOTES
  #writing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #isRefused = false

  constructor(options: FileRunLogOptions) {
    this.#options = options
    this.#logger = options.logger ?? silentLogger
  }

  /** @param isResumed the crawl goes on where an earlier process has left it */
  async begin(isResumed = false): Promise<void> {
    const earlier = isResumed ? await this.#resumed() : undefined
    const sinceMs = Date.now()
    if (earlier) {
      this.#run = { id: earlier.run, begunAt: earlier.begunAt, sinceMs }
      this.#before = figuresOf(earlier)
      this.#mayMiss = mayMissOf(earlier, sinceMs)
      this.#notes = earlier.notes ?? NO_NOTES
    } else {
      const begunAt = new Date(sinceMs).toISOString()
      this.#run = { id: `${begunAt.replaceAll(/[:.]/g, '-')}-${process.pid}`, begunAt, sinceMs }
    }
    await this.#write()
    if (this.#options.folder === undefined) return
    this.#timer = setInterval(() => void this.#write(), WRITE_EVERY_MS).unref()
    await forgetOldest(this.#options.folder)
  }

  /** Never rejects. */
  async ended(reason: string): Promise<void> {
    if (!this.#run) return
    clearInterval(this.#timer)
    const state = reason === 'finished' ? 'finished' : 'stopped'
    this.#end = { state, reason, at: new Date().toISOString() }
    await this.#write()
  }

  async look(): Promise<RunLook | undefined> {
    if (!this.#run) return undefined
    const { folder, stats } = this.#options
    const past = folder === undefined ? [] : await storedRuns(folder)
    return {
      run: seen(this.#stored()),
      past: past.map(pastRun).filter(({ run, state }) => run !== this.#run?.id && state !== 'running'),
      stats: stats.snapshot(),
      atMs: Date.now(),
      runningSinceMs: this.#run.sinceMs,
    }
  }

  async state(): Promise<RunState | undefined> {
    if (!this.#run) return undefined
    const end = this.#end
    return {
      run: this.#run.id,
      state: end?.state ?? 'running',
      ...(end && { endedAt: end.at, finishReason: end.reason }),
      isWhole: end !== undefined,
    }
  }

  async change<T>(
    run: string,
    change: (notes: MonitorNotes, nowMs: number) => readonly [MonitorNotes, T],
  ): Promise<T> {
    // Nobody else changes them: no other process has this run.
    const isOwn = run === this.#run?.id
    const [changed, result] = change(isOwn ? this.#notes : NO_NOTES, Date.now())
    if (isOwn && changed !== this.#notes) {
      this.#notes = changed
      await this.#write()
    }
    return result
  }

  async #resumed(): Promise<StoredRun | undefined> {
    const { folder, jobDir } = this.#options
    if (folder === undefined || jobDir === undefined) return undefined
    const runs = await storedRuns(folder)
    return runs.find((run) => run.jobDir === resolve(jobDir) && run.state !== 'finished')
  }

  #stored(): StoredRun {
    const { stats, jobDir } = this.#options
    const own = runFigures(stats.snapshot() as Record<string, StatValue>)
    return {
      form: FORM,
      run: this.#run!.id,
      state: this.#end?.state ?? 'running',
      begunAt: this.#run!.begunAt,
      ...(this.#end && { endedAt: this.#end.at, finishReason: this.#end.reason }),
      ...(this.#mayMiss && { mayMiss: this.#mayMiss }),
      ...(this.#before ? summedFigures(this.#before, own) : own),
      writtenAt: new Date().toISOString(),
      process: { host: hostname(), pid: process.pid },
      ...(jobDir !== undefined && { jobDir: resolve(jobDir) }),
      ...(this.#notes !== NO_NOTES && { notes: this.#notes }),
    }
  }

  /** One after another. A crawl without a record of its run is worth more than none: a folder that cannot be written is told once. */
  #write(): Promise<void> {
    const { folder } = this.#options
    if (folder === undefined) return Promise.resolve()
    this.#writing = this.#writing.then(async () => {
      try {
        await writeWhole(folder, `${this.#run!.id}.json`, `${JSON.stringify(this.#stored())}\n`)
      } catch (error) {
        if (!this.#isRefused) this.#tellRefused(folder, error as Error)
        this.#isRefused = true
      }
    })
    return this.#writing
  }

  #tellRefused(folder: string, { message: reason }: Error): void {
    const unrecorded = 'this run cannot be recorded for webloom runs'
    const wayOut = 'name a folder that can be written with RUNS_DIR'
    if (this.#options.isCompared)
      this.#logger.error(
        { folder, reason },
        `${unrecorded}, and its monitors compare runs with those before: no later run can be compared with it; ${wayOut}`,
      )
    else this.#logger.warn({ folder, reason }, `${unrecorded}; ${wayOut}`)
  }
}

/** The runs that are kept in a folder, the latest first. */
export async function readFileRuns(folder: string): Promise<RunSeen[]> {
  return (await storedRuns(folder)).map(seen)
}

/** Resolves to how many there were. */
export async function forgetFileRuns(folder: string): Promise<number> {
  const runs = await storedRuns(folder)
  await Promise.all(runs.map(({ run }) => rm(join(folder, `${run}.json`), { force: true })))
  return runs.length
}

async function writeWhole(folder: string, name: string, text: string): Promise<void> {
  makeFolder(folder)
  const half = join(folder, `.${name}-${randomUUID()}`)
  await writeFile(half, text)
  await rename(half, join(folder, name))
}

async function storedRuns(folder: string): Promise<StoredRun[]> {
  const names = await readdir(folder).catch(() => [] as string[])
  const runs = await Promise.all(
    names.filter((name) => FILE_NAME.test(name)).map((name) => stored(folder, name)),
  )
  return runs.flatMap((run) => run ?? []).sort((a, b) => (a.begunAt < b.begunAt ? 1 : -1))
}

/** Returns undefined for a run of another form, and for what is no run. */
async function stored(folder: string, name: string): Promise<StoredRun | undefined> {
  try {
    const run = JSON.parse(await readFile(join(folder, name), 'utf8')) as StoredRun
    return run.form === FORM && `${run.run}.json` === name ? run : undefined
  } catch {
    return undefined
  }
}

async function forgetOldest(folder: string): Promise<void> {
  const old = (await storedRuns(folder)).slice(RUNS_MAX)
  await Promise.all(old.map(({ run }) => rm(join(folder, `${run}.json`), { force: true })))
}

/** Of a process that was killed, what it did after it had written its run for the last time is not counted. */
function mayMissOf({ state, writtenAt, mayMiss }: StoredRun, nowMs: number): RunSeen['mayMiss'] {
  if (state !== 'running') return mayMiss
  const before = new Date(Math.min(Date.parse(writtenAt) + WRITE_EVERY_MS, nowMs)).toISOString()
  return { before, seconds: (mayMiss?.seconds ?? 0) + WRITE_EVERY_MS / 1000 }
}

function figuresOf(run: StoredRun): RunFigures {
  const {
    form,
    writtenAt,
    process,
    jobDir,
    notes,
    state,
    begunAt,
    endedAt,
    finishReason,
    mayMiss,
    run: id,
    ...figures
  } = run
  return figures
}

function seen(stored: StoredRun): RunSeen {
  const { form, writtenAt, process, jobDir, notes, ...run } = stored
  const unsent = notes ? unsentOf(notes) : []
  return {
    ...run,
    ...(run.state === 'running' && !isThere(stored) && { state: 'lost' as const }),
    ...(notes && notes.alerts.length > 0 && { alerts: notes.alerts }),
    ...(unsent.length > 0 && { unsent }),
  }
}

function pastRun(stored: StoredRun): PastRun {
  const worst = stored.notes?.worst
  return { ...seen(stored), ...(worst && { worst }) }
}

function isThere({ process: { host, pid }, writtenAt }: StoredRun): boolean {
  if (Date.now() - Date.parse(writtenAt) > SILENT_MS_MAX) return false
  if (host !== hostname()) return true
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
