/** What a Redis server has used so far, by its own account. */

import type { RedisServer } from '@webloom/testkit'

export interface RedisUse {
  /** CPU time of the main thread, which serves every command, in microseconds. */
  readonly micros: number
  readonly bytes: number
  /** Scripts run. */
  readonly scripts: number
  /** Entries added to streams, by scripts or not: BullMQ's events. */
  readonly streamEntries: number
}

export async function redisUse(server: RedisServer): Promise<RedisUse> {
  const info = String(await server.command('INFO', 'everything'))
  const number = (field: RegExp) => Number(field.exec(info)?.[1] ?? 0)
  const user = number(/^used_cpu_user_main_thread:([\d.]+)/m)
  const system = number(/^used_cpu_sys_main_thread:([\d.]+)/m)
  return {
    micros: (user + system) * 1e6,
    bytes: number(/^used_memory:(\d+)/m),
    scripts: number(/^cmdstat_evalsha:calls=(\d+)/m),
    streamEntries: number(/^cmdstat_xadd:calls=(\d+)/m),
  }
}
