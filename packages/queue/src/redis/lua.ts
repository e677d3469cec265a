import { luaScriptsIn } from '@webloom/core'

/** Returns a script that is made of files of `lua/`, each named by room and file. */
export const luaScript = luaScriptsIn(new URL('../../lua/', import.meta.url))
