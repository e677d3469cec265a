/**
 * A cache of plain files, in the places that Scrapy gives them:
 *
 *     <HTTPCACHE_DIR>/<spider>/<first two of the fingerprint>/<fingerprint>/
 *         meta               url, method, status, time, and the length and digest of each file below, as JSON
 *         request_headers    request_body
 *         response_headers   response_body
 *
 * An entry is written under another name and then renamed, so that a kill leaves the old entry, none, or the new one. What
 * a power cut damages is found by length and digest when the entry is read.
 */

import { createHash, randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { type Crawler, makeFolder } from '@webloom/core'
import {
  BrokenCacheEntry,
  type CachedExchange,
  cacheName,
  cacheStorageOptionsOf,
  type HttpCacheStorage,
  type HttpCacheStorageOptions,
} from './http-cache-storage.ts'

const compress = promisify(gzip)
const decompress = promisify(gunzip)

const PARTS = ['request_headers', 'request_body', 'response_headers', 'response_body'] as const

type Part = (typeof PARTS)[number]

// No worker replaces an entry ten times while it is read once. A damaged entry fails the second read already.
const READS_MAX = 10

interface Meta {
  readonly url: string
  readonly method: string
  readonly status: number
  /** Seconds since 1970, as in Scrapy. */
  readonly timestamp: number
  readonly gzip: boolean
  readonly sha256: Readonly<Record<Part, string>>
  /** What a browser brought beside the page, as JSON. */
  readonly rendered?: string
}

/** A cache in a folder for each answer: HTTPCACHE_STORAGE=file. */
export class FileCacheStorage implements HttpCacheStorage {
  readonly #folder: string
  readonly #expirationMs: number
  readonly #gzip: boolean

  constructor({ folder, spiderName, expirationMs, gzip }: HttpCacheStorageOptions) {
    this.#folder = join(resolve(folder), cacheName(spiderName))
    this.#expirationMs = expirationMs
    this.#gzip = gzip
  }

  static fromCrawler(crawler: Crawler): FileCacheStorage {
    return new this(cacheStorageOptionsOf(crawler))
  }

  /** Reads an entry again when another worker replaced it meanwhile. Each meta fits only the parts that were stored with it. */
  async retrieve(fingerprint: string): Promise<CachedExchange | undefined> {
    const entry = this.#entry(fingerprint)
    let broken: Buffer | undefined
    for (let reads = 1; ; reads++) {
      const text = await readIfThere(join(entry, 'meta'))
      if (text === undefined) return undefined
      try {
        return await this.#read(entry, readMeta(text))
      } catch (error) {
        if (broken?.equals(text) || reads === READS_MAX) throw error
        broken = text
      }
    }
  }

  async #read(entry: string, meta: Meta): Promise<CachedExchange | undefined> {
    // Scrapy's times are in seconds; multiplied by a thousand, some are a fraction off their millisecond.
    const storedAtMs = Math.round(meta.timestamp * 1000)
    if (this.#expirationMs > 0 && Date.now() - storedAtMs > this.#expirationMs) return undefined
    const [requestHeaders, requestBody, responseHeaders, body] = await Promise.all(
      PARTS.map((part) => readPart(entry, part, meta)),
    )
    return {
      url: meta.url,
      method: meta.method,
      status: meta.status,
      storedAtMs,
      requestHeaders: readHeaders(requestHeaders!),
      requestBody: requestBody!,
      responseHeaders: readHeaders(responseHeaders!),
      body: body!,
      ...(meta.rendered !== undefined && { rendered: meta.rendered }),
    }
  }

  async store(fingerprint: string, exchange: CachedExchange): Promise<void> {
    const entry = this.#entry(fingerprint)
    const unfinished = `${entry}.${randomUUID()}`
    makeFolder(unfinished)
    try {
      await this.#write(unfinished, exchange)
      await replaceFolder(unfinished, entry)
    } catch (error) {
      await rm(unfinished, { recursive: true, force: true })
      throw error
    }
  }

  async remove(fingerprint: string): Promise<void> {
    await takeAway(this.#entry(fingerprint))
  }

  close(): void {}

  #entry(fingerprint: string): string {
    return join(this.#folder, fingerprint.slice(0, 2), fingerprint)
  }

  async #write(folder: string, exchange: CachedExchange): Promise<void> {
    const parts: Record<Part, Uint8Array> = {
      request_headers: headerLines(exchange.requestHeaders),
      request_body: exchange.requestBody,
      response_headers: headerLines(exchange.responseHeaders),
      response_body: exchange.body,
    }
    const meta: Meta = {
      url: exchange.url,
      method: exchange.method,
      status: exchange.status,
      timestamp: exchange.storedAtMs / 1000,
      gzip: this.#gzip,
      ...(exchange.rendered !== undefined && { rendered: exchange.rendered }),
      sha256: Object.fromEntries(PARTS.map((part) => [part, digest(parts[part])])) as Record<Part, string>,
    }
    for (const part of PARTS)
      await writeFile(join(folder, part), this.#gzip ? await compress(parts[part]) : parts[part])
    await writeFile(join(folder, 'meta'), JSON.stringify(meta))
  }
}

/**
 * Puts a folder in the place of another. A folder can only be renamed to where none is, so between the two steps the entry
 * is a miss, but never half an entry.
 */
async function replaceFolder(from: string, to: string): Promise<void> {
  await takeAway(to)
  try {
    await rename(from, to)
  } catch (error) {
    // Another worker was quicker with the same page, and its answer is as good as ours.
    if (!['ENOTEMPTY', 'EEXIST', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    await rm(from, { recursive: true, force: true })
  }
}

/**
 * Removes a folder in one step for its readers. Of two workers that do so at once each deletes only what it has renamed
 * itself.
 */
async function takeAway(path: string): Promise<void> {
  const away = `${path}.${randomUUID()}`
  try {
    await rename(path, away)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  await rm(away, { recursive: true, force: true })
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw new BrokenCacheEntry(`${path} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

function readMeta(text: Buffer): Meta {
  try {
    const meta = JSON.parse(text.toString()) as Meta
    if (typeof meta.status === 'number' && typeof meta.timestamp === 'number' && meta.sha256) return meta
  } catch {
    // Scrapy writes its meta as Python, and a torn meta is not readable at all. Neither is an entry of ours.
  }
  throw new BrokenCacheEntry('its meta is not readable')
}

async function readPart(entry: string, part: Part, { gzip, sha256 }: Meta): Promise<Buffer> {
  const bytes = await readIfThere(join(entry, part))
  if (bytes === undefined) throw new BrokenCacheEntry(`its ${part} is not there`)
  const whole = gzip ? await unpacked(bytes, part) : bytes
  if (digest(whole) !== sha256[part]) throw new BrokenCacheEntry(`its ${part} is not what was stored`)
  return whole
}

async function unpacked(bytes: Buffer, part: Part): Promise<Buffer> {
  try {
    return await decompress(bytes)
  } catch (cause) {
    throw new BrokenCacheEntry(`its ${part} is not readable`, { cause })
  }
}

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Writes the headers as they go over the wire. `Headers` allows no line break in a value. */
function headerLines(headers: CachedExchange['responseHeaders']): Buffer {
  return Buffer.from(headers.map(([name, value]) => `${name}: ${value}\r\n`).join(''), 'utf8')
}

function readHeaders(lines: Buffer): [string, string][] {
  return lines
    .toString('utf8')
    .split('\r\n')
    .filter((line) => line !== '')
    .map((line) => {
      const colon = line.indexOf(': ')
      return [line.slice(0, colon), line.slice(colon + 2)]
    })
}
