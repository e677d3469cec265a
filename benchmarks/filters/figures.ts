/** What benchmarks of filters measure beside time. */

import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Redis } from 'ioredis'

/** CPU time of all threads of that Redis so far, microseconds. */
export async function redisCpuUs(redis: Redis): Promise<number> {
  const info = await redis.info('cpu')
  const seconds = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)![1])
  return (seconds('used_cpu_user') + seconds('used_cpu_sys')) * 1e6
}

/** Bytes that Redis takes. */
export async function usedMemory(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))![1])
}

/** Bytes that this process takes, without what is garbage. */
export async function usedHere(): Promise<number> {
  setFlagsFromString('--expose_gc')
  const collect = runInNewContext('gc') as () => void
  // What the last turns of the event loop still hold goes with the second one.
  for (let time = 0; time < 2; time++) {
    await eventLoopTurn()
    collect()
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

export function median(numbers: number[]): number {
  return numbers.sort((a, b) => a - b)[numbers.length >> 1]!
}
