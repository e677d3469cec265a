/**
 * The thread of a `LockKeeper` (lock-keeper.ts says why it exists). At rest it has loaded only what it needs then.
 *
 * It reads its messages when it looks at the clock, and not when they come: a worker has hundreds of turns a second.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { Redis } from 'ioredis'
import type { LockNews, LockThreadOptions, Renewal } from './lock-keeper.ts'

interface Kept extends Renewal {
  readonly locks: Map<string, readonly (string | number)[]>
}

const { redis: reached, blockedMsMax, times } = workerData as LockThreadOptions
const kept: Kept[] = []
let heardAtMs = performance.now()
let renewedAtMs = Number.NEGATIVE_INFINITY
let redis: Redis | undefined

while (true) {
  await sleep(times.lookEveryMs)
  hear()
  const silentMs = performance.now() - heardAtMs
  if (silentMs < times.lateMs) rest()
  else if (silentMs < blockedMsMax && performance.now() - renewedAtMs >= times.renewEveryMs) await standIn()
}

function hear(): void {
  for (let got = receiveMessageOnPort(parentPort!); got; got = receiveMessageOnPort(parentPort!)) {
    heardAtMs = performance.now()
    const { renewals, changes } = got.message as LockNews
    for (const renewal of renewals) kept.push({ ...renewal, locks: new Map() })
    for (const [number, id, args] of changes) {
      if (args) kept[number]!.locks.set(id, args)
      else kept[number]!.locks.delete(id)
    }
  }
}

function rest(): void {
  redis?.disconnect()
  redis = undefined
}

async function standIn(): Promise<void> {
  try {
    redis ??= await connection()
    await Promise.all(kept.filter(({ locks }) => locks.size > 0).map((one) => renew(redis!, one)))
    renewedAtMs = performance.now()
  } catch (error) {
    parentPort!.postMessage((error as Error).message)
  }
}

/** Ignores what the script answers: the main thread renews, and reads the answer, as soon as it can. */
async function renew(on: Redis, { lua, keys, args, locks }: Kept): Promise<void> {
  await on.eval(lua, keys.length, ...keys, ...args, ...[...locks.values()].flat())
}

async function connection(): Promise<Redis> {
  const [{ newRedisClient }, ioredis] = await Promise.all([import('@webloom/core'), import('ioredis')])
  const opened = newRedisClient(ioredis, reached, { commandTimeout: times.answerMsMax })
  opened.on('error', () => {}) // The commands that fail reject, too.
  return opened
}
