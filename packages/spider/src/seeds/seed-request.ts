/**
 * Makes a request of a start message.
 *
 * The message is a plain URL, or JSON:
 *
 *     {"url": "https://example.com/search", "form": {"q": "loom"}, "callback": "parseFound", "priority": 10}
 *
 * Fields are those of `new Request`, in camelCase or in Scrapy's snake_case, and `json`, `form`, `delay`. A field that is
 * not known makes the message invalid: if a misspelt `callback` were ignored, the page would go to the wrong method.
 */

import {
  type CookiesInit,
  didYouMean,
  type JsonObject,
  Request,
  type RequestInit,
  TIMER_SECONDS_MAX,
  WebloomError,
} from '@webloom/core'
import { type FormFields, urlencodedForm, withMoreQuery } from '../requests/urlencoded-form.ts'
import type { Spider } from '../spider.ts'
import { requestFromScrapyRedisSeed } from './scrapy-redis-seed.ts'
import { checkStrangersRequest } from './strangers-request.ts'

/** How messages are read, SEEDS_FORMAT: `webloom` takes URLs and JSON objects, `scrapy-redis` takes what its spiders take. */
export type SeedFormat = 'webloom' | 'scrapy-redis'

/** How a start message is read, and who may have written it. */
export interface SeedRequestOptions {
  /** SEEDS_FORMAT. */
  readonly format?: SeedFormat
  /** SEEDS_TRUSTED. Absent: anyone may have written the message, and what a stranger may not ask for is refused. */
  readonly trusted?: boolean
  /**
   * The spider whose methods a stranger may name. Absent: `callback` and `errback` are checked only when the request is
   * queued.
   */
  readonly spider?: Spider
}

/**
 * Returns the request that a start message asks for; with `dontFilter`, unless the message says otherwise. Throws
 * WL_REQUEST_INVALID or `InvalidUrl`, with the reason.
 */
export function requestFromSeed(
  data: string,
  { format = 'webloom', trusted = false, spider }: SeedRequestOptions = {},
): Request {
  const request = format === 'scrapy-redis' ? requestFromScrapyRedisSeed(data) : requestFromMessage(data)
  checkDelay(request)
  checkHeaderValues(request)
  if (!trusted) checkStrangersRequest(request, spider)
  return request
}

/** Checks what would fail only when the request is sent: an invalid message is reported, a failed request would be lost. */
function checkHeaderValues(request: Request): void {
  if (!request.hasHeaders) return
  for (const [name, value] of request.headers)
    if (/[\x00-\x08\x0a-\x1f\x7f]/.test(value))
      throw invalid(`header ${name} is ${shortened(value)}; expected no control characters`)
}

/** Checks the delay in meta, too: scrapy-redis's form has no other field for it. */
function checkDelay(request: Request): void {
  if (request.hasMeta && request.meta.seed_delay !== undefined) seconds(request.meta.seed_delay)
}

function requestFromMessage(data: string): Request {
  const text = data.replace(/^\ufeff/, '').trim()
  if (text === '') throw invalid('the message is empty; expected a URL or a JSON object with url')
  return /^[{["]/.test(text) ? requestOf(fieldsOf(text)) : new Request(text, { dontFilter: true })
}

const FIELDS = [
  'url',
  'method',
  'headers',
  'body',
  'json',
  'form',
  'cookies',
  'meta',
  'cbKwargs',
  'callback',
  'errback',
  'priority',
  'dontFilter',
  'delay',
  'flags',
  'encoding',
] as const

type SeedFields = { readonly [Name in (typeof FIELDS)[number]]?: unknown }

/** Scrapy's names for fields. */
const ALSO: Readonly<Record<string, keyof SeedFields>> = {
  cb_kwargs: 'cbKwargs',
  dont_filter: 'dontFilter',
  formdata: 'form',
}

function fieldsOf(text: string): SeedFields {
  const message = parsed(text)
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    throw invalid(`the message is ${shortened(message)}; expected a URL or a JSON object with url`)
  }
  const fields: Record<string, unknown> = {}
  for (const [written, value] of Object.entries(message)) {
    const name = ALSO[written] ?? written
    if (!(FIELDS as readonly string[]).includes(name)) throw unknownField(written)
    // Python writes null for a field without a value.
    if (value === null && name !== 'json') continue
    if (name in fields) throw invalid(`${name} is given twice, as ${name} and as ${written}`)
    fields[name] = value
  }
  return fields
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalid(`the message begins like JSON, but is not JSON: ${(error as Error).message}`)
  }
}

function unknownField(written: string): WebloomError {
  const hint = didYouMean(written, [...FIELDS, ...Object.keys(ALSO)])
  return invalid(
    `there is no field ${JSON.stringify(written)}.${hint} Form data goes into form; with SEEDS_FORMAT=scrapy-redis every such field is form data`,
  )
}

function requestOf(fields: SeedFields): Request {
  const { url, body, json, form, delay } = fields
  if (typeof url !== 'string') throw invalid(`url is ${shortened(url)}; expected a string`)
  const bodies = Object.entries({ body, json, form }).filter(([, value]) => value !== undefined)
  if (bodies.length > 1)
    throw invalid(`${bodies.map(([name]) => name).join(' and ')} are given; expected one of them`)
  const request = new Request(url, initOf(fields))
  if (delay !== undefined) request.meta.seed_delay = seconds(delay)
  if (form !== undefined)
    return withForm(request, urlencodedForm(formFields(form)), fields.method === undefined)
  if (json !== undefined)
    return withBody(request, JSON.stringify(json), 'application/json', fields.method === undefined)
  return request
}

function initOf(fields: SeedFields): RequestInit {
  const method = optional(fields, 'method', isString, 'a string')
  const headers = optional(fields, 'headers', isHeaders, 'an object of strings or lists of strings')
  const body = optional(fields, 'body', isString, 'a string')
  const cookies = optional(fields, 'cookies', isCookies, 'an object of strings, or a list of {name, value}')
  const meta = optional(fields, 'meta', isObject, 'an object')
  const cbKwargs = optional(fields, 'cbKwargs', isObject, 'an object')
  const callback = optional(fields, 'callback', isString, 'the name of a method')
  const errback = optional(fields, 'errback', isString, 'the name of a method')
  const priority = optional(fields, 'priority', isNumber, 'an integer')
  const flags = optional(fields, 'flags', isStrings, 'a list of strings')
  const encoding = optional(fields, 'encoding', isString, 'a string')
  return {
    dontFilter: optional(fields, 'dontFilter', isBoolean, 'true or false') ?? true,
    ...(method !== undefined && { method }),
    ...(headers && { headers }),
    ...(body !== undefined && { body }),
    ...(cookies && { cookies }),
    ...(meta && { meta }),
    ...(cbKwargs && { cbKwargs }),
    ...(callback !== undefined && { callback }),
    ...(errback !== undefined && { errback }),
    ...(priority !== undefined && { priority }),
    ...(flags && { flags }),
    ...(encoding !== undefined && { encoding }),
  }
}

/** Adds the form to the body of a POST, which is the method unless another one is given; to the query of a GET or HEAD. */
function withForm(request: Request, form: string, isPost: boolean): Request {
  if (!isPost && (request.method === 'GET' || request.method === 'HEAD'))
    return request.replace({ url: withMoreQuery(request.url, form) })
  return withBody(request, form, 'application/x-www-form-urlencoded', isPost)
}

function withBody(request: Request, body: string, type: string, isPost: boolean): Request {
  if (!request.headers.has('content-type')) request.headers.set('Content-Type', type)
  return request.replace({ body: Buffer.from(body), ...(isPost && { method: 'POST' }) })
}

function formFields(form: unknown): FormFields {
  if (!isObject(form)) throw invalid(`form is ${shortened(form)}; expected an object`)
  return Object.entries(form).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => {
      if (typeof one === 'string' || typeof one === 'number') return [name, String(one)] as const
      throw invalid(`form.${name} holds ${shortened(one)}; expected strings or numbers`)
    }),
  )
}

function seconds(delay: unknown): number {
  if (typeof delay === 'number' && delay >= 0 && delay <= TIMER_SECONDS_MAX) return delay
  throw invalid(`delay is ${shortened(delay)}; expected seconds, from 0 to ${TIMER_SECONDS_MAX}`)
}

function optional<T>(
  fields: SeedFields,
  name: keyof SeedFields,
  is: (value: unknown) => value is T,
  expected: string,
): T | undefined {
  const value = fields[name]
  if (value === undefined || is(value)) return value
  throw invalid(`${name} is ${shortened(value)}; expected ${expected}`)
}

const isString = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => typeof value === 'number'
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean'
const isStrings = (value: unknown): value is string[] => Array.isArray(value) && value.every(isString)
const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isHeaders = (value: unknown): value is Record<string, string | string[]> =>
  isObject(value) && Object.values(value).every((one) => isString(one) || isStrings(one))
const isCookies = (value: unknown): value is CookiesInit =>
  Array.isArray(value) ? value.every(isCookie) : isObject(value) && Object.values(value).every(isString)
const isCookie = (value: unknown): boolean => {
  if (!isObject(value)) return false
  const { name, value: text, domain = '', path = '', secure = false } = value
  return [name, text, domain, path].every(isString) && isBoolean(secure)
}

function invalid(reason: string): WebloomError {
  return new WebloomError('WL_REQUEST_INVALID', reason)
}

function shortened(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing'
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
