/**
 * A bucket of Amazon's S3 or of a service with its interface, with the calls that feeds need.
 *
 * aws4fetch signs the requests and does nothing else (17 kB, no dependencies); the SDK would bring some eighty packages for
 * three calls.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { AwsClient } from 'aws4fetch'

export interface S3BucketOptions {
  readonly bucket: string
  readonly region: string
  /** Absent: Amazon's own. */
  readonly endpoint?: string | undefined
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
  /** A canned ACL, such as `private`. Empty: the bucket's own. */
  readonly acl?: string
}

// A part goes over a slow line (1 Mbit/s) in that time with some to spare.
const REQUEST_MS = 180_000
const TRIES_MAX = 6
const FIRST_PAUSE_MS = 200

/** A part of an object that was sent. */
export interface SentPart {
  readonly number: number
  readonly etag: string
}

export class S3Bucket {
  readonly #options: S3BucketOptions
  readonly #client: AwsClient
  readonly #base: string

  constructor(options: S3BucketOptions) {
    const { bucket, region, endpoint, accessKeyId, secretAccessKey, sessionToken } = options
    this.#options = options
    this.#client = new AwsClient({
      accessKeyId,
      secretAccessKey,
      region,
      service: 's3',
      // Retries happen here, where a broken connection counts as well.
      retries: 0,
      ...(sessionToken !== undefined && { sessionToken }),
    })
    this.#base = endpoint ? `${endpoint.replace(/\/+$/, '')}/${bucket}` : amazonUrl(bucket, region)
  }

  /** Resolves to the bytes of an object; to undefined when there is none. */
  async sizeOf(key: string): Promise<number | undefined> {
    const response = await this.#ask('HEAD', key, { tolerated: [404] })
    return response.status === 404 ? undefined : Number(response.headers.get('content-length') ?? 0)
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.#ask('PUT', key, { body: bytes, headers: this.#aclHeader() })
  }

  async copy(from: string, to: string): Promise<void> {
    const source = `/${this.#options.bucket}/${encodedKey(from)}`
    await this.#ask('PUT', to, { headers: { 'x-amz-copy-source': source, ...this.#aclHeader() } })
  }

  /**
   * Begins an object that is sent in parts, and resolves to the upload's id. No reader sees the object until
   * `completeParts`.
   */
  async beginParts(key: string, triesMax = TRIES_MAX): Promise<string> {
    const response = await this.#ask('POST', key, {
      query: '?uploads=',
      headers: this.#aclHeader(),
      triesMax,
    })
    const [, uploadId] = /<UploadId>([^<]+)<\/UploadId>/.exec(await response.text()) ?? []
    if (uploadId === undefined) throw new Error('it gave no id for an upload in parts')
    return uploadId
  }

  async sendPart(key: string, uploadId: string, number: number, bytes: Uint8Array): Promise<SentPart> {
    const query = `?partNumber=${number}&uploadId=${encodeURIComponent(uploadId)}`
    const response = await this.#ask('PUT', key, { query, body: bytes })
    return { number, etag: response.headers.get('etag') ?? '' }
  }

  async completeParts(key: string, uploadId: string, parts: readonly SentPart[]): Promise<void> {
    const list = parts.map(
      ({ number, etag }) => `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag></Part>`,
    )
    const response = await this.#ask('POST', key, {
      query: `?uploadId=${encodeURIComponent(uploadId)}`,
      body: Buffer.from(`<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`),
    })
    // This one request may answer 200 and fail after that.
    const answer = await response.text()
    if (answer.includes('<Error>')) throw new Error(reasonOf(answer))
  }

  /** Removes the parts that were sent. */
  async abortParts(key: string, uploadId: string): Promise<void> {
    await this.#ask('DELETE', key, { query: `?uploadId=${encodeURIComponent(uploadId)}`, tolerated: [404] })
  }

  #aclHeader(): Record<string, string> {
    return this.#options.acl ? { 'x-amz-acl': this.#options.acl } : {}
  }

  /** Resolves to the answer. Failures that may pass are retried. Rejects with the service's error. */
  async #ask(
    method: string,
    key: string,
    request: {
      query?: string
      body?: Uint8Array
      headers?: Record<string, string>
      tolerated?: readonly number[]
      triesMax?: number
    },
  ): Promise<Response> {
    const { query = '', body, headers = {}, tolerated = [], triesMax = TRIES_MAX } = request
    const url = `${this.#base}/${encodedKey(key)}${query}`
    for (let tries = 1; ; tries++) {
      const signal = AbortSignal.timeout(REQUEST_MS)
      const init = { method, headers, signal, ...(body && { body: body as Uint8Array<ArrayBuffer> }) }
      const answer = await this.#client.fetch(url, init).catch((error: Error) => error)
      if (!(answer instanceof Error) && (answer.ok || tolerated.includes(answer.status))) return answer
      const passes = answer instanceof Error || answer.status >= 500 || answer.status === 429
      if (!passes || tries >= triesMax) throw await refusal(answer)
      if (!(answer instanceof Error)) await answer.body?.cancel()
      await sleep(FIRST_PAUSE_MS * 2 ** (tries - 1))
    }
  }
}

function amazonUrl(bucket: string, region: string): string {
  // A dot would make a host name that Amazon's certificate does not cover.
  return bucket.includes('.')
    ? `https://s3.${region}.amazonaws.com/${bucket}`
    : `https://${bucket}.s3.${region}.amazonaws.com`
}

function encodedKey(key: string): string {
  return key.split('/').map(encodeURIComponent).join('/')
}

async function refusal(answer: Response | Error): Promise<Error> {
  if (answer instanceof Error) {
    const cause = answer.cause instanceof Error ? answer.cause : answer
    return new Error(`it cannot be reached: ${cause.message}`, { cause: answer })
  }
  return new Error(`it answers ${answer.status} ${reasonOf(await answer.text().catch(() => ''))}`.trim())
}

/** Returns the code and message of an answer in XML. */
function reasonOf(xml: string): string {
  const [code, message] = ['Code', 'Message'].map(
    (tag) => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(xml)?.[1],
  )
  return [code, message].filter(Boolean).join(': ').slice(0, 300)
}
