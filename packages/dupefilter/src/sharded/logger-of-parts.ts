import type { Logger } from '@webloom/core'

/** So long a line about one part says it for all. */
const SAID_FOR_MS = 60_000

/** Returns a logger for all parts of one filter: what each of them says of itself at about the same time is written once. */
export function loggerOfParts(logger: Logger): Logger {
  const saidAt = new Map<string, number>()
  const once =
    (level: 'info' | 'warn' | 'error') =>
    (...line: unknown[]): void => {
      const text = String(line.findLast((one) => typeof one === 'string')).replace(NUMBER, '#…')
      const before = saidAt.get(`${level} ${text}`) ?? Number.NEGATIVE_INFINITY
      if (performance.now() - before < SAID_FOR_MS) return
      saidAt.set(`${level} ${text}`, performance.now())
      ;(logger[level] as (...line: unknown[]) => void)(...line)
    }
  return {
    debug: logger.debug.bind(logger),
    ...{ info: once('info'), warn: once('warn'), error: once('error') },
    child: (bindings) => loggerOfParts(logger.child(bindings)),
  }
}

const NUMBER = /#\d{2,}/g
