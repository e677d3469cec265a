/**
 * A worker is tried before its run is begun, and before a schedule is kept, in a process of its own: whatever an author's components do there
 * ends that process alone, and one that hangs is given up.
 *
 * It is started as the worker would be, and knows by its environment that it is a trial.
 */

import { fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { UsageError, valueShown } from '@webloom/core'
import { EXIT } from '../exit-codes.ts'
import { LOADING_MS_MAX } from '../loading/loaded-in-time.ts'
import { LEAN_MALLOC, tellRefused, type WorkerProcessOptions, type WorkerWord } from './worker-process.ts'

const VARIABLE = 'WEBLOOM_TRIAL'
/** What a process says whose worker would begin. */
const TRIED = 'tried'
/** What components began as they were made may fail a moment later, as a connection does that nobody takes. */
const SETTLE_MS = 200
/** Of standard error, where a process that died has said why. */
const TAIL_CHARS = 4000
/** Whoever ends our process ends all of its group: that is no word about the worker. */
const ENDING: readonly (NodeJS.Signals | null)[] = ['SIGINT', 'SIGTERM']

/** It was ended from outside before it could tell. */
export class TrialEnded extends Error {}

export interface TrialOptions extends Pick<WorkerProcessOptions, 'program' | 'argv' | 'env'> {
  readonly timeoutMs: number
}

/** Rejects with what the worker would refuse, or with how it died or hung; with `TrialEnded` when somebody has ended it. */
export async function tryInProcess({ program, argv, env, timeoutMs }: TrialOptions): Promise<void> {
  const child = fork(program, argv, {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    detached: true,
    env: { ...LEAN_MALLOC, ...process.env, ...env, [VARIABLE]: String(process.pid) },
  })
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  let [tail, isTried, isLate] = ['', false, false]
  let refused: Extract<WorkerWord, { refused: string }> | undefined
  const timer = setTimeout(() => {
    isLate = true
    kill()
  }, timeoutMs)
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-TAIL_CHARS)
  })
  child.on('message', (word: WorkerWord | typeof TRIED) => {
    if (word === TRIED) isTried = true
    else if (typeof word === 'object' && 'refused' in word) refused = word
  })
  const {
    promise: closed,
    resolve,
    reject,
  } = Promise.withResolvers<readonly [number | null, NodeJS.Signals | null]>()
  child.on('error', reject).on('close', (code, signal) => resolve([code, signal]))
  try {
    const [code, signal] = await closed
    if (isTried) return
    if (refused) throw new UsageError(refused.code ?? 'WL_USAGE', refused.refused)
    if (isLate)
      throw new UsageError(
        'WL_COMPONENT_LOAD',
        `a worker of it was tried, and was not ready after ${timeoutMs / 1000} s: the spider’s file or one of its components waits for something that does not come, such as a connection, or loops for ever`,
      )
    if (ENDING.includes(signal)) throw new TrialEnded(`the trial was ended by ${signal}`)
    throw new UsageError(
      'WL_COMPONENT_LOAD',
      `a worker of it was tried, and its process ended (${signal ?? `exit code ${code}`})${saidBy(tail)}`,
    )
  } finally {
    clearTimeout(timer)
    process.off('exit', kill)
  }
}

/** Where it stands in a stack, the line of the error. */
function saidBy(tail: string): string {
  // So says `main` of what has ended the process with 0.
  if (tail.includes('ended unfinished'))
    return ', as by process.exit() in the spider’s file or in one of its components'
  const lines = tail.split('\n').filter((line) => line.trim() !== '')
  const line = lines.find((one) => /^(webloom: |\w*Error\b)/.test(one)) ?? lines.at(-1)
  return line === undefined ? '' : `: ${line.trim()}`
}

/** Returns, in the process of a trial, the id of the process that has begun it. Processes that it starts itself are none. */
export function trialOf(): number | undefined {
  const value = process.env[VARIABLE]
  delete process.env[VARIABLE]
  return value === undefined ? undefined : Number(value)
}

/** A thread's program: ends the process when the one that has begun it is gone, also while an author's code loops for ever. */
const WATCH = `const { parent, everyMs } = require('node:worker_threads').workerData
function isGone() {
  if (process.ppid !== parent) return true
  try {
    // Windows keeps the id of a parent that is gone.
    process.kill(parent, 0)
  } catch (error) {
    return error.code === 'ESRCH'
  }
  return false
}
setInterval(() => isGone() && process.kill(process.pid, 'SIGKILL'), everyMs)`
const LOOK_EVERY_MS = 500

/**
 * Does, in the process of a trial, what a worker does before it begins, and ends it.
 *
 * @param parent the id of the process that has begun it
 */
export async function tried(parent: number, act: () => Promise<void>): Promise<void> {
  const workerData = { parent, everyMs: LOOK_EVERY_MS }
  new Worker(WATCH, { eval: true, execArgv: [], workerData }).unref()
  // Whoever ends the process that has begun it ends us by leaving.
  process.on('disconnect', () => process.exit(EXIT.terminated))
  process.on('SIGINT', () => {}).on('SIGTERM', () => {})
  const refuse = (what: string) => (error: unknown) => {
    const reason = error instanceof Error ? error.message || error.name : valueShown(error)
    tellRefused(
      `${what}: ${reason}. It would end the worker. Await it, or catch what it throws`,
      'WL_COMPONENT_LOAD',
    )
    process.exit(EXIT.usage)
  }
  process.on(
    'unhandledRejection',
    refuse('as the worker was made, a promise that no code awaits was rejected'),
  )
  process.on(
    'uncaughtException',
    refuse('as the worker was made, an error was thrown outside of any callback'),
  )
  await act()
  await sleep(SETTLE_MS)
  await new Promise((resolve) => process.send?.(TRIED, undefined, {}, resolve))
  // Whatever components have left open.
  process.exit(EXIT.finished)
}

/** Returns how long a trial may take. */
export function trialMs(componentTimeoutMs: number): number {
  return Math.min(componentTimeoutMs, LOADING_MS_MAX)
}
