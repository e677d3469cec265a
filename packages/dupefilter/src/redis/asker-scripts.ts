/** The scripts of the asker protocol. Each runs Lua of the filter's own store, too: see `RedisDupeFilter`. */

import type { RedisScript } from '@webloom/core'
import { luaScript } from './redis-script.ts'

type StoreFiles = readonly (string | URL)[]

/** Asks about requests, and tells which askers are settled. @param isPart of a filter, whose other parts may have been asked */
export function askScriptOf(storeFiles: StoreFiles, isPart: boolean): RedisScript {
  return luaScript(
    'redis/owners.lua',
    ...storeFiles,
    'redis/settle.lua',
    ...(isPart ? ['parts/elsewhere.lua'] : []),
    'redis/clean.lua',
    'redis/heard.lua',
    'redis/holders.lua',
    'redis/hold.lua',
    'redis/question.lua',
    'redis/ask.lua',
  )
}

/** Forgets one request, in a store that can. */
export function eraseScriptOf(storeFiles: StoreFiles): RedisScript {
  return luaScript('redis/owners.lua', ...storeFiles, 'redis/forget.lua')
}

/** Ends what a crawl has left of its askers. */
export function leaveScriptOf(storeFiles: StoreFiles): RedisScript {
  return luaScript('redis/owners.lua', ...storeFiles, 'redis/settle.lua', 'redis/leave.lua')
}

/** Says that askers are not stale. */
export const keepScript = luaScript('redis/owners.lua', 'redis/keep.lua')
