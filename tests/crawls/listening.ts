import type { Logger } from 'webloom/ports'

/** A logger that keeps the warnings. */
export function listening() {
  const warnings: string[] = []
  const logger: Logger = {
    debug() {},
    info() {},
    warn: (first: object | string, message?: string) =>
      void warnings.push(typeof first === 'string' ? first : (message ?? '')),
    error() {},
    child: () => logger,
  }
  return { logger, warnings }
}

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: string
}

/** A logger that tells each line. */
export function listeningTo(onLine: (line: LogLine) => void): Logger {
  const at = (level: LogLine['level']) => (first: object | string, message?: string) =>
    onLine(
      typeof first === 'string'
        ? { level, fields: {}, message: first }
        : { level, fields: { ...first }, message: message ?? '' },
    )
  const logger: Logger = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => logger,
  }
  return logger
}
