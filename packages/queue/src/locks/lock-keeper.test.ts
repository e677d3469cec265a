import { expect, test } from 'vitest'
import { redisOfFile } from '../../testing/redis-of-file.ts'
import { LockKeeper, type Renewal } from './lock-keeper.ts'

/** As long as locks last: the thread takes 2 s to notice a block, and on a busy machine some more to start and connect. */
const LOCK_MS = 6000
const BLOCKED_MS = 7500

const { server, redis } = await redisOfFile()

const renewal: Renewal = {
  lua: `for n = 2, #ARGV, 2 do
    if redis.call('GET', ARGV[n]) == ARGV[n + 1] then redis.call('PEXPIRE', ARGV[n], ARGV[1]) end
  end`,
  keys: [],
  args: [LOCK_MS],
}

test('while the event loop is blocked, what is kept stays; what has ended, is another’s or was kept for too long does not', async () => {
  const told: string[] = []
  const logger = { warn: (...said: unknown[]) => void told.push(String(said.at(-1))) } as never
  const { port } = new URL(server.url)
  const reached = { host: '127.0.0.1', port: Number(port) }
  const keeper = new LockKeeper({ redis: reached, blockedMsMax: 60_000, logger })
  const brief = new LockKeeper({ redis: reached, blockedMsMax: 1000 })
  const never = new LockKeeper({ redis: reached, blockedMsMax: 0 })
  for (const lock of ['kept', 'ended', 'another’s', 'brief', 'never']) {
    await redis.set(lock, 'mine', 'PX', LOCK_MS)
  }
  const locks = keeper.locks(renewal)
  locks.keep('ended', ['ended', 'mine'])
  locks.drop('ended')
  locks.keep('another’s', ['another’s', 'not mine'])
  locks.keep('kept', ['kept', 'mine'])
  brief.locks(renewal).keep('brief', ['brief', 'mine'])
  never.locks(renewal).keep('never', ['never', 'mine'])

  await Promise.resolve() // As a callback does that comes with what is kept.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCKED_MS)

  expect(await redis.keys('*')).toEqual(['kept'])
  await expect.poll(() => told).toEqual([expect.stringMatching(/ran for \d+\.\d s: a callback/)])
  await Promise.all([keeper, brief, never].map((one) => one.close()))
})
