export type CharacterCodes = Uint16Array<ArrayBuffer>

export const NO_CODES: CharacterCodes = new Uint16Array(0)
/** So many characters of a page are there as numbers at a time: all of most pages. */
export const WINDOW_LENGTH = 1 << 16
/** Room for a look beyond a page's end. */
const BEYOND = 3
// Kept from page to page, as a new one costs more than reading some pages.
let spare = NO_CODES

/**
 * Returns a text's characters as numbers. One look at a string costs five times as much as one at an array, because it
 * may be stored in six ways. They are written to `room` when it is large enough.
 */
export function characterCodes(text: string, room: CharacterCodes = NO_CODES): CharacterCodes {
  const length = text.length + BEYOND
  const codes = length <= room.length ? room : largerRoom(length, room)
  Buffer.from(codes.buffer).write(text, 'utf16le')
  codes.fill(0, text.length, length)
  return codes
}

function largerRoom(length: number, room: CharacterCodes): CharacterCodes {
  giveBackCodes(room)
  if (length > spare.length) return new Uint16Array(Math.max(WINDOW_LENGTH + BEYOND, length))
  const codes = spare
  spare = NO_CODES // a reader within a reader gets its own
  return codes
}

/** Gives codes back that are not used any more. Large ones are freed at once, not when garbage is collected. */
export function giveBackCodes(codes: CharacterCodes): void {
  if (codes.length === WINDOW_LENGTH + BEYOND) spare = codes
  else if (codes !== NO_CODES) codes.buffer.transfer(0)
}
