/** All keys of a Redis as JSON that any server can take, whatever wrote it. A byte is a character, so that bitmaps stay whole. */

import { readFileSync, writeFileSync } from 'node:fs'
import type { Redis } from 'ioredis'

interface StoredKey {
  readonly type: string
  /** A string; the elements; or name and value (member and score, id and fields) by turns. */
  readonly value: unknown
  /** What was left of its lifetime. */
  readonly ttlMs?: number
}

interface StoredKeys {
  readonly keys: Readonly<Record<string, StoredKey>>
}

const OFF_MS = 3_600_000

const textOf = (bytes: Buffer) => bytes.toString('latin1')
const bytesOf = (text: unknown) => Buffer.from(String(text), 'latin1')
const textsOf = (values: readonly Buffer[]) => values.map(textOf)

export async function writeKeys(redis: Redis, path: string): Promise<void> {
  const keys: Record<string, StoredKey> = {}
  for (const key of (await redis.keys('*')).toSorted()) {
    const [type, ttlMs] = await Promise.all([redis.type(key), redis.pttl(key)])
    if (type === 'none') continue
    keys[key] = { type, value: await storedValue(redis, key, type), ...(ttlMs >= 0 && { ttlMs }) }
  }
  writeFileSync(path, `${linesOf({ keys })}\n`)
}

/** A key a line, so that a difference can be read. */
function linesOf({ keys }: StoredKeys): string {
  const lines = Object.entries(keys).map(
    ([key, stored]) => `${JSON.stringify(key)}: ${JSON.stringify(stored)}`,
  )
  return `{"keys": {\n${lines.join(',\n')}\n}}\n`
}

async function storedValue(redis: Redis, key: string, type: string): Promise<unknown> {
  switch (type) {
    case 'string':
      return textOf((await redis.getBuffer(key))!)
    case 'list':
      return textsOf(await redis.lrangeBuffer(key, 0, -1))
    case 'set':
      return textsOf(await redis.smembersBuffer(key)).toSorted()
    case 'zset':
      return textsOf(await redis.zrangeBuffer(key, 0, '-1', 'WITHSCORES'))
    case 'hash':
      return textsOf((await redis.callBuffer('HGETALL', key)) as Buffer[])
    case 'stream':
      return ((await redis.xrangeBuffer(key, '-', '+')) as [Buffer, Buffer[]][]).map(([id, fields]) => [
        textOf(id),
        textsOf(fields),
      ])
    default:
      throw new Error(`${key} is a ${type}, which redis-keys-file.ts does not know`)
  }
}

/**
 * What has a lifetime has it as after an hour in which the server was off: locks are gone, and marks of what had started, which go after a
 * week, are there whenever this is run. Moments that stand in values are those of the day on which they were written.
 */
export async function restoreKeys(redis: Redis, path: string): Promise<void> {
  const { keys } = JSON.parse(readFileSync(path, 'utf8')) as StoredKeys
  for (const [key, { type, value, ttlMs = Number.POSITIVE_INFINITY }] of Object.entries(keys)) {
    const leftMs = ttlMs - OFF_MS
    if (leftMs <= 0) continue
    await restore(redis, key, type, value)
    if (leftMs !== Number.POSITIVE_INFINITY) await redis.pexpire(key, leftMs)
  }
}

async function restore(redis: Redis, key: string, type: string, value: unknown): Promise<void> {
  if (type === 'string') await redis.set(key, bytesOf(value))
  else if (type === 'stream')
    for (const [id, fields] of value as [string, string[]][])
      await redis.xadd(key, id, ...fields.map(bytesOf))
  else {
    const values = (value as string[]).map(bytesOf)
    if (type === 'list') await redis.rpush(key, ...values)
    else if (type === 'set') await redis.sadd(key, ...values)
    else if (type === 'hash') await redis.hset(key, ...values)
    else for (let at = 0; at < values.length; at += 2) await redis.zadd(key, values[at + 1]!, values[at]!)
  }
}
