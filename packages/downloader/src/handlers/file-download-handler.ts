import { constants, statSync } from 'node:fs'
import { type FileHandle, open, realpath, stat } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  bodyBytesMaxOf,
  type Crawler,
  DownloadError,
  type DownloadHandler,
  type DownloadOptions,
  IgnoreRequest,
  type Logger,
  protectionStat,
  type Request,
  type Response,
  SettingsError,
  type StatsCollector,
} from '@webloom/core'
import { refuseOtherSchemes } from './scheme.ts'
import { type CreateResponse, tooLarge, wholeAnswer } from './whole-answer.ts'

export interface FileDownloadHandlerOptions {
  /** FILE_URLS_ALLOWED: folders and files that may be read. When it is empty, no file may be read. */
  readonly allowed: readonly string[]
  /** DOWNLOAD_MAXSIZE, bytes: a larger file is refused. 0: no bound. */
  readonly bodyBytesMax: number
  readonly createResponse?: CreateResponse | undefined
  /** Counts the URLs that are refused. */
  readonly stats?: StatsCollector
  readonly logger?: Logger
}

/**
 * Reads `file:` URLs from folders of this machine that FILE_URLS_ALLOWED names.
 *
 * A page from outside may hold a link to any file, so only what is allowed is read. A symbolic link is followed first and
 * then judged by where it leads. Pipes and devices are never opened: they may block the process for ever, and opening some
 * of them has an effect.
 */
export class FileDownloadHandler implements DownloadHandler {
  readonly #options: FileDownloadHandlerOptions
  readonly #allowed: readonly string[]
  #hasWarned = false

  /** Throws `SettingsError` with every entry of `allowed` that is empty, or names neither a folder nor a file. */
  constructor(options: FileDownloadHandlerOptions) {
    this.#options = options
    this.#allowed = allowedPlaces(options.allowed)
  }

  static fromCrawler({ settings, createResponse, stats, logger }: Crawler): FileDownloadHandler {
    return new this({
      allowed: settings.getList('FILE_URLS_ALLOWED').map(String),
      bodyBytesMax: settings.getInt('DOWNLOAD_MAXSIZE'),
      createResponse,
      stats,
      logger,
    })
  }

  async download(request: Request, options: DownloadOptions): Promise<Response> {
    const { signal, onStart } = options
    signal.throwIfAborted()
    refuseOtherSchemes(request, 'file')
    const path = await this.#permitted(request.url)
    onStart()
    const body = await this.#read(path, request, signal)
    return wholeAnswer(request, { body }, options, this.#options.createResponse)
  }

  /** Resolves to the file's real path. Throws `IgnoreRequest` when it may not be read, whether or not it exists. */
  async #permitted(url: string): Promise<string> {
    const written = pathOf(url)
    if (written !== undefined) {
      const path = await realPath(written)
      for (const allowed of this.#allowed)
        if (isWithin(path, allowed) || isWithin(path, await realPath(allowed))) return path
    }
    throw this.#refusal(url)
  }

  #refusal(url: string): IgnoreRequest {
    const { stats, logger } = this.#options
    stats?.inc(protectionStat('file_url'))
    const line = { url, allowedBy: 'FILE_URLS_ALLOWED=/the/folder' }
    if (this.#hasWarned) logger?.debug(line, 'a request leads to a file of this machine; it is not read')
    else
      logger?.warn(
        line,
        'a request leads to a file of this machine; it is not read. Further ones are only counted',
      )
    this.#hasWarned = true
    return new IgnoreRequest(
      `${url} is a file of this machine, and no folder of FILE_URLS_ALLOWED holds it; FILE_URLS_ALLOWED=/the/folder lets its files be read`,
      'WL_ADDRESS_REFUSED',
    )
  }

  async #read(path: string, request: Request, signal: AbortSignal): Promise<Uint8Array> {
    const bytesMax = bodyBytesMaxOf(request, this.#options.bodyBytesMax) || Infinity
    const file = await openFile(path).catch((cause: Error) => {
      throw new DownloadError('DownloadFailedError', `${request.url}: ${cause.message}`, { cause })
    })
    const reading = bytesOf(file, bytesMax, signal)
    const body = await reading.finally(() => file.close())
    if (body) return body
    throw tooLarge(request.url, bytesMax)
  }
}

/** Opens the file. Throws for a path that is not a file, without opening it: a pipe would wait for a writer. */
async function openFile(path: string): Promise<FileHandle> {
  if (!(await stat(path)).isFile()) throw new Error('it is not a file')
  // If a pipe has taken the file's place meanwhile, it is opened without that wait.
  return await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
}

const CHUNK_BYTES = 65_536

/**
 * Resolves to all that can be read, whatever size the file claims: files of /proc claim 0. Resolves to undefined when there
 * is more.
 */
async function bytesOf(
  file: FileHandle,
  bytesMax: number,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  for (let total = 0; total <= bytesMax; ) {
    signal.throwIfAborted()
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES))
    if (bytesRead === 0) return Buffer.concat(chunks, total)
    chunks.push(buffer.subarray(0, bytesRead))
    total += bytesRead
  }
  return undefined
}

/** Returns FILE_URLS_ALLOWED as whole paths; relative ones begin at the working folder. */
function allowedPlaces(written: readonly string[]): readonly string[] {
  const problems = written.flatMap((place, index) => {
    const problem = problemOf(place)
    return problem === undefined
      ? []
      : [
          `FILE_URLS_ALLOWED[${index}] is ${JSON.stringify(place)}${problem}; expected a folder or a file that is there`,
        ]
  })
  if (problems.length > 0) throw new SettingsError(problems)
  return written.map((place) => resolve(place))
}

function problemOf(place: string): string | undefined {
  // With a comma at the end the whole working folder could be read.
  if (place.trim() === '') return ''
  try {
    const found = statSync(place)
    return found.isFile() || found.isDirectory() ? undefined : ', which is neither'
  } catch (error) {
    return `, which cannot be used: ${(error as Error).message}`
  }
}

/** Returns undefined for a URL that names a file of another machine, or no file. */
function pathOf(url: string): string | undefined {
  try {
    return fileURLToPath(url)
  } catch {
    return undefined
  }
}

/** Resolves to the path without symbolic links; to the path as written when no file is there. */
async function realPath(path: string): Promise<string> {
  return await realpath(path).catch(() => path)
}

function isWithin(path: string, place: string): boolean {
  return path === place || path.startsWith(place.endsWith(sep) ? place : place + sep)
}
