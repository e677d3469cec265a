/** In which slot of a Redis Cluster a key is. */

export const SLOTS = 16_384

/** Returns the slot of a key in a Redis Cluster, by its tag where it has one. */
export function slotOf(key: string): number {
  const [, tag = key] = /\{([^}]+)\}/.exec(key) ?? []
  return crcOf(Buffer.from(tag)) % SLOTS
}

/** By byte. */
const CRCS = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  return crc
})

/** Hashes as Redis Cluster does with keys: CRC16, XMODEM's. */
export function crcOf(bytes: Iterable<number>, begun = 0): number {
  let crc = begun
  for (const byte of bytes) crc = ((crc << 8) & 0xffff) ^ CRCS[(crc >> 8) ^ byte]!
  return crc
}
