import { crc32, deflateSync } from 'node:zlib'

const WIDTH = 40
const HEIGHT = 60

/** A cover as PNG: one colour, which the book's number chooses. */
export function coverOf(number: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(WIDTH, 0)
  header.writeUInt32BE(HEIGHT, 4)
  header.set([8, 2], 8) // bits of a channel, and three channels
  const pixel = [(37 * number) % 256, (91 * number) % 256, (151 * number) % 256]
  const row = [0, ...Array.from({ length: WIDTH }, () => pixel).flat()] // 0: no filter
  const pixels = Buffer.from(Array.from({ length: HEIGHT }, () => row).flat())
  const chunks = [chunk('IHDR', header), chunk('IDAT', deflateSync(pixels)), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...chunks])
}

function chunk(type: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), content])
  const framed = Buffer.alloc(named.length + 8)
  framed.writeUInt32BE(content.length, 0)
  framed.set(named, 4)
  framed.writeUInt32BE(crc32(named), named.length + 4)
  return framed
}
