/**
 * Checks whether a value is the JSON form of a request, for values from outside, which anybody may have written. What a
 * queue holds was written by a worker, and is not checked again.
 */

import { valueShown } from '@webloom/url'
import { WebloomError } from '../errors/errors.ts'
import { isPlainObject } from '../settings/setting-value.ts'
import { REQUEST_JSON_VERSION, type RequestJson } from './request-json.ts'

interface Part {
  readonly expected: string
  readonly holds: (value: unknown) => boolean
}

const TEXT: Part = { expected: 'a string', holds: isText }
const DICT: Part = { expected: 'an object', holds: isPlainObject }

const PARTS: { readonly [name in keyof Required<RequestJson>]: Part } = {
  v: { expected: `${REQUEST_JSON_VERSION}`, holds: (value) => value === REQUEST_JSON_VERSION },
  url: TEXT,
  m: TEXT,
  h: {
    expected: 'an object whose values are strings or lists of strings',
    holds: (value) => isPlainObject(value) && Object.values(value).every(isTextOrTexts),
  },
  b: { expected: 'bytes in base64', holds: (value) => isText(value) && isBase64(value) },
  c: {
    expected: 'an object of names and values, or a list of { name, value, domain, path, secure }',
    holds: (value) =>
      Array.isArray(value) ? value.every(isCookie) : isPlainObject(value) && hasValues(value),
  },
  meta: DICT,
  kw: DICT,
  p: { expected: 'an integer', holds: Number.isSafeInteger },
  df: { expected: '1', holds: (value) => value === 1 },
  cb: TEXT,
  eb: TEXT,
  f: { expected: 'a list of strings', holds: (value) => Array.isArray(value) && value.every(isText) },
  enc: TEXT,
}

/**
 * Returns the value when it is a request. Throws WL_REQUEST_INVALID with the wrong part, its value and what is expected. Of
 * another version only the version is checked: `requestFromJson` refuses it.
 */
export function checkedRequestJson(value: unknown): RequestJson {
  if (!isPlainObject(value) || !isText(value.url) || value.v === undefined)
    throw invalid('it is not a request as webloom export writes it: an object with v and url')
  if (value.v !== REQUEST_JSON_VERSION) return value as unknown as RequestJson
  const names = Object.keys(PARTS)
  for (const [name, part] of Object.entries(value)) {
    if (!Object.hasOwn(PARTS, name))
      throw invalid(`a request has no part ${JSON.stringify(name)}; there are ${names.join(', ')}`)
    const { expected, holds } = PARTS[name as keyof RequestJson]
    if (!holds(part)) throw invalid(`its ${name} is ${valueShown(part)}; expected ${expected}`)
  }
  return value as unknown as RequestJson
}

function invalid(message: string): WebloomError {
  return new WebloomError('WL_REQUEST_INVALID', message)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isTextOrTexts(value: unknown): boolean {
  return isText(value) || (Array.isArray(value) && value.every(isText))
}

/** Returns whether the text is base64 as Buffer writes it. */
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}

/** JavaScript lets a spider give numbers, too; they are sent as texts. */
function hasValues(values: object): boolean {
  return Object.values(values).every((value) => ['string', 'number', 'boolean'].includes(typeof value))
}

function isCookie(cookie: unknown): boolean {
  if (!isPlainObject(cookie) || !isText(cookie.name) || !hasValues({ value: cookie.value })) return false
  const { domain, path, secure } = cookie
  return (
    [domain, path].every((text) => text === undefined || isText(text)) &&
    ['boolean', 'undefined'].includes(typeof secure)
  )
}
