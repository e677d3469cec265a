import type sqliteModule from 'node:sqlite'

type Sqlite = typeof sqliteModule

let loaded: Sqlite | undefined

/**
 * Loads Node's own SQLite, when a crawl first needs it. Node 22 warns that it is experimental; that one warning is
 * suppressed, as a user can do nothing about it.
 */
export function sqlite(): Sqlite {
  loaded ??= withoutItsWarning(() => process.getBuiltinModule('node:sqlite'))
  return loaded
}

function withoutItsWarning<T>(load: () => T): T {
  const { emitWarning } = process
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    if (!/SQLite is an experimental feature/.test(String(warning))) emitWarning(warning, ...rest)
  }) as typeof process.emitWarning
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}
