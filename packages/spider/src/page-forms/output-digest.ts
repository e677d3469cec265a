/**
 * What a callback has yielded, in a few bytes, so that two runs can be compared.
 *
 * Not compared: the order; white space; whether a request was yielded twice; `meta` and headers of requests, which say how the page was
 * fetched; and moments close to now, as many items say when they were made.
 */

import { createHash } from 'node:crypto'
import type { Request } from '@webloom/core'
import type { CallbackOutput } from '../scraping/callback-output.ts'

// A deeper item cannot be written either.
const DEPTH_MAX = 100
// Longer than both runs, and than clocks differ.
const NOW_MS = 300_000
const MOMENT = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/

export function outputDigest({ items, requests }: CallbackOutput, nowMs = Date.now()): string {
  const digest = createHash('sha256')
  const written = (value: unknown) => JSON.stringify(comparable(value, nowMs, 0)) ?? ''
  for (const text of items.map(written).sort()) digest.update(`item ${text}\n`)
  const asked = new Set(requests.map((request) => written(whatIsAsked(request))))
  for (const text of [...asked].sort()) digest.update(`request ${text}\n`)
  return digest.digest('base64')
}

function whatIsAsked(request: Request): unknown[] {
  const { method, url, body, callback, errback, hasCbKwargs } = request
  return [
    method,
    url.replace(/#.*/s, ''),
    body,
    callback ?? null,
    errback ?? null,
    hasCbKwargs ? request.cbKwargs : {},
  ]
}

/** Returns JSON that is the same for values that count as the same. */
function comparable(value: unknown, nowMs: number, depth: number): unknown {
  if (typeof value === 'string') return comparableText(value, nowMs)
  if (typeof value === 'number') return isNow(value, nowMs) || isNow(value * 1000, nowMs) ? 'now' : value
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol')
    return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEPTH_MAX) return '…'
  const within = (part: unknown) => comparable(part, nowMs, depth + 1)
  if (ArrayBuffer.isView(value)) return createHash('sha256').update(bytesOf(value)).digest('base64')
  if (Array.isArray(value)) return value.map(within)
  if (value instanceof Set || value instanceof Map) return [...value].map(within)
  if ('toJSON' in value && typeof value.toJSON === 'function') return within(value.toJSON())
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(
    fields.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, field]) => [name, within(field)]),
  )
}

function comparableText(text: string, nowMs: number): string {
  if (MOMENT.test(text) && isNow(Date.parse(text), nowMs)) return 'now'
  return text.replaceAll(/\s+/g, ' ').trim()
}

function isNow(ms: number, nowMs: number): boolean {
  return Math.abs(ms - nowMs) < NOW_MS
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
