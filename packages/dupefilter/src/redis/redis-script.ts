import { luaScriptsIn } from '@webloom/core'
import type { Cluster, Redis } from 'ioredis'

/** A connection that its opener will close. */
export type RedisConnection = Redis | Cluster

/** An argument of a script on Redis. */
export type RedisArgument = string | number | Buffer

/** A script made of files of `lua/`, each by its folder and name. */
export const luaScript = luaScriptsIn(new URL('../../lua/', import.meta.url))
