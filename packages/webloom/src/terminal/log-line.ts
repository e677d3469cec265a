/**
 * One log line for people: `14:03:07 INFO    crawled url=https://… status=200`, an error's stack below it.
 * All that comes from elsewhere is made visible first; only our own colours reach the terminal.
 */

import type { Paint, Style } from './color.ts'
import { visible, visibleLines } from './sanitize.ts'

/** What a line is made of: pino's JSON, read back. */
export interface LogRecord {
  readonly level: string
  /** Milliseconds since 1970. */
  readonly time: number
  readonly msg?: string
  readonly [field: string]: unknown
}

const LEVEL_STYLES: Readonly<Record<string, Style>> = {
  DEBUG: 'dim',
  INFO: 'green',
  WARNING: 'yellow',
  ERROR: 'red',
  CRITICAL: 'red',
}

// Of each process and line the same; in JSON they tell workers apart.
const NOT_SHOWN = new Set(['level', 'time', 'msg', 'pid', 'hostname', 'spider', 'crawl', 'worker'])
const LEVEL_WIDTH = 'CRITICAL'.length
// Longer values hide the rest of the log; JSON has them whole.
const VALUE_CHARS_MAX = 2_000

/** @param speaker which of several processes says it */
export function prettyLine(record: LogRecord, paint: Paint, speaker?: string): string {
  const { level, time, msg = '' } = record
  const name = paint(LEVEL_STYLES[level] ?? 'bold', level.padEnd(LEVEL_WIDTH))
  const by = speaker === undefined ? '' : ` ${paint('cyan', speaker)}`
  const head = `${paint('dim', clockTime(time))} ${name}${by}`
  const fields = Object.entries(record).filter(([name]) => !NOT_SHOWN.has(name))
  const stacks = fields.flatMap(([, value]) => stackOf(value) || [])
  const pairs = fields.map(([name, value]) => ` ${paint('dim', `${visible(name)}=`)}${shown(value)}`)
  return `${head} ${indented(msg)}${pairs.join('')}\n${stacks.map((stack) => `    ${indented(stack)}\n`).join('')}`
}

// A message of several lines stays one to the eye, and no page can fake a line of its own.
function indented(text: string): string {
  return visibleLines(text).replaceAll('\n', '\n    ')
}

/** A line as a process logs it in JSON; undefined for any other text. */
export function readRecord(line: string): LogRecord | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const { level, time, ...record } = JSON.parse(line) as Record<string, unknown>
    const ms = typeof time === 'string' ? Date.parse(time) : time
    if (typeof level !== 'string' || typeof ms !== 'number' || Number.isNaN(ms)) return undefined
    return { ...record, level, time: ms }
  } catch {
    return undefined
  }
}

function clockTime(time: number): string {
  const date = new Date(time)
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => `${part}`.padStart(2, '0'))
    .join(':')
}

function shown(value: unknown): string {
  if (stackOf(value) !== undefined) return visible(JSON.stringify((value as { message?: unknown }).message))
  const text = typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)
  return visible(text.length > VALUE_CHARS_MAX ? `${text.slice(0, VALUE_CHARS_MAX)}…` : text)
}

/** The stack of an error as pino writes it. */
function stackOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { stack, type } = value as { stack?: unknown; type?: unknown }
  return typeof stack === 'string' && typeof type === 'string' ? stack : undefined
}
