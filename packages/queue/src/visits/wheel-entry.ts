/** An entry of the wheel, as far as it can be read without knowing what short names stand for. See CARRIES and GONE in visits/wheel.lua. */

import { FINGERPRINT_BYTES, nameIn, underName } from './packed-request.ts'

const CARRIES = 64
const GONE = 128

export interface WheelEntry {
  /** As it is in its list. */
  readonly whole: Buffer
  /** How to ask for the page; undefined where no page is. */
  readonly packed: Buffer | undefined
  /** The bytes of the fingerprint under which the page is kept; undefined where a build has written it that kept none. */
  readonly name: Buffer | undefined
  /** The page's record, which lies nowhere else while all pages move. */
  readonly carried: Buffer | undefined
}

/** Of an entry that nobody can tell the page of: no page has it. */
export const NO_NAME = Buffer.alloc(FINGERPRINT_BYTES)

export function wheelEntry(whole: Buffer): WheelEntry {
  if (whole.length === 1 && whole[0] === GONE)
    return { whole, packed: undefined, name: NO_NAME, carried: undefined }
  const end = whole[0] === CARRIES ? 2 + whole[1]! : 0
  const packed = whole.subarray(end)
  return { whole, packed, name: nameIn(packed), carried: end > 0 ? whole.subarray(2, end) : undefined }
}

/** Returns the same entry, of a page that is kept under another name. */
export function renamedEntry({ whole, packed, carried }: WheelEntry, name: Buffer): Buffer {
  const renamed = underName(packed ?? whole, name)
  return carried ? Buffer.concat([Buffer.of(CARRIES, carried.length), carried, renamed]) : renamed
}
