/** What a site has written, fit for a message. */

// They end a line, drive a terminal, or turn text around.
const CONTROL = /[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/** Returns one line in which control characters are escapes: what a site has written, such as the name of a field, adds no line to a message. */
export function oneLine(text: string): string {
  return text.replaceAll(CONTROL, (char) =>
    char === '\n' ? '\\n' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
