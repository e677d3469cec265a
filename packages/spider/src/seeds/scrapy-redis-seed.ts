import { type JsonObject, Request, WebloomError } from '@webloom/core'
import { urlencodedForm, withQuery } from '../requests/urlencoded-form.ts'

/**
 * Returns the request of a start message by scrapy-redis's rule: JSON is an object with `url`, perhaps `method` and `meta`,
 * and **all of its other fields are form data**; a message that is not JSON is a URL. The request is always `dontFilter`.
 *
 * Where scrapy-redis raises (and loses the rest of its batch) or skips with a warning, this throws WL_REQUEST_INVALID.
 */
export function requestFromScrapyRedisSeed(text: string): Request {
  const message = parsed(text)
  if (message === undefined) return new Request(text, { dontFilter: true })
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    throw invalid(`the message is JSON, but no object: ${shortened(text)}`)
  }
  const { url, method = 'GET', meta = {}, ...form } = message as Record<string, unknown>
  if (typeof url !== 'string') throw invalid(`url is ${shortened(url)}; expected a string`)
  if (typeof method !== 'string') throw invalid(`method is ${shortened(method)}; expected a string`)
  if (meta !== null && (typeof meta !== 'object' || Array.isArray(meta)))
    throw invalid(`meta is ${shortened(meta)}; expected an object`)
  const request = new Request(url, { method, dontFilter: true, ...(meta && { meta: meta as JsonObject }) })
  const fields = keysInOrder(Object.keys(form), text).flatMap((name) =>
    valuesOf(name, form[name]).map((value) => [name, value] as const),
  )
  return Object.keys(form).length === 0 ? request : withForm(request, urlencodedForm(fields))
}

/** Adds the form as Scrapy's FormRequest does: as the body of a POST, as the query with any other method. */
function withForm(request: Request, form: string): Request {
  if (request.method !== 'POST') return request.replace({ url: withQuery(request.url, form) })
  return request.replace({ body: form, headers: { 'Content-Type': 'application/x-www-form-urlencoded' } })
}

function valuesOf(name: string, value: unknown): string[] {
  // Its keys, as Python iterates a dict.
  const values =
    typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : value
  const list = Array.isArray(values) ? values : [values]
  const bad = list.find((one) => typeof one !== 'string')
  if (bad === undefined) return list as string[]
  throw invalid(
    `${name} is form data here, and holds ${shortened(bad)}; expected a string or a list of strings`,
  )
}

/** Returns what Python's json.loads makes of the text; undefined for a text that scrapy-redis takes for a URL. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    if (!isJson(withoutNan(text))) return undefined
    throw invalid('the message holds NaN or Infinity, which no request can carry')
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const STRING_BEGUN = /"[^"\\]*(?:\\.[^"\\]*)*/.source
const JSON_TOKEN = new RegExp(`(?<key>${STRING_BEGUN}")\\s*:|${STRING_BEGUN}"|[{}[\\]]`, 'gs')
// A string that is never closed is taken whole: to search its end from each of its quotes would take quadratic time.
const NAN_TOKEN = new RegExp(`${STRING_BEGUN}"?|-?\\bInfinity\\b|\\bNaN\\b`, 'gs')

/** Replaces NaN, Infinity and -Infinity, which Python reads as numbers and JSON does not have. */
function withoutNan(text: string): string {
  return text.replace(NAN_TOKEN, (token) => (token.startsWith('"') ? token : 'null'))
}

/** Returns the keys in the order of the text, which is a form's. An object of JavaScript has `"2"` before `"b"` in any case. */
function keysInOrder(keys: readonly string[], text: string): readonly string[] {
  if (!keys.some((key) => /^\d+$/.test(key))) return keys
  const places = new Map<string, number>()
  let depth = 0
  for (const { 0: token, groups, index } of text.matchAll(JSON_TOKEN)) {
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
    else if (depth === 1 && groups?.key !== undefined) {
      const key = JSON.parse(groups.key) as string
      places.set(key, places.get(key) ?? index)
    }
  }
  return [...keys].sort((a, b) => places.get(a)! - places.get(b)!)
}

function invalid(reason: string): WebloomError {
  return new WebloomError('WL_REQUEST_INVALID', reason)
}

function shortened(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'missing')
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
