/** Which files of `lua/` each script of buckets is made of. */

import { luaScript } from '../../redis/lua.ts'

const KEYS = ['slots/clock.lua', 'slots/keys.lua'] as const
const BASE = [
  ...KEYS,
  'slots/wake.lua',
  'slots/short-line.lua',
  'slots/lines.lua',
  'slots/record.lua',
  'slots/ready.lua',
  'slots/late.lua',
] as const
const TURN = [
  ...BASE,
  'slots/close.lua',
  'leasing/quarantine.lua',
  'buckets/steps/flight.lua',
  'buckets/steps/unit-status.lua',
] as const
const SAYING = [
  ...TURN,
  'buckets/steps/command.lua',
  'slots/news.lua',
  'buckets/steps/return-slot.lua',
  'buckets/steps/take.lua',
] as const
/** The answer to a push, and with what is written for other shards. */
const PUSHED = 'buckets/steps/pushed.lua'
const SHARD_PUSHED = 'outbox/pushed.lua'
const DOUBTED = 'buckets/steps/doubted.lua'
const SHARD_DOUBTED = 'outbox/doubted.lua'
const OUTBOX = ['outbox/stirs.lua', 'outbox/send.lua', 'outbox/append.lua'] as const
const DOUBTS = ['leasing/quarantine.lua', 'leasing/doubts.lua', 'leasing/doubts-end.lua'] as const
const FAILURES = ['failures/ledger.lua', 'failures/take.lua', 'failures/crawl-ended.lua'] as const
const WHEEL = ['visits/wheel.lua', 'visits/put-on.lua', 'visits/keep.lua'] as const
const ENDING = ['leasing/doubts.lua', 'failures/ledger.lua', 'buckets/steps/ended.lua'] as const
const RECLAIM = ['buckets/steps/blame.lua', 'buckets/steps/reclaim.lua'] as const

const pushScript = luaScript(
  ...BASE,
  'leasing/doubts.lua',
  'buckets/steps/command.lua',
  'buckets/push.lua',
  PUSHED,
)
const shardPushScript = luaScript(
  ...BASE,
  ...OUTBOX,
  'outbox/full-push.lua',
  'leasing/doubts.lua',
  'buckets/steps/command.lua',
  'buckets/push.lua',
  SHARD_PUSHED,
)
const endDoubtsScript = luaScript(...BASE, ...DOUBTS, 'buckets/doubts.lua', DOUBTED)
const shardEndDoubtsScript = luaScript(...BASE, ...OUTBOX, ...DOUBTS, 'buckets/doubts.lua', SHARD_DOUBTED)
const failedScript = luaScript(...BASE, ...FAILURES, 'buckets/failed.lua', DOUBTED)
const shardFailedScript = luaScript(...BASE, ...OUTBOX, ...FAILURES, 'buckets/failed.lua', SHARD_DOUBTED)
export const beginScript = luaScript(...TURN, ...RECLAIM, 'buckets/begin.lua')
const exchangeScript = luaScript(
  ...SAYING,
  ...ENDING,
  'buckets/steps/leave.lua',
  'buckets/exchange.lua',
  'buckets/steps/reply.lua',
)
const revisitingExchangeScript = luaScript(
  ...SAYING,
  ...WHEEL,
  ...ENDING,
  'buckets/steps/leave.lua',
  'buckets/exchange.lua',
  'buckets/steps/reply.lua',
)
const shardExchangeScript = luaScript(
  ...SAYING,
  ...OUTBOX,
  ...ENDING,
  'buckets/steps/leave.lua',
  'outbox/full.lua',
  'buckets/exchange.lua',
  'outbox/reply.lua',
)
const sweepScript = luaScript(...KEYS, 'buckets/steps/rests.lua', 'buckets/sweep.lua')
const shardSweepScript = luaScript(...KEYS, 'outbox/rests.lua', 'buckets/sweep.lua')
/** Those that differ where a crawl has several shards: what goes on in another one goes to the outbox. */
export const ONE_SHARD = {
  push: pushScript,
  endDoubts: endDoubtsScript,
  failed: failedScript,
  exchange: exchangeScript,
  sweep: sweepScript,
}
/** A crawl that comes back to its pages (RECRAWL) has its visits recorded, too. */
export const REVISITING = { ...ONE_SHARD, exchange: revisitingExchangeScript }
export const OF_SEVERAL = {
  push: shardPushScript,
  endDoubts: shardEndDoubtsScript,
  failed: shardFailedScript,
  exchange: shardExchangeScript,
  sweep: shardSweepScript,
}
export const renewScript = luaScript(
  ...BASE,
  'leasing/quarantine.lua',
  'buckets/steps/flight.lua',
  ...RECLAIM,
  'buckets/steps/command.lua',
  'buckets/renew.lua',
)
export const settleScript = luaScript(...KEYS, 'buckets/settle.lua')
export const aloneScript = luaScript(...KEYS, 'buckets/alone.lua')
export const watchScript = luaScript(...KEYS, 'buckets/watch.lua')
export const countsScript = luaScript(...KEYS, 'buckets/counts.lua')
export const inFlightScript = luaScript(...KEYS, 'buckets/in-flight.lua')
export const steerScript = luaScript(...BASE, 'slots/steer.lua')
export const nudgeScript = luaScript(...KEYS, 'buckets/nudge.lua')
export const clearScript = luaScript(...KEYS, 'slots/wake.lua', 'buckets/steps/drop.lua', 'buckets/clear.lua')
export const tidyScript = luaScript(...KEYS, 'slots/wake.lua', 'buckets/steps/drop.lua', 'buckets/tidy.lua')
