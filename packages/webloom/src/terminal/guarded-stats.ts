import type { Logger, StatsCollector } from '@webloom/core'

/** What a method that failed answers in place of it. */
const INSTEAD: Readonly<Record<keyof StatsCollector, unknown>> = {
  inc: undefined,
  set: undefined,
  max: undefined,
  min: undefined,
  get: undefined,
  snapshot: {},
  clear: undefined,
}

/**
 * Keeps a STATS_CLASS of the user's own from ending the crawl: what one of its methods throws, or a Promise that it answers, is told
 * once for that method, and the crawl goes on with what is counted.
 *
 * The log itself is counted. So a failure is noted as told before it is logged: a collector that fails at each log line would otherwise
 * bring about the next one, for ever. The guard stands before the methods of the collector itself, as components may know its class.
 *
 * @returns to be called with the logger, which is made after the collector; what failed before is told then
 */
export function guardStats(own: StatsCollector): (logger: Logger) => void {
  const told = new Set<string>()
  const early: [error: unknown, text: string][] = []
  let tell = (error: unknown, text: string): void => void early.push([error, text])

  const failed = (method: string, error: unknown): void => {
    if (told.has(method)) return
    told.add(method)
    const name = `STATS_CLASS ${own.constructor.name}`
    const text =
      error instanceof Answered
        ? `${name}: ${method}() answered a Promise; nothing waits for it. Count at once, and write what takes time elsewhere`
        : `${name}: ${method}() failed; the crawl goes on without what it should have counted. This is told once`
    tell(error, text)
  }

  for (const [method, instead] of Object.entries(INSTEAD) as [keyof StatsCollector, unknown][]) {
    const ask = own[method] as (...given: unknown[]) => unknown
    const guarded = (...given: unknown[]): unknown => {
      try {
        const answer = ask.apply(own, given)
        if (!(answer instanceof Promise)) return answer
        failed(method, new Answered())
        answer.catch((error: unknown) => failed(`await ${method}`, error))
      } catch (error) {
        failed(method, error)
      }
      return instead
    }
    Object.defineProperty(own, method, { value: guarded, configurable: true, writable: true })
  }
  return (logger) => {
    tell = (error, text) =>
      error instanceof Answered ? logger.error(text) : logger.error({ err: error }, text)
    for (const [error, text] of early.splice(0)) tell(error, text)
  }
}

/** Thrown for a collector that returned a Promise: it threw nothing itself. */
class Answered {}
