/**
 * Takes a crawl's log lines. pino has this shape; core itself writes nowhere. Fields come first, as in pino:
 * `logger.warn({ url, attempt }, 'gave up')`.
 */
export interface Logger {
  /** For readers who look for a fault. */
  debug(message: string): void
  debug(fields: object, message: string): void
  /** What happens in a healthy crawl. */
  info(message: string): void
  info(fields: object, message: string): void
  /** What the user should take care of; the crawl goes on. */
  warn(message: string): void
  warn(fields: object, message: string): void
  /** What was lost or has failed. */
  error(message: string): void
  error(fields: object, message: string): void
  /** Returns a logger that adds `bindings` to each line. */
  child(bindings: Record<string, unknown>): Logger
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

const LEVELS: Record<string, LogLevel> = {
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  WARNING: 'warn',
  ERROR: 'error',
  CRITICAL: 'error',
}

/** Returns the method of `Logger` for one of Scrapy's level names (`WARNING`) in any case; `fallback` for another word. */
export function logLevel(name: string, fallback: LogLevel = 'info'): LogLevel {
  return LEVELS[name.toUpperCase()] ?? fallback
}

/** A logger that writes nothing, for tests and for `crawl()` without one. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
}
