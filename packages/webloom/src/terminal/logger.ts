/**
 * The log of a command: pino, with Scrapy's level names, written at once.
 *
 * pino forms each line as JSON; on a terminal that is read back and written for people. So both forms say the same, and
 * a line below the level costs an empty function call.
 */

import { openSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Logger, makeFolder, type StatsCollector, UsageError, withoutTextSecrets } from '@webloom/core'
import { type LogFn, type Logger as PinoLogger, pino, stdSerializers, stdTimeFunctions } from 'pino'
import { colorWanted, painter } from './color.ts'
import { type LogRecord, prettyLine } from './log-line.ts'
import { typedHints } from './resume-line.ts'
import { visibleJson } from './sanitize.ts'
import { Screen, type ScreenStream, type TextSink } from './screen.ts'
import { SyncWriter } from './sync-writer.ts'
import { ToldOnce } from './told-once.ts'

/** A file for the log: LOG_FILE and LOG_FILE_APPEND. */
export interface LogFile {
  readonly path: string
  /** Default true. */
  readonly append?: boolean
}

export interface LoggerOptions {
  /** LOG_LEVEL: DEBUG, INFO, WARNING, ERROR or CRITICAL. Default INFO. */
  readonly level?: string
  /** LOG_FORMAT. `auto` (default): pretty on a terminal, else JSON. */
  readonly format?: 'auto' | 'pretty' | 'json'
  /** Where lines go. Give the Screen that shows the progress block, so that both share the terminal. Default stderr. */
  readonly destination?: Screen | ScreenStream | LogFile
  /** Counts `log_count/<LEVEL>` for each line at or above the level, and for each at WARNING or above, whatever the level: monitors judge by it. */
  readonly stats?: StatsCollector
  /** Default: whether the destination is a terminal. */
  readonly isTty?: boolean
  /** Default: what FORCE_COLOR, NO_COLOR and the terminal ask for. */
  readonly color?: boolean
  /** LOG_ENABLED. Off: lines are counted and not written. */
  readonly enabled?: boolean
}

export function createLogger(options: LoggerOptions = {}): Logger {
  const { stats, enabled = true } = options
  const level = LEVELS[(options.level ?? 'INFO').toUpperCase()] ?? 'info'
  const leastWritten = pino.levels.values[level]!
  const form = formOf(options)
  const once = new ToldOnce()
  return pino(
    {
      // Of a line below it pino does not tell the hook.
      level: leastWritten > WARNING ? 'warn' : level,
      timestamp: form.isPretty ? stdTimeFunctions.epochTime : stdTimeFunctions.isoTime,
      formatters: { level: (_, number) => ({ level: SCRAPY_NAMES[number] ?? 'INFO' }), log: lineFields },
      // A serialised error must not be taken for an error once more, as pino's own serialiser of `err` would.
      serializers: { err: (value: unknown) => value },
      hooks: {
        logMethod(args, method, number) {
          stats?.inc(`log_count/${SCRAPY_NAMES[number] ?? 'INFO'}`)
          if (enabled && number >= leastWritten) method.apply(this, toldAsTyped(once.of(args, number)))
        },
      },
    },
    enabled ? form : { write() {} },
  ) satisfies PinoLogger as Logger
}

/** The arguments of a log call; its message has the lines as they are to be typed here. */
function toldAsTyped(args: readonly unknown[]): Parameters<LogFn> {
  return args.map((arg) => (typeof arg === 'string' ? typedHints(arg) : arg)) as Parameters<LogFn>
}

const LEVELS: Readonly<Record<string, string>> = {
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  WARNING: 'warn',
  ERROR: 'error',
  CRITICAL: 'fatal',
  FATAL: 'fatal',
}

const WARNING = 40

const SCRAPY_NAMES: Readonly<Record<number, string>> = {
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARNING',
  50: 'ERROR',
  60: 'CRITICAL',
}

const OWN_FIELDS = new Set(['level', 'time', 'msg', 'pid', 'hostname'])

/**
 * The fields of a line as JSON can hold them: an item with a field `time` or `level` must not change those of its line,
 * and an error is an error under any name.
 */
function lineFields(fields: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(fields)
  if (!entries.some(([name, value]) => OWN_FIELDS.has(name) || value instanceof Error)) return fields
  return Object.fromEntries(
    entries.map(([name, value]) => [
      OWN_FIELDS.has(name) ? `${name}_` : name,
      value instanceof Error ? errorFields(value) : value,
    ]),
  )
}

/** A logger never throws, whatever a library has made of an error. */
function errorFields(error: Error): object {
  try {
    return withoutSecrets(stdSerializers.err(error))
  } catch {
    return { type: 'Error', message: 'an error that cannot be read', stack: '' }
  }
}

/**
 * Hides what looks like a secret in an error's text, and what a command was sent with: it may be a password, or a request whole. Errors of
 * Redis have it as a field, and errors lie within errors. Changes what pino has made.
 */
function withoutSecrets(fields: Record<string, unknown>): object {
  const { message, stack } = fields
  // The message, in which those of its causes are, is short; the stack is not, and has the same texts.
  const shown = typeof message === 'string' ? withoutTextSecrets(message) : message
  if (shown !== message) fields.message = shown
  if (shown !== message && typeof stack === 'string') fields.stack = withoutTextSecrets(stack)
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value !== 'object' || value === null) continue
    if (name === 'command' && 'args' in value) fields[name] = { ...value, args: [] }
    const isOfPino = Object.getPrototypeOf(value) === Object.getPrototypeOf(fields)
    if (isOfPino) withoutSecrets(value as Record<string, unknown>)
  }
  return fields
}

/** Where pino writes its lines, and in which form they go on. */
interface LineForm extends TextSink {
  readonly isPretty: boolean
}

function formOf({
  destination = process.stderr,
  format = 'auto',
  stats,
  ...options
}: LoggerOptions): LineForm {
  const sink = countingSink(sinkOf(destination), stats)
  const isTty = options.isTty ?? sink.isTty
  const isPretty = format === 'pretty' || (format === 'auto' && isTty)
  if (!isPretty) return { isPretty, write: (line) => sink.write(visibleJson(line)) }
  const paint = painter(options.color ?? colorWanted(isTty))
  return { isPretty, write: (line) => sink.write(prettyLine(JSON.parse(line) as LogRecord, paint)) }
}

interface LineSink extends TextSink {
  readonly isTty: boolean
  readonly unwrittenCount: number
}

/** Lines that got lost cannot be logged; they are counted instead. */
function countingSink(sink: LineSink, stats: StatsCollector | undefined): Omit<LineSink, 'unwrittenCount'> {
  const write = (line: string) => {
    const before = sink.unwrittenCount
    sink.write(line)
    if (sink.unwrittenCount > before) stats?.inc('log_count/unwritten', sink.unwrittenCount - before)
  }
  return { isTty: sink.isTty, write }
}

function sinkOf(destination: Screen | ScreenStream | LogFile): LineSink {
  if (destination instanceof Screen) return destination
  if (!('path' in destination)) return new Screen(destination)
  return new SyncWriter(openLogFile(destination))
}

/** Stays open until the process ends, so that its last words are in it. */
function openLogFile({ path, append = true }: LogFile): number {
  try {
    makeFolder(dirname(path))
    return openSync(path, append ? 'a' : 'w')
  } catch (error) {
    const reason = (error as Error).message
    throw new UsageError('WL_OUTPUT_UNWRITABLE', `LOG_FILE ${path} cannot be written: ${reason}`, {
      cause: error,
    })
  }
}
