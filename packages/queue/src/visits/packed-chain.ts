/**
 * What a page carries of the page before it (`meta.trap_chain`), in 37 bytes: it is another for each page, so it shares no form with others.
 *
 *      0   steps
 *      1   32 bytes of links
 *     33   4 bytes of items
 */

import type { JsonObject, JsonValue } from '@webloom/core'

export const CHAIN_BYTES = 37

const STEPS_MAX = 255
const LINKS_AT = 1
const LINKS_BYTES = 32
const ITEMS_AT = 33
const ITEMS_MAX = 2 ** 32 - 1

/** Returns undefined for a value that would not come back as it is. */
export function packChain(chain: JsonValue | undefined): Buffer | undefined {
  if (typeof chain !== 'object' || chain === null || Array.isArray(chain)) return undefined
  const { steps, links, items, ...rest } = chain
  if (!isCount(steps, STEPS_MAX) || !isCount(items, ITEMS_MAX) || typeof links !== 'string') return undefined
  const bits = Buffer.from(links, 'base64url')
  const isWhole = bits.length === LINKS_BYTES && bits.toString('base64url') === links
  if (!isWhole || Object.keys(rest).length > 0) return undefined
  const packed = Buffer.alloc(CHAIN_BYTES)
  packed[0] = steps
  bits.copy(packed, LINKS_AT)
  packed.writeUInt32BE(items, ITEMS_AT)
  return packed
}

export function unpackChain(packed: Buffer): JsonObject {
  return {
    steps: packed[0]!,
    links: packed.toString('base64url', LINKS_AT, LINKS_AT + LINKS_BYTES),
    items: packed.readUInt32BE(ITEMS_AT),
  }
}

function isCount(value: unknown, max: number): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= max
}
