/**
 * As much of Redis's protocol as tests need that must not lean on a client library: to write a command, to read a
 * reply (RESP2, in which Redis speaks unless asked otherwise), and to tell where in a stream of bytes one ends (RESP3
 * as well, which clients ask for).
 */

/** What Redis answers; an error among the elements of an array is an Error, an error as the whole reply is thrown. */
export type RedisReply = string | number | null | Error | readonly RedisReply[]

export function encodeCommand(command: readonly (string | number | Buffer)[]): Buffer {
  const parts: Buffer[] = [Buffer.from(`*${command.length}\r\n`)]
  for (const argument of command) {
    const bytes = Buffer.isBuffer(argument) ? argument : Buffer.from(String(argument))
    parts.push(Buffer.from(`$${bytes.length}\r\n`), bytes, CRLF)
  }
  return Buffer.concat(parts)
}

/** Cuts a stream of RESP values into the bytes of each. */
export class RespSplitter {
  readonly #scanner = new RespScanner()
  /** The bytes so far of a value that has not come whole. */
  #begun: Buffer[] = []

  /** The values that are whole with this chunk. */
  split(chunk: Buffer): Buffer[] {
    const values: Buffer[] = []
    let start = 0
    for (let end = this.#scanner.scan(chunk, start); end !== -1; end = this.#scanner.scan(chunk, start)) {
      this.#begun.push(chunk.subarray(start, end))
      values.push(this.#begun.length === 1 ? this.#begun[0]! : Buffer.concat(this.#begun))
      this.#begun = []
      start = end
    }
    if (start < chunk.length) this.#begun.push(chunk.subarray(start))
    return values
  }

  /** True in the middle of a value: more bytes are on their way. */
  get isInside(): boolean {
    return this.#begun.length > 0
  }
}

/**
 * Follows a stream of RESP values and tells where each top-level one ends, however the stream is cut into chunks.
 * It keeps counts and no bytes: an array of n makes n more values to come, a map 2 n,
 * whatever their depth.
 */
export class RespScanner {
  /** Values that are still to come before the top-level one is whole. */
  #valuesLeft = 1
  /** Bytes of a bulk string and its CRLF that are still to come. */
  #bytesLeft = 0
  /** The part of a header line that has come so far. */
  #header = ''

  /** The offset just behind the first top-level value that ends in the chunk from `start`, or -1 when none does. */
  scan(chunk: Buffer, start: number): number {
    let at = start
    while (at < chunk.length) {
      at = this.#bytesLeft > 0 ? this.#skipBytes(chunk, at) : this.#readHeader(chunk, at)
      if (this.#valuesLeft === 0 && this.#bytesLeft === 0) {
        this.#valuesLeft = 1
        return at
      }
    }
    return -1
  }

  #skipBytes(chunk: Buffer, at: number): number {
    const skipped = Math.min(this.#bytesLeft, chunk.length - at)
    this.#bytesLeft -= skipped
    return at + skipped
  }

  #readHeader(chunk: Buffer, at: number): number {
    const newline = chunk.indexOf(LF, at)
    const end = newline === -1 ? chunk.length : newline + 1
    this.#header += chunk.toString('latin1', at, end)
    if (newline === -1) return end
    const header = this.#header
    this.#header = ''
    const { values, bytes } = announcedBy(header)
    this.#valuesLeft += values - 1
    this.#bytesLeft = bytes
    return end
  }
}

/** What a header line says is to come behind it. */
function announcedBy(header: string): { values: number; bytes: number } {
  const count = Number(header.slice(1))
  switch (header[0]) {
    case '+':
    case '-':
    case ':':
    case '_':
    case ',':
    case '#':
    case '(':
      return { values: 0, bytes: 0 }
    case '$':
    case '!':
    case '=':
      return { values: 0, bytes: count < 0 ? 0 : count + CRLF.length }
    case '*':
    case '~':
    case '>':
      return { values: Math.max(0, count), bytes: 0 }
    case '%':
      return { values: 2 * count, bytes: 0 }
    case '|':
      return { values: 2 * count + 1, bytes: 0 } // Attributes are a part of the value that follows them.
    default:
      throw new Error(`expected a RESP value, which begins with one of ${RESP_TYPES}, and got ${header}`)
  }
}

const RESP_TYPES = '+ - : _ , # ( $ ! = * ~ > % |'

/** Reads the RESP2 value at the beginning of bytes that hold the whole of it. */
export function parseReply(bytes: Buffer): RedisReply {
  return parseAt(bytes, 0).value
}

function parseAt(bytes: Buffer, start: number): { value: RedisReply; end: number } {
  const lineEnd = bytes.indexOf(CRLF, start)
  const line = bytes.toString('utf8', start + 1, lineEnd)
  const end = lineEnd + CRLF.length
  switch (String.fromCharCode(bytes[start]!)) {
    case '+':
      return { value: line, end }
    case '-':
      return { value: new Error(line), end }
    case ':':
      return { value: Number(line), end }
    case '$':
      return parseBulk(bytes, end, Number(line))
    default:
      return parseArray(bytes, end, Number(line))
  }
}

function parseBulk(bytes: Buffer, start: number, length: number): { value: RedisReply; end: number } {
  if (length < 0) return { value: null, end: start }
  return { value: bytes.toString('utf8', start, start + length), end: start + length + CRLF.length }
}

function parseArray(bytes: Buffer, start: number, length: number): { value: RedisReply; end: number } {
  if (length < 0) return { value: null, end: start }
  const values: RedisReply[] = []
  let end = start
  while (values.length < length) {
    const element = parseAt(bytes, end)
    values.push(element.value)
    end = element.end
  }
  return { value: values, end }
}

const LF = 0x0a
const CRLF = Buffer.from('\r\n')
