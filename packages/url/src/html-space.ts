/** Without HTML's white space at both ends; `trim` would take no-break spaces and more. */
export function stripHtmlSpace(text: string): string {
  let start = 0
  let end = text.length
  if (text.charCodeAt(0) > SPACE && text.charCodeAt(end - 1) > SPACE) return text
  // By hand: a pattern such as /[ \t]+$/ takes quadratic time on a long run of spaces inside.
  while (start < end && HTML_SPACE.includes(text[start]!)) start++
  while (end > start && HTML_SPACE.includes(text[end - 1]!)) end--
  return text.slice(start, end)
}

const HTML_SPACE = ' \t\n\f\r'
// What comes after it is not a space of HTML's.
const SPACE = 0x20
