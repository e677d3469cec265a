/** Writes data as a Python pickle of protocol 4, which Python reads from 3.4 on. */

import type { PythonValue } from './read-pickle.ts'

/** Returns the value as `pickle.loads` takes it. A shared value is written each time that it occurs. */
export function writePickle(value: PythonValue): Buffer {
  const parts: Buffer[] = [Buffer.of(0x80, 4)]
  write(value, parts)
  parts.push(Buffer.from('.'))
  return Buffer.concat(parts)
}

/**
 * Returns the same data in other bytes, with a number that is pushed and dropped: equal members of a Redis set would be
 * one.
 */
export function distinctPickle(pickle: Buffer, ordinal: number): Buffer {
  const dropped = Buffer.from('J    0.')
  dropped.writeUInt32LE(ordinal >>> 0, 1)
  return Buffer.concat([pickle.subarray(0, -1), dropped])
}

function write(value: PythonValue, parts: Buffer[]): void {
  if (value === null) parts.push(Buffer.from('N'))
  else if (typeof value === 'boolean') parts.push(Buffer.of(value ? 0x88 : 0x89))
  else if (typeof value === 'number') parts.push(numberPart(value))
  else if (typeof value === 'bigint') parts.push(longPart(value))
  else if (typeof value === 'string') sized('X', Buffer.from(value), parts)
  else if (value instanceof Uint8Array) sized('B', Buffer.from(value), parts)
  else if (Array.isArray(value)) writeList(value, parts)
  else writeDict(value, parts)
}

function writeList(list: readonly PythonValue[], parts: Buffer[]): void {
  parts.push(Buffer.from(']('))
  for (const entry of list) write(entry, parts)
  parts.push(Buffer.from('e'))
}

function writeDict(dict: ReadonlyMap<PythonValue, PythonValue>, parts: Buffer[]): void {
  parts.push(Buffer.from('}('))
  for (const [key, entry] of dict) {
    write(key, parts)
    write(entry, parts)
  }
  parts.push(Buffer.from('u'))
}

function sized(opcode: string, bytes: Buffer, parts: Buffer[]): void {
  const head = Buffer.from(`${opcode}    `)
  head.writeUInt32LE(bytes.length, 1)
  parts.push(head, bytes)
}

function numberPart(value: number): Buffer {
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) {
    if (value !== (value | 0)) return longPart(BigInt(value))
    const int = Buffer.from('J    ')
    int.writeInt32LE(value, 1)
    return int
  }
  const float = Buffer.from('G        ')
  float.writeDoubleBE(value, 1)
  return float
}

/** Returns 16 bytes in two's complement, as LONG1. */
function longPart(value: bigint): Buffer {
  const long = Buffer.alloc(2 + 16)
  long[0] = 0x8a
  long[1] = 16
  let rest = BigInt.asUintN(128, value)
  for (let n = 0; n < 16; n++, rest >>= 8n) long[2 + n] = Number(rest & 0xffn)
  return long
}
