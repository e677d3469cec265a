/**
 * Makes text of pages harmless for a terminal.
 *
 * A terminal obeys control characters: C0 (escape sequences, backspace), DEL, and C1, where 0x9b alone begins a sequence.
 * Text that goes to a file or pipe stays as it is.
 */

/** Escapes control characters as JSON does, so that the meaning stays. JSON itself has no C0 characters outside its layout. */
export function escapedJson(json: string): string {
  return json.replaceAll(/[\x7f-\x9f]/g, (character) => `\\u${hexOf(character, 4)}`)
}

/** Writes control characters as the text `\xNN`, as CSV has no escape. Tabs and line breaks may stand in a quoted cell. */
export function escapedCell(text: string): string {
  return text.replaceAll(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, (character) => `\\x${hexOf(character, 2)}`)
}

function hexOf(character: string, digits: number): string {
  return character.charCodeAt(0).toString(16).padStart(digits, '0')
}
