/**
 * A body as it is received.
 *
 * A chunk is a view into what was read from the socket, and keeps all of that in memory. From an honest server that is
 * nearly all body, and the chunk is kept as it is. A hostile server sends chunks of one byte, which would cost a hundred
 * times their size. So after the first few chunks, those that are small, or a small part of what was read, are copied
 * together.
 */
export class BodyChunks {
  readonly #chunks: Buffer[] = []
  #bytes = 0
  /** The block that small chunks are copied into, and how many of its bytes are in use. */
  #block: Buffer | undefined
  #filled = 0

  /** The block for the whole body, when its length was announced. */
  #announced: Buffer | undefined

  get bytes(): number {
    return this.#bytes
  }

  /**
   * Tells how many bytes will come. A large body is then put together as it comes, so that it is never in memory twice.
   * Bytes that do not come cost no memory; bytes beyond the announced length are left out.
   */
  announce(bytes: number): void {
    if (bytes >= LARGE_BYTES && bytes <= ANNOUNCED_BYTES_MAX) this.#announced = Buffer.allocUnsafeSlow(bytes)
  }

  add(chunk: Buffer): void {
    const at = this.#bytes
    this.#bytes += chunk.length
    if (this.#announced) chunk.copy(this.#announced, at)
    else this.#append(chunk)
  }

  #append(chunk: Buffer): void {
    if (this.#chunks.length < AS_THEY_ARE || isMostOfItsMemory(chunk)) this.#keep(chunk)
    else for (let at = 0; at < chunk.length; ) at += this.#copy(chunk, at)
  }

  /** Returns the body in one piece. */
  whole(): Buffer {
    if (this.#announced) return this.#announced.subarray(0, this.#bytes)
    this.#keepBlock()
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#bytes)
  }

  #keep(chunk: Buffer): void {
    this.#keepBlock()
    this.#chunks.push(chunk)
  }

  #keepBlock(): void {
    if (this.#block) this.#chunks.push(this.#block.subarray(0, this.#filled))
    this.#block = undefined
    this.#filled = 0
  }

  /** Copies the chunk from `at` on into the block. Returns how many bytes found room. */
  #copy(chunk: Buffer, at: number): number {
    this.#block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES)
    const copied = chunk.copy(this.#block, this.#filled, at)
    this.#filled += copied
    if (this.#filled === BLOCK_BYTES) this.#keepBlock()
    return copied
  }
}

// Most bodies have no more chunks, and are never copied.
const AS_THEY_ARE = 8
const SMALL_BYTES = 1024
const LARGE_BYTES = 1_048_576
// Memory for an announced body is reserved at once. Larger bodies are rare, and are put together at the end.
const ANNOUNCED_BYTES_MAX = 134_217_728
const BLOCK_BYTES = 16_384

function isMostOfItsMemory(chunk: Buffer): boolean {
  return chunk.length >= SMALL_BYTES && chunk.length * 2 >= chunk.buffer.byteLength
}
