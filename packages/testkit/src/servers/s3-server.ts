import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface S3ServerOptions {
  readonly bucket: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/**
 * A bucket with as much of S3's interface as feeds use, that believes nobody: each request's signature (version 4) is
 * worked out anew from what came over the wire. `await using s3 = await startS3Server({ bucket, … })`.
 */
export async function startS3Server(options: S3ServerOptions): Promise<S3Server> {
  const server = new S3Server(options)
  await server.listen()
  return server
}

interface Upload {
  readonly key: string
  readonly parts: Map<number, Buffer>
}

interface Answer {
  readonly status: number
  readonly body?: string
  readonly headers?: Record<string, string>
}

export class S3Server implements AsyncDisposable {
  readonly objects = new Map<string, Buffer>()
  /** ACLs that were asked for, by key. */
  readonly acls = new Map<string, string>()
  /** Uploads that were begun, and neither completed nor given up. */
  readonly uploads = new Map<string, Upload>()
  /** Method and kind of each request, such as `PUT part`. */
  readonly asked: string[] = []
  readonly #options: S3ServerOptions
  readonly #server: Server
  #uploadCount = 0
  #faults: number[] = []

  constructor(options: S3ServerOptions) {
    this.#options = options
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  /** The next requests are answered so, one for each; 0 cuts the connection. */
  failNext(...statuses: number[]): void {
    this.#faults.push(...statuses)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const fault = this.#faults.shift()
    if (fault === 0) return void request.socket.destroy()
    const {
      status,
      body = '',
      headers = {},
    } = fault === undefined ? this.#handle(request, Buffer.concat(chunks)) : { status: fault, body: '' }
    response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers }).end(body)
  }

  #handle(request: IncomingMessage, body: Buffer): Answer {
    const url = new URL(request.url!, this.url)
    const [, bucket, ...names] = url.pathname.split('/')
    if (!this.#isSigned(request, url)) return refused(403, 'SignatureDoesNotMatch', 'The signature is wrong.')
    if (bucket !== this.#options.bucket) return refused(404, 'NoSuchBucket', 'There is no such bucket.')
    const key = names.map(decodeURIComponent).join('/')
    const acl = request.headers['x-amz-acl']
    if (typeof acl === 'string') this.acls.set(key, acl)
    const uploadId = url.searchParams.get('uploadId')
    if (uploadId !== null) return this.#handleUpload(request, uploadId, url, body)
    if (request.method === 'POST') return this.#begin(key)
    return this.#handleObject(request, key, body)
  }

  #handleObject(request: IncomingMessage, key: string, body: Buffer): Answer {
    const source = request.headers['x-amz-copy-source']
    this.asked.push(`${request.method} ${source === undefined ? 'object' : 'copy'}`)
    const found = this.objects.get(key)
    if (request.method === 'HEAD')
      return found ? { status: 200, headers: { 'content-length': String(found.length) } } : { status: 404 }
    if (source === undefined) this.objects.set(key, body)
    else
      this.objects.set(
        key,
        this.objects.get(decodeURIComponent(String(source).split('/').slice(2).join('/')))!,
      )
    return { status: 200 }
  }

  #begin(key: string): Answer {
    this.asked.push('POST uploads')
    const uploadId = `upload+${++this.#uploadCount}/=`
    this.uploads.set(uploadId, { key, parts: new Map() })
    return {
      status: 200,
      body: `<InitiateMultipartUploadResult><UploadId>${uploadId}</UploadId></InitiateMultipartUploadResult>`,
    }
  }

  #handleUpload(request: IncomingMessage, uploadId: string, url: URL, body: Buffer): Answer {
    const upload = this.uploads.get(uploadId)
    if (!upload) return refused(404, 'NoSuchUpload', 'There is no such upload.')
    if (request.method === 'PUT') {
      this.asked.push('PUT part')
      upload.parts.set(Number(url.searchParams.get('partNumber')), body)
      return { status: 200, headers: { etag: etagOf(body) } }
    }
    this.asked.push(`${request.method} upload`)
    this.uploads.delete(uploadId)
    return request.method === 'DELETE' ? { status: 204 } : this.#complete(upload, body.toString())
  }

  #complete({ key, parts }: Upload, list: string): Answer {
    const named = [...list.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]+)<\/ETag>/g)]
    const bodies = named.map(([, number, etag]) => {
      const body = parts.get(Number(number))
      return body && etagOf(body) === etag ? body : undefined
    })
    const isRight = bodies.every(
      (body, index) => body && (index === bodies.length - 1 || body.length >= 5 * 2 ** 20),
    )
    // S3 says so with a 200, as it may have begun its answer before it knew.
    if (!isRight) return refused(200, 'InvalidPart', 'A part is missing, changed or too small.')
    this.objects.set(key, Buffer.concat(bodies as Buffer[]))
    return { status: 200, body: '<CompleteMultipartUploadResult/>' }
  }

  /** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
  #isSigned(request: IncomingMessage, url: URL): boolean {
    const [, keyId, scope, names, given] =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
        request.headers.authorization ?? '',
      ) ?? []
    if (keyId !== this.#options.accessKeyId || !scope || !names || !given) return false
    const headers = names.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}\n`)
    const query = [...url.searchParams].map((pair) => pair.map(rfc3986).join('=')).sort()
    const path = url.pathname.split('/').map((name) => rfc3986(decodeURIComponent(name)))
    const canonical = [
      request.method,
      path.join('/'),
      query.join('&'),
      headers.join(''),
      names,
      request.headers['x-amz-content-sha256'],
    ].join('\n')
    const toSign = [
      'AWS4-HMAC-SHA256',
      request.headers['x-amz-date'],
      scope,
      createHash('sha256').update(canonical).digest('hex'),
    ].join('\n')
    const secret: Buffer = Buffer.from(`AWS4${this.#options.secretAccessKey}`)
    const signingKey = scope.split('/').reduce((key, part) => hmac(key, part), secret)
    return timingSafeEqual(hmac(signingKey, toSign), Buffer.from(given, 'hex'))
  }
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function rfc3986(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function etagOf(body: Buffer): string {
  return `"${createHash('md5').update(body).digest('hex')}"`
}

function refused(status: number, code: string, message: string): Answer {
  return { status, body: `<Error><Code>${code}</Code><Message>${message}</Message></Error>` }
}
