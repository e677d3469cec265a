/** The script that brings pages which are due into their lines. */

import type { QueueOrder } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { JobChanges } from '../../frontier/turn-protocol.ts'
import { luaScript } from '../../redis/lua.ts'
import { entryArguments } from '../../visits/read-entries.ts'
import type { DuePart } from './placed-lines.ts'
import { type Argument, type JobChangesReply, jobChangesOf } from './turn-wire.ts'

const dueScript = luaScript(
  'slots/clock.lua',
  'slots/keys.lua',
  'slots/wake.lua',
  'slots/short-line.lua',
  'slots/lines.lua',
  'slots/record.lua',
  'slots/ready.lua',
  'slots/late.lua',
  'failures/crawl-ended.lua',
  'visits/wheel.lua',
  'visits/fates.lua',
  'visits/take-off.lua',
  'visits/queue-due.lua',
)

/** Resolves to how many pages were queued; to `ended` when the crawl has ended, and nothing was done. */
export async function queueDue(
  redis: Redis,
  [keys, order]: readonly [keys: readonly string[], order: QueueOrder],
  { span, parts, groups }: DuePart,
): Promise<(JobChanges & { queued: number }) | 'ended'> {
  const args: Argument[] = [span, ...entryArguments({ parts }), groups.length]
  for (const { bucket, slot, priority, requests } of groups) {
    args.push(bucket, slot, priority, requests.length)
    for (const { name, text } of requests) args.push(name, text)
  }
  const reply = (await dueScript.run(redis, keys, [order, ...args])) as [number, ...JobChangesReply] | number
  if (typeof reply === 'number') return 'ended'
  const [queued, ...jobChanges] = reply
  return { queued, ...jobChangesOf(jobChanges) }
}
