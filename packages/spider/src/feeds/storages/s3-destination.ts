import { WebloomError } from '@webloom/core'
import { type Destination, freeName } from './destination.ts'
import { uriTime } from './feed-uri.ts'
import type { S3Bucket, SentPart } from './s3-bucket.ts'

// S3 takes at most 10 000 parts: with this size, objects of 80 GB.
const PART_BYTES = 8 * 1024 * 1024

// Few, as the start of the crawl waits for the answer.
const OPENING_TRIES = 3

/** An object of a bucket, sent whole, or in parts when it is big. No reader sees it before its last byte has arrived. */
export class S3Destination implements Destination {
  readonly storage = 'S3FeedStorage'
  readonly #bucket: S3Bucket
  readonly #key: string
  readonly #uri: string

  /** @param uri its name in messages */
  constructor(bucket: S3Bucket, key: string, uri: string) {
    this.#bucket = bucket
    this.#key = key
    this.#uri = uri
  }

  /** Always replaces the object, as in Scrapy. Begins an upload and aborts it, which needs the same rights as `put`. */
  async open(): Promise<'nothing' | 'empty' | 'something'> {
    try {
      await this.#bucket.abortParts(this.#key, await this.#bucket.beginParts(this.#key, OPENING_TRIES))
      const bytes = await this.#bucket.sizeOf(this.#key).catch(() => undefined)
      return bytes === undefined ? 'nothing' : bytes === 0 ? 'empty' : 'something'
    } catch (error) {
      throw new WebloomError(
        'WL_OUTPUT_UNWRITABLE',
        `${this.#uri} cannot be written: ${(error as Error).message}. Look at the bucket, and at AWS_ACCESS_KEY_ID, AWS_REGION_NAME and AWS_ENDPOINT_URL.`,
        { cause: error },
      )
    }
  }

  async put(pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const parts = partsOf(pieces)
    const first = await parts.next()
    const second = await parts.next()
    if (second.done) return this.#bucket.put(this.#key, first.value ?? new Uint8Array(0))
    await this.#putInParts(prepended([first.value as Buffer, second.value], parts))
  }

  async setAside(): Promise<string> {
    const kept = await freeName(`${this.#key}.${uriTime(new Date())}`, (key) => this.#isThere(key))
    await this.#bucket.copy(this.#key, kept)
    return kept
  }

  /** Resolves to whether the object exists; also to false when the bucket does not tell, as that needs the right to list. */
  async #isThere(key: string): Promise<boolean> {
    return (await this.#bucket.sizeOf(key).catch(() => undefined)) !== undefined
  }

  async #putInParts(parts: AsyncIterable<Uint8Array>): Promise<void> {
    const uploadId = await this.#bucket.beginParts(this.#key)
    try {
      const sent: SentPart[] = []
      for await (const part of parts)
        sent.push(await this.#bucket.sendPart(this.#key, uploadId, sent.length + 1, part))
      await this.#bucket.completeParts(this.#key, uploadId, sent)
    } catch (error) {
      // Parts that are never completed would be kept and paid for.
      await this.#bucket.abortParts(this.#key, uploadId).catch(() => {})
      throw error
    }
  }
}

async function* prepended(
  first: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* first
  yield* rest
}

/** Yields the same bytes in pieces of the size of a part; the last one is shorter. */
async function* partsOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, undefined> {
  let gathered: Uint8Array[] = []
  let bytes = 0
  for await (const piece of pieces) {
    gathered.push(piece)
    bytes += piece.length
    while (bytes >= PART_BYTES) {
      const whole = Buffer.concat(gathered)
      yield whole.subarray(0, PART_BYTES)
      gathered = [whole.subarray(PART_BYTES)]
      bytes -= PART_BYTES
    }
  }
  if (bytes > 0) yield Buffer.concat(gathered)
}
