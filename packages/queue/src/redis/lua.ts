import { luaScriptsIn } from '@webloom/core'

/** A script made of files of `lua/`, each by its room and name. */
export const luaScript = luaScriptsIn(new URL('../../lua/', import.meta.url))
