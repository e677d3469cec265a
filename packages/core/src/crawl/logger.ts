/**
 * Where a crawl's words go. pino fits this shape; core itself writes nowhere.
 * Fields come first, as pino has it: `logger.warn({ url, attempt }, 'gave up')`.
 */
export interface Logger {
  /** What only somebody wants to know who looks for a fault. */
  debug(message: string): void
  debug(fields: object, message: string): void
  /** What happens in a crawl that is well. */
  info(message: string): void
  info(fields: object, message: string): void
  /** What its owner should see to; the crawl goes on. */
  warn(message: string): void
  warn(fields: object, message: string): void
  /** What is lost or has failed. */
  error(message: string): void
  error(fields: object, message: string): void
  /** A logger that adds `bindings` to each line. */
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

/** Scrapy's level names (`WARNING`) in any case, as names of `Logger`'s methods; `fallback` for a word that is none. */
export function logLevel(name: string, fallback: LogLevel = 'info'): LogLevel {
  return LEVELS[name.toUpperCase()] ?? fallback
}

/** A logger that says nothing: for tests and for `crawl()` without one. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
}
