/**
 * A request as scrapy-redis queues it: the dict of Scrapy's `Request.to_dict`, as a pickle or as JSON.
 *
 * Its values are only data: callbacks are names, and the class (`_class`: FormRequest, JsonRequest …) is ignored, as what
 * such a class does was done when the request was made.
 */

import { isUtf8 } from 'node:buffer'
import type { JsonValue } from '@webloom/url'
import { WebloomError } from '../errors/errors.ts'
import type { JsonObject } from '../requests/json.ts'
import { Request } from '../requests/request.ts'
import type { CookiesInit, RequestInit } from '../requests/request-parts.ts'
import { type PythonDict, type PythonValue, readPickle } from './read-pickle.ts'
import { distinctPickle, writePickle } from './write-pickle.ts'

export type ScrapySerializer = 'pickle' | 'json'
export const SCRAPY_SERIALIZERS: readonly ScrapySerializer[] = ['pickle', 'json']

/** The fields of the dict. Further fields of a user's own class cannot be taken over. */
const FIELDS = new Set([
  'url',
  'callback',
  'errback',
  'method',
  'headers',
  'body',
  'cookies',
  'meta',
  'encoding',
  '_encoding',
  'priority',
  'dont_filter',
  'flags',
  'cb_kwargs',
  '_class',
  'dumps_kwargs',
])
/** A deeper value is a mistake, or a list that holds itself. */
const DEPTH_MAX = 100
/** Bytes of one request, approximately. A pickle may refer to the same list or text any number of times. */
const SIZE_MAX = 32 * 1024 * 1024
const BYTES_PER_VALUE = 64

/** Returns the request, in whichever form it is. Throws WL_IMPORT_REFUSED with the field that cannot be taken over. */
export function decodeScrapyRequest(entry: Uint8Array): Request {
  const value = entry[0] === '{'.charCodeAt(0) ? fromJson(entry) : readPickle(entry)
  if (!(value instanceof Map)) throw refused('it is not a dict; expected the dict of a request')
  try {
    return requestOf(fieldsOf(value))
  } catch (error) {
    // The URL, method or header is one that no request can have.
    throw error instanceof WebloomError && error.code !== 'WL_IMPORT_REFUSED'
      ? refused(error.message, error)
      : error
  }
}

export interface EncodeScrapyOptions {
  readonly serializer?: ScrapySerializer
  /** Returns the callback's name in Scrapy. */
  readonly nameOf: (callback: string) => string
  /** Makes an entry differ from others with the same data: in a sorted set two equal entries would be one. */
  readonly ordinal?: number
}

/** Returns the request as `pickle.loads` and `request_from_dict` take it. */
export function encodeScrapyRequest(
  request: Request,
  { serializer = 'pickle', nameOf, ordinal }: EncodeScrapyOptions,
): Buffer {
  const isPickle = serializer === 'pickle'
  const bytes = (text: string) => (isPickle ? Buffer.from(text) : text)
  const named = (callback: Request['callback']) => (callback === null ? null : nameOf(String(callback)))
  const dict: PythonDict = new Map<PythonValue, PythonValue>([
    ['url', request.url],
    ['callback', named(request.callback)],
    ['errback', named(request.errback)],
    [
      'headers',
      new Map(
        Object.entries(request.headers.toJSON()).map(([name, values]) => [
          bytes(name),
          [values].flat().map(bytes),
        ]),
      ),
    ],
    ['method', request.method],
    ['body', isPickle ? request.body : bodyText(request)],
    ['cookies', pythonOf((request.cookies ?? {}) as JsonValue)],
    ['meta', pythonOf(request.meta)],
    ['encoding', request.encoding],
    ['priority', request.priority],
    ['dont_filter', request.dontFilter],
    ['flags', [...request.flags]],
    ['cb_kwargs', pythonOf(request.cbKwargs)],
  ])
  if (!isPickle) return Buffer.from(JSON.stringify(plainOf(dict, 'request')))
  return ordinal === undefined ? writePickle(dict) : distinctPickle(writePickle(dict), ordinal)
}

/** How many bytes of SIZE_MAX a request may still take. */
interface Room {
  bytes: number
}

function take(room: Room, bytes: number, where: string): void {
  room.bytes -= bytes
  if (room.bytes < 0) throw refused(`${where} is too large, or refers to the same value too often`)
}

function requestOf(fields: ReadonlyMap<string, PythonValue>): Request {
  const room: Room = { bytes: SIZE_MAX }
  const url = fields.get('url')
  if (typeof url !== 'string') throw refused(`url is ${kindOf(url)}; expected a text`)
  const [callback, errback] = [nameIn(fields, 'callback'), nameIn(fields, 'errback')]
  const encoding = fields.get('encoding') ?? fields.get('_encoding') ?? 'utf-8'
  const init: RequestInit = {
    callback,
    errback,
    encoding: textOf(encoding, 'encoding'),
    method: textOf(fields.get('method') ?? 'GET', 'method'),
    headers: headersOf(fields.get('headers') ?? null, room),
    body: bodyOf(fields.get('body') ?? null),
    priority: priorityOf(fields.get('priority') ?? 0),
    dontFilter: Boolean(fields.get('dont_filter')),
  }
  const cookies = cookiesOf(fields.get('cookies') ?? null, room)
  const [meta, cbKwargs] = [objectOf(fields, 'meta', room), objectOf(fields, 'cb_kwargs', room)]
  const flags = fields.get('flags') ?? []
  if (!Array.isArray(flags)) throw refused(`flags is ${kindOf(flags)}; expected a list`)
  return new Request(url, {
    ...init,
    ...(cookies && { cookies }),
    ...(meta && { meta }),
    ...(cbKwargs && { cbKwargs }),
    ...(flags.length > 0 && { flags: flags.map((flag) => boundedText(flag, 'flags', room)) }),
  })
}

function fieldsOf(dict: PythonDict): Map<string, PythonValue> {
  const fields = new Map<string, PythonValue>()
  for (const [key, value] of dict) {
    const name = textOf(key, 'the name of a field')
    if (!FIELDS.has(name))
      throw refused(`it has a field ${JSON.stringify(name.slice(0, 100))}, which requests here do not have`)
    fields.set(name, value)
  }
  return fields
}

function nameIn(fields: ReadonlyMap<string, PythonValue>, field: 'callback' | 'errback'): string | null {
  const name = fields.get(field) ?? null
  return name === null ? null : textOf(name, field)
}

function headersOf(value: PythonValue, room: Room): [string, string][] {
  if (value === null) return []
  const pairs: [PythonValue, PythonValue][] = value instanceof Map ? [...value] : pairsOf(value, 'headers')
  return pairs.flatMap(([name, given]) => {
    const values = Array.isArray(given) ? given : given === null ? [] : [given]
    return values.map((one) => [wireText(name, room), wireText(one, room)] as [string, string])
  })
}

function pairsOf(value: PythonValue, where: string): [PythonValue, PythonValue][] {
  if (!Array.isArray(value) || !value.every((pair) => Array.isArray(pair) && pair.length === 2))
    throw refused(`${where} is ${kindOf(value)}; expected a dict`)
  return value as [PythonValue, PythonValue][]
}

/** Returns a header's value as text; it is sent as UTF-8 here. */
function wireText(value: PythonValue, room: Room): string {
  if (!(value instanceof Uint8Array)) return boundedText(value, 'headers', room)
  take(room, BYTES_PER_VALUE + value.length, 'headers')
  if (!isUtf8(value)) throw refused('headers holds bytes that are not UTF-8')
  return Buffer.from(value).toString('utf8')
}

function bodyOf(value: PythonValue): Uint8Array | null {
  if (value === null || value instanceof Uint8Array) return value
  return Buffer.from(textOf(value, 'body'))
}

function cookiesOf(value: PythonValue, room: Room): CookiesInit | undefined {
  if (value instanceof Map) {
    const entries = [...value].map(([name, one]) => [cookieText(name, room), cookieText(one, room)] as const)
    return entries.length > 0 ? Object.fromEntries(entries) : undefined
  }
  if (value !== null && !Array.isArray(value))
    throw refused(`cookies is ${kindOf(value)}; expected a dict or a list`)
  return value === null || value.length === 0 ? undefined : value.map((cookie) => cookieOf(cookie, room))
}

function cookieOf(value: PythonValue, room: Room): { name: string; value: string } {
  if (!(value instanceof Map)) throw refused(`cookies holds ${kindOf(value)}; expected a dict`)
  const part = (name: 'domain' | 'path') => {
    const text = value.get(name) ?? null
    return text === null ? {} : { [name]: cookieText(text, room) }
  }
  return {
    name: cookieText(value.get('name') ?? null, room),
    value: cookieText(value.get('value') ?? null, room),
    ...part('domain'),
    ...part('path'),
    ...(value.get('secure') === true && { secure: true }),
  }
}

/** Returns a cookie's value as Scrapy's cookie middleware takes it. */
function cookieText(value: PythonValue, room: Room): string {
  take(room, BYTES_PER_VALUE + (value instanceof Uint8Array ? value.length : 0), 'cookies')
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8')
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return boundedText(value, 'cookies', room)
}

function priorityOf(value: PythonValue): number {
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw refused(`priority is ${typeof value === 'number' ? value : kindOf(value)}; expected a whole number`)
}

function objectOf(
  fields: ReadonlyMap<string, PythonValue>,
  field: 'meta' | 'cb_kwargs',
  room: Room,
): JsonObject | undefined {
  const value = fields.get(field) ?? null
  if (value === null || (value instanceof Map && value.size === 0)) return undefined
  if (!(value instanceof Map)) throw refused(`${field} is ${kindOf(value)}; expected a dict`)
  return plainOf(value, field, room) as JsonObject
}

function textOf(value: PythonValue, where: string): string {
  if (typeof value === 'string') return value
  throw refused(`${where} is ${kindOf(value)}; expected a text`)
}

function boundedText(value: PythonValue, where: string, room: Room): string {
  const text = textOf(value, where)
  take(room, BYTES_PER_VALUE + text.length, where)
  return text
}

/** Returns the value as JSON. What JSON cannot hold is refused, as it would come back changed. */
function plainOf(value: PythonValue, where: string, room: Room = { bytes: SIZE_MAX }, depth = 0): JsonValue {
  room.bytes -= BYTES_PER_VALUE + (typeof value === 'string' ? value.length : 0)
  if (room.bytes < 0 || depth > DEPTH_MAX) throw refused(`${where} is too large, too deep, or holds itself`)
  if (Array.isArray(value)) return value.map((one, n) => plainOf(one, `${where}[${n}]`, room, depth + 1))
  if (value instanceof Map)
    return Object.fromEntries(
      [...value].map(([key, one]) => {
        const name = typeof key === 'string' ? key : undefined
        if (name === undefined) throw refused(`${where} has ${kindOf(key)} for a key; expected a text`)
        room.bytes -= name.length
        return [name, plainOf(one, `${where}.${name}`.slice(0, 200), room, depth + 1)] as const
      }),
    )
  if (
    value instanceof Uint8Array ||
    typeof value === 'bigint' ||
    (typeof value === 'number' && !Number.isFinite(value))
  )
    throw refused(`${where} is ${kindOf(value)}, which does not survive JSON`)
  return value
}

function pythonOf(value: JsonValue): PythonValue {
  if (Array.isArray(value)) return value.map(pythonOf)
  if (typeof value !== 'object' || value === null) return value
  return new Map(Object.entries(value).map(([key, one]) => [key, pythonOf(one)]))
}

function fromJson(entry: Uint8Array): PythonValue {
  try {
    return pythonOf(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(entry)) as JsonValue)
  } catch (error) {
    throw refused(`it begins like JSON, but is not JSON: ${(error as Error).message}`, error)
  }
}

function bodyText({ body, url }: Request): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (error) {
    throw refused(`the body of ${url} is not UTF-8, and JSON holds text only; write it as a pickle`, error)
  }
}

function kindOf(value: PythonValue | undefined): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'None'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof Map) return 'a dict'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'bigint') return `the number ${value}`
  return typeof value === 'number' ? `the number ${value}` : `a ${typeof value}`
}

function refused(reason: string, cause?: unknown): WebloomError {
  return new WebloomError('WL_IMPORT_REFUSED', reason, { cause })
}
