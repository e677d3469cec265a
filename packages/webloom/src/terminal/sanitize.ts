/**
 * What pages say reaches a terminal only as text. A control character there could move the cursor, change colours or
 * the title, answer to the shell in the user's name, or (bidi overrides) show a line in another order than it has.
 */

// C0, DEL and C1 drive the terminal; U+2028 and U+2029 end a line for some viewers; the others turn text around.
const CONTROL = /[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g
const CONTROL_BUT_LINES = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g
// C0 is missing: JSON escapes it already.
const CONTROL_IN_JSON = /[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/** One line in which every control character is written as an escape, for instance `\x1b`. */
export function visible(text: string): string {
  return text.replaceAll(CONTROL, escaped)
}

/** Like `visible`, but line ends and tabs stay: for stack traces and text of our own that quotes a page. */
export function visibleLines(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(CONTROL_BUT_LINES, escaped)
}

/** JSON text that means the same and holds no control characters; line ends between its values stay. */
export function visibleJson(json: string): string {
  return json.replaceAll(CONTROL_IN_JSON, (char) => `\\u${hex(char, 4)}`)
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function escaped(char: string): string {
  return SHORT[char] ?? (char < '\u0100' ? `\\x${hex(char, 2)}` : `\\u${hex(char, 4)}`)
}

function hex(char: string, digits: number): string {
  return char.charCodeAt(0).toString(16).padStart(digits, '0')
}
