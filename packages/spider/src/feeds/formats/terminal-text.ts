/**
 * Text of pages, made harmless for a terminal.
 *
 * A terminal obeys control characters: C0 (escape sequences, backspace), DEL, and C1, where 0x9b alone begins a
 * sequence. What is written to a file or pipe stays as it is.
 */

/** JSON has no C0 characters outside its layout; the others get JSON's own escape, so that it still says the same. */
export function escapedJson(json: string): string {
  return json.replaceAll(/[\x7f-\x9f]/g, (character) => `\\u${hexOf(character, 4)}`)
}

/** CSV has no escape for characters: they become the text `\xNN`. Tabs and line breaks may stand in a quoted cell. */
export function escapedCell(text: string): string {
  return text.replaceAll(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, (character) => `\\x${hexOf(character, 2)}`)
}

function hexOf(character: string, digits: number): string {
  return character.charCodeAt(0).toString(16).padStart(digits, '0')
}
