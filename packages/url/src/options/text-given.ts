/** Where a text is expected, a program without types may give something else; our insides would then fail on it. */

import { WebloomError } from '../errors.ts'
import { valueShown } from './known-options.ts'

/** Throws WL_USAGE, with what to write, when `given` is not a text. `of` is who takes it, e.g. `canonicalizeUrl`. */
export function checkText(given: unknown, of: string): asserts given is string {
  if (typeof given !== 'string') throw noText(given, of)
}

function noText(given: unknown, of: string): WebloomError {
  return new WebloomError('WL_USAGE', `${of} takes a text, and got ${valueShown(given)}.${hintOn(given)}`)
}

function hintOn(given: unknown): string {
  if (typeof given !== 'object' || given === null) return ''
  if ('then' in given) return ' Write await before it.'
  if (given instanceof URL) return ' Write its href.'
  if (ArrayBuffer.isView(given) || given instanceof ArrayBuffer)
    return ' decodeText(bytes, detectEncoding(bytes, contentType)) of @webloom/url makes a text of bytes.'
  if (!('text' in given)) return ''
  return typeof given.text === 'function' ? ' Write await response.text().' : ' Write its text.'
}
