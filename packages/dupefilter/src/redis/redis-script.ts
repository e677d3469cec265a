import { luaScriptsIn } from '@webloom/core'
import type { Cluster, Redis } from 'ioredis'

/** A connection that its owner opened and will close. */
export type RedisConnection = Redis | Cluster

/** What a script on Redis takes as an argument. */
export type RedisArgument = string | number | Buffer

/** A script made of files of `lua/`, each by its folder and name. */
export const luaScript = luaScriptsIn(new URL('../../lua/', import.meta.url))
