/**
 * Text from the web as the pages show it. A title may be anything: markup, control bytes, ten megabytes. JSX escapes the markup;
 * here it becomes short and visible.
 */

/** Longer than any line that a table has room for. */
const CHARS_MAX = 160

/** C0 and C1 controls, marks that turn the direction of what follows, and separators that are not characters of a name. */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g
const LONE_SURROGATE = /\p{Surrogate}/gu

/** Returns at most `max` characters, with those that cannot be seen in their place as signs. Never longer than `max` + 1. */
export function shown(text: string, max = CHARS_MAX): string {
  // What is cut away is not looked at: it may be long.
  const isCut = text.length > max
  const part = isCut ? text.slice(0, max) : text
  const seen = part.replace(UNSEEN, signOf).replace(LONE_SURROGATE, '\ufffd')
  return isCut ? `${seen}…` : seen
}

/** Like `shown`, with line ends and tabs as they are: for what is shown in a box of its own. */
export function shownLines(text: string, max: number): string {
  const part = text.length > max ? `${text.slice(0, max)}\n…` : text
  return part
    .replace(UNSEEN, (sign) => (sign === '\n' || sign === '\t' ? sign : sign === '\r' ? '' : signOf(sign)))
    .replace(LONE_SURROGATE, '\ufffd')
}

/** The sign that Unicode has for a control byte; of others that there was something. */
function signOf(unseen: string): string {
  const code = unseen.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? '\u2421' : '\ufffd'
}

/** Returns an address that a link may have: http and https only, so that no click runs anything. */
export function linkOf(url: string): string | undefined {
  return url.length <= 2048 && /^https?:\/\//i.test(url) && URL.canParse(url) ? url : undefined
}
