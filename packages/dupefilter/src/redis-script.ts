import { readFileSync } from 'node:fs'
import { RedisScript } from '@webloom/core'
import type { Cluster, Redis } from 'ioredis'

/** A connection that its owner opened and will close. */
export type RedisConnection = Redis | Cluster

export type RedisArgument = string | number | Buffer

/** A script made of one or more files of `lua/`, one behind the other: Redis has no include. */
export function luaScript(...files: readonly string[]): RedisScript {
  return new RedisScript(
    files.map((file) => readFileSync(new URL(`../lua/${file}`, import.meta.url), 'utf8')).join(''),
  )
}
