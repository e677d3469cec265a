import type sqliteModule from 'node:sqlite'

type Sqlite = typeof sqliteModule

/**
 * Returns Node's own SQLite, which Node loads when a crawl first needs it. Node 22 warns that it is experimental; that one warning is
 * suppressed, as a user can do nothing about it.
 */
export function sqlite(): Sqlite {
  return withoutItsWarning(() => process.getBuiltinModule('node:sqlite'))
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
