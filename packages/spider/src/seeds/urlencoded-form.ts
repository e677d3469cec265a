/** Names and values, in order. */
export type FormFields = readonly (readonly [name: string, value: string])[]

/** As a browser sends a form, and byte for byte as Python's `urlencode`. Throws for half a surrogate pair. */
export function urlencodedForm(fields: FormFields): string {
  return fields.map(([name, value]) => `${quotePlus(name)}=${quotePlus(value)}`).join('&')
}

/** The URL with another query; its fragment stays. */
export function withQuery(url: string, query: string): string {
  const { path, fragment } = partsOf(url)
  return `${path}${query === '' ? '' : `?${query}`}${fragment}`
}

/** The URL with more at the end of its query. */
export function withMoreQuery(url: string, more: string): string {
  const { query } = partsOf(url)
  return withQuery(url, [query, more].filter((part) => part !== '').join('&'))
}

function partsOf(url: string): { path: string; query: string; fragment: string } {
  const [, path = '', query = '', fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(url) ?? []
  return { path, query, fragment }
}

function quotePlus(text: string): string {
  if (!text.isWellFormed()) throw new TypeError(`the form holds half a character: ${JSON.stringify(text)}`)
  // encodeURIComponent leaves five characters that Python does not.
  return encodeURIComponent(text)
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+')
}
