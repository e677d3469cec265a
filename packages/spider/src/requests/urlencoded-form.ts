import { encoderFor, quoter } from '@webloom/core'

/** Names and values, in order. */
export type FormFields = readonly (readonly [name: string, value: string])[]

/**
 * Returns the form as a browser sends it, byte for byte as Python's `urlencode`. Throws `TypeError` for a text that
 * `encoding` cannot write: half a surrogate pair, or a character that it lacks.
 */
export function urlencodedForm(fields: FormFields, encoding = 'utf-8'): string {
  const written = (text: string) => quotePlus(bytesOf(text, encoding))
  return fields.map(([name, value]) => `${written(name)}=${written(value)}`).join('&')
}

/** Returns the URL with another query. Its fragment stays. */
export function withQuery(url: string, query: string): string {
  const { path, fragment } = partsOf(url)
  return `${path}${query === '' ? '' : `?${query}`}${fragment}`
}

/** Returns the URL with `more` at the end of its query. */
export function withMoreQuery(url: string, more: string): string {
  const { query } = partsOf(url)
  return withQuery(url, [query, more].filter((part) => part !== '').join('&'))
}

function partsOf(url: string): { path: string; query: string; fragment: string } {
  const [, path = '', query = '', fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(url) ?? []
  return { path, query, fragment }
}

const quotePlus = quoter('', true)

function bytesOf(text: string, encoding: string): string {
  const bytes = encoderFor(encoding)?.(text)
  if (bytes !== undefined) return bytes
  throw new TypeError(
    text.isWellFormed()
      ? `the form holds ${JSON.stringify(text)}, which ${encoding} cannot write; give the request  encoding: 'utf-8'`
      : `the form holds half a character: ${JSON.stringify(text)}`,
  )
}
