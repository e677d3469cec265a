/**
 * Reads a Python pickle that holds only data: None, booleans, numbers, strings, bytes, lists, tuples and dicts, in
 * protocols 2 to 5.
 *
 * A pickle is a program for a small stack machine, and Python's own reader lets it call any function. Here nothing is
 * called: what is not data is refused by its name. Protocol 2 has no bytes and writes them as calls of `_codecs.encode` and
 * `bytes`; these two forms are read as the bytes that they stand for.
 *
 * Each step reads at least one byte and keeps at most one value, so the pickle's length bounds what it takes. Values that
 * it refers to again are shared, not copied, and so are the bytes of a text: a caller that walks them must count
 * (`plainOf`).
 */

import { isUtf8 } from 'node:buffer'
import { WebloomError } from '../errors/errors.ts'

export type PythonValue = null | boolean | number | bigint | string | Uint8Array | PythonValue[] | PythonDict

/** Keys may be bytes, as those of Scrapy's headers are. Tuples are read as lists. */
export type PythonDict = Map<PythonValue, PythonValue>

/** Larger pickles are refused unread. */
export const PICKLE_BYTES_MAX = 32 * 1024 * 1024

/** A request has some hundred steps. An empty dict is one byte of a pickle, but two hundred of memory. */
const STEPS_MAX = 300_000
const PROTOCOLS = { least: 2, most: 5 }
const INT_BYTES_MAX = 16
/** Names that may stand where a function would. */
const BYTES_OF_TEXT = '_codecs.encode'
const NO_BYTES = ['__builtin__.bytes', 'builtins.bytes']

/** A function that protocol 2 needs for bytes. It is never part of the result. */
class PythonName {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

type Held = PythonValue | PythonName

/** Returns the pickle's value. Throws WL_IMPORT_REFUSED, which names what cannot be read and where. */
export function readPickle(bytes: Uint8Array): PythonValue {
  if (bytes.length > PICKLE_BYTES_MAX)
    throw new WebloomError(
      'WL_IMPORT_REFUSED',
      `the pickle has ${bytes.length} bytes; ${PICKLE_BYTES_MAX} are the most that are read`,
    )
  return new PickleReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).read()
}

class PickleReader {
  readonly #bytes: Buffer
  readonly #memo = new Map<number, Held>()
  /** The bytes that were made of a text: a call takes five bytes of a pickle, however long its text is. */
  readonly #bytesOf = new Map<string, Uint8Array>()
  readonly #marks: number[] = []
  #stack: Held[] = []
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  read(): PythonValue {
    if (this.#bytes[0] !== OPCODES.PROTO)
      throw this.#refusal('it does not begin as a pickle of protocol 2 or later')
    for (let steps = 0; steps < STEPS_MAX; steps++) {
      const begun = this.#at
      const opcode = this.#uint(1)
      if (opcode === OPCODES.STOP) return this.#result()
      const step = STEPS[opcode]
      if (!step)
        throw this.#refusal(`${REFUSED[opcode] ?? `opcode 0x${opcode.toString(16)}`} is not data`, begun)
      step(this)
    }
    throw this.#refusal(`it has more than ${STEPS_MAX} values`)
  }

  checkProtocol(): void {
    const protocol = this.#uint(1)
    if (protocol < PROTOCOLS.least || protocol > PROTOCOLS.most)
      throw this.#refusal(`it is of protocol ${protocol}; 2 to 5 are read`)
  }

  skip(count: number): void {
    this.#take(count)
  }

  mark(): void {
    this.#marks.push(this.#stack.length)
  }

  push(value: Held): void {
    this.#stack.push(value)
  }

  pushUint(size: number): void {
    this.push(this.#uint(size))
  }

  pushInt32(): void {
    this.push(this.#take(4).readInt32LE())
  }

  pushLong(sizeBytes: number): void {
    const size = this.#uint(sizeBytes)
    if (size > INT_BYTES_MAX) throw this.#refusal(`an integer of ${size} bytes`)
    let value = 0n
    const bytes = this.#take(size)
    for (let n = size - 1; n >= 0; n--) value = (value << 8n) | BigInt(bytes[n]!)
    const signed = BigInt.asIntN(8 * size, value)
    const number = Number(signed)
    this.push(Number.isSafeInteger(number) ? number : signed)
  }

  pushFloat(): void {
    this.push(this.#take(8).readDoubleBE())
  }

  pushText(sizeBytes: number): void {
    const bytes = this.#take(this.#uint(sizeBytes))
    // Python writes half a surrogate pair as such, which is not UTF-8.
    if (!isUtf8(bytes)) throw this.#refusal('a text holds half a character')
    this.push(bytes.toString('utf8'))
  }

  pushBytes(sizeBytes: number): void {
    this.push(Uint8Array.from(this.#take(this.#uint(sizeBytes))))
  }

  /** Reads `str` of Python 2: a text when it is ASCII, else bytes. */
  pushOldText(sizeBytes: number): void {
    const bytes = this.#take(this.#uint(sizeBytes))
    this.push(bytes.every((byte) => byte < 0x80) ? bytes.toString('latin1') : Uint8Array.from(bytes))
  }

  pushName(): void {
    const name = `${this.#line()}.${this.#line()}`
    if (name !== BYTES_OF_TEXT && !NO_BYTES.includes(name)) throw this.#refusal(`it refers to ${name}`)
    this.push(new PythonName(name))
  }

  refuseStackName(): never {
    const name = this.#pop()
    const module = this.#pop()
    throw this.#refusal(`it refers to ${String(module)}.${String(name)}`)
  }

  /** Reads the two calls that protocol 2 writes for bytes, and refuses all others. */
  bytesOfCall(): void {
    const [args, called] = [this.#pop(), this.#pop()]
    if (!(called instanceof PythonName)) throw this.#refusal('it calls something that is not a function')
    const [text, encoding, ...more] = Array.isArray(args) ? args : [called]
    if (
      called.name === BYTES_OF_TEXT &&
      typeof text === 'string' &&
      encoding === 'latin1' &&
      more.length === 0
    )
      this.push(this.#latin1(text))
    else if (called.name !== BYTES_OF_TEXT && Array.isArray(args) && args.length === 0)
      this.push(new Uint8Array(0))
    else throw this.#refusal(`it calls ${called.name}`)
  }

  #latin1(text: string): Uint8Array {
    const bytes =
      this.#bytesOf.get(text) ?? latin1Bytes(text, () => this.#refusal('its bytes are not latin1'))
    this.#bytesOf.set(text, bytes)
    return bytes
  }

  pushTuple(size: number): void {
    this.push(this.#popMany(size))
  }

  pushMarkedList(): void {
    this.push(this.#popToMark())
  }

  pushMarkedDict(): void {
    const entries = this.#popToMark()
    this.push(new Map())
    this.#setEntries(entries)
  }

  append(values: readonly PythonValue[]): void {
    const list = this.#stack.at(-1)
    if (!Array.isArray(list)) throw this.#refusal('it appends to something that is not a list')
    for (const value of values) list.push(value)
  }

  appendMarked(): void {
    this.append(this.#popToMark())
  }

  appendOne(): void {
    this.append(this.#popMany(1))
  }

  setOne(): void {
    this.#setEntries(this.#popMany(2))
  }

  setMarked(): void {
    this.#setEntries(this.#popToMark())
  }

  drop(): void {
    this.#pop()
  }

  dropToMark(): void {
    this.#popToMark()
  }

  repeat(): void {
    this.push(this.#top())
  }

  remember(index = this.#memo.size): void {
    this.#memo.set(index, this.#top())
  }

  rememberAt(sizeBytes: number): void {
    this.remember(this.#uint(sizeBytes))
  }

  recall(sizeBytes: number): void {
    const index = this.#uint(sizeBytes)
    const value = this.#memo.get(index)
    if (value === undefined) throw this.#refusal(`it recalls value ${index}, which is not there`)
    this.push(value)
  }

  #setEntries(entries: readonly PythonValue[]): void {
    const dict = this.#stack.at(-1)
    if (!(dict instanceof Map) || entries.length % 2 !== 0)
      throw this.#refusal('it sets entries of something that is not a dict')
    for (let n = 0; n < entries.length; n += 2) dict.set(entries[n]!, entries[n + 1]!)
  }

  #result(): PythonValue {
    const value = this.#pop()
    if (this.#stack.length > 0 || value instanceof PythonName) throw this.#refusal('it ends in the middle')
    return value
  }

  #popToMark(): PythonValue[] {
    const mark = this.#marks.pop()
    if (mark === undefined || mark > this.#stack.length) throw this.#refusal('a mark is missing')
    return this.#popMany(this.#stack.length - mark)
  }

  #popMany(count: number): PythonValue[] {
    const floor = this.#marks.at(-1) ?? 0
    if (this.#stack.length - count < floor) throw this.#refusal('its stack is empty')
    return this.#stack.splice(this.#stack.length - count).map((value) => {
      if (value instanceof PythonName) throw this.#refusal(`it refers to ${value.name}`)
      return value
    })
  }

  #pop(): Held {
    const value = this.#top()
    this.#stack.pop()
    return value
  }

  #top(): Held {
    if (this.#stack.length <= (this.#marks.at(-1) ?? 0)) throw this.#refusal('its stack is empty')
    return this.#stack.at(-1)!
  }

  #line(): string {
    const end = this.#bytes.indexOf(0x0a, this.#at)
    if (end < 0) throw this.#refusal('it is cut off')
    const text = this.#bytes.toString('utf8', this.#at, end)
    this.#at = end + 1
    return text
  }

  #uint(size: number): number {
    const bytes = this.#take(size)
    if (size <= 4) return bytes.readUIntLE(0, size)
    const value = bytes.readBigUInt64LE()
    // Longer than the pickle, whatever the number says.
    return value > BigInt(this.#bytes.length) ? this.#bytes.length + 1 : Number(value)
  }

  #take(count: number): Buffer {
    if (count > this.#bytes.length - this.#at) throw this.#refusal('it is cut off')
    const taken = this.#bytes.subarray(this.#at, this.#at + count)
    this.#at += count
    return taken
  }

  #refusal(reason: string, at = this.#at): WebloomError {
    return new WebloomError('WL_IMPORT_REFUSED', `the pickle is not read: ${shortened(reason)} (byte ${at})`)
  }
}

const OPCODES = { PROTO: 0x80, STOP: 0x2e } as const

type Step = (reader: PickleReader) => void

/** The opcodes for data. The names are those of Python's pickletools. */
const STEPS: { readonly [opcode: number]: Step } = {
  128: (reader) => reader.checkProtocol(), // PROTO
  149: (reader) => reader.skip(8), // FRAME
  40: (reader) => reader.mark(), // MARK
  78: (reader) => reader.push(null), // NONE
  136: (reader) => reader.push(true), // NEWTRUE
  137: (reader) => reader.push(false), // NEWFALSE
  74: (reader) => reader.pushInt32(), // BININT
  75: (reader) => reader.pushUint(1), // BININT1
  77: (reader) => reader.pushUint(2), // BININT2
  138: (reader) => reader.pushLong(1), // LONG1
  139: (reader) => reader.pushLong(4), // LONG4
  71: (reader) => reader.pushFloat(), // BINFLOAT
  140: (reader) => reader.pushText(1), // SHORT_BINUNICODE
  88: (reader) => reader.pushText(4), // BINUNICODE
  141: (reader) => reader.pushText(8), // BINUNICODE8
  67: (reader) => reader.pushBytes(1), // SHORT_BINBYTES
  66: (reader) => reader.pushBytes(4), // BINBYTES
  142: (reader) => reader.pushBytes(8), // BINBYTES8
  150: (reader) => reader.pushBytes(8), // BYTEARRAY8
  85: (reader) => reader.pushOldText(1), // SHORT_BINSTRING
  84: (reader) => reader.pushOldText(4), // BINSTRING
  93: (reader) => reader.push([]), // EMPTY_LIST
  97: (reader) => reader.appendOne(), // APPEND
  101: (reader) => reader.appendMarked(), // APPENDS
  108: (reader) => reader.pushMarkedList(), // LIST
  41: (reader) => reader.push([]), // EMPTY_TUPLE
  133: (reader) => reader.pushTuple(1), // TUPLE1
  134: (reader) => reader.pushTuple(2), // TUPLE2
  135: (reader) => reader.pushTuple(3), // TUPLE3
  116: (reader) => reader.pushMarkedList(), // TUPLE
  125: (reader) => reader.push(new Map()), // EMPTY_DICT
  115: (reader) => reader.setOne(), // SETITEM
  117: (reader) => reader.setMarked(), // SETITEMS
  100: (reader) => reader.pushMarkedDict(), // DICT
  48: (reader) => reader.drop(), // POP
  49: (reader) => reader.dropToMark(), // POP_MARK
  50: (reader) => reader.repeat(), // DUP
  113: (reader) => reader.rememberAt(1), // BINPUT
  114: (reader) => reader.rememberAt(4), // LONG_BINPUT
  148: (reader) => reader.remember(), // MEMOIZE
  104: (reader) => reader.recall(1), // BINGET
  106: (reader) => reader.recall(4), // LONG_BINGET
  99: (reader) => reader.pushName(), // GLOBAL
  147: (reader) => reader.refuseStackName(), // STACK_GLOBAL
  82: (reader) => reader.bytesOfCall(), // REDUCE
}

/** Other opcodes that occur in pickles, by name. */
const REFUSED: { readonly [opcode: number]: string } = {
  143: 'a set',
  144: 'a set',
  145: 'a frozenset',
  98: 'an object (BUILD)',
  129: 'an object (NEWOBJ)',
  146: 'an object (NEWOBJ_EX)',
  105: 'an object (INST)',
  111: 'an object (OBJ)',
  80: 'a persistent id',
  81: 'a persistent id',
  130: 'a registered extension (EXT1)',
  131: 'a registered extension (EXT2)',
  132: 'a registered extension (EXT4)',
  151: 'a buffer outside of the pickle',
}

function latin1Bytes(text: string, refusal: () => Error): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let n = 0; n < text.length; n++) {
    const code = text.charCodeAt(n)
    if (code > 0xff) throw refusal()
    bytes[n] = code
  }
  return bytes
}

function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
