import type { Redis } from 'ioredis'

// They hold up all commands behind them until something comes.
const BLOCKING = [
  'blpop',
  'brpop',
  'blmove',
  'blmpop',
  'brpoplpush',
  'bzpopmin',
  'bzpopmax',
  'bzmpop',
] as const

/**
 * Refuses, on a connection that a whole crawl shares, what one component's call would do to all others: a blocking command, another
 * database, the end of the connection. Such a call rejects; `duplicate()` gives a connection that takes them all.
 */
export function refuseWhatStopsOthers(client: Redis, db: number): void {
  const refuse = (method: string, why: string) => () =>
    Promise.reject(
      new Error(
        `${method.toUpperCase()} ${why}, and the whole crawl shares this connection. Use redis(role).duplicate(), which you close yourself`,
      ),
    )
  const own: Record<string, unknown> = {
    quit: refuse('quit', 'ends the connection'),
    // ioredis itself selects the database anew after each reconnect.
    select: (wanted: number | string, ...rest: unknown[]) =>
      Number(wanted) === db
        ? (Object.getPrototypeOf(client) as { select(...given: unknown[]): unknown }).select.call(
            client,
            wanted,
            ...rest,
          )
        : refuse('select', 'leads to another database')(),
  }
  for (const method of BLOCKING) own[method] = refuse(method, 'waits for what may never come')
  Object.assign(client, own)
}
