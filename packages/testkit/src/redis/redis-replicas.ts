/** Replicas at the start of a test. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { RedisServer } from './redis-server.ts'

const POLL_MS = 20

/**
 * Empties the master. Resolves when its replicas have heard of that: before, a replica that has just got all data is sent nothing more until it says so,
 * up to a second later, though it counts as one that follows; and what the master takes meanwhile is lost with it.
 *
 * @throws when that takes longer than `msMax`
 */
export async function untilFollowed(
  master: RedisServer,
  replicas: readonly RedisServer[],
  msMax: number,
): Promise<void> {
  const until = performance.now() + msMax
  while (!(await empties(master)) && performance.now() < until) await sleep(POLL_MS) // It says when it is asked.
  const wanted = await offsetOf(master, 'master_repl_offset')
  for (const replica of replicas)
    while (!((await offsetOf(replica, 'slave_repl_offset')) >= wanted)) {
      if (performance.now() > until)
        throw new Error(`a replica has not what its master has after ${msMax} ms`)
      await sleep(POLL_MS) // It tells nobody.
    }
}

/** One that is starved of time may have no replica that answered it within the last second. */
async function empties(master: RedisServer): Promise<boolean> {
  return master.command('FLUSHALL').then(
    () => true,
    () => false,
  )
}

async function offsetOf(server: RedisServer, name: string): Promise<number> {
  const info = String(await server.command('INFO', 'replication').catch(() => ''))
  return Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1])
}
