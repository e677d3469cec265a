import { open, realpath } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type Crawler,
  DownloadError,
  type DownloadHandler,
  type DownloadOptions,
  IgnoreRequest,
  type Request,
  type Response,
} from '@webloom/core'
import { type CreateResponse, wholeAnswer } from './whole-answer.ts'

export interface FileDownloadHandlerOptions {
  /** FILE_URLS_ALLOWED: folders and files that may be read; none when it is empty. */
  readonly allowed: readonly string[]
  /** DOWNLOAD_MAXSIZE: a larger file is refused. 0: no bound. */
  readonly bodyBytesMax: number
  readonly createResponse?: CreateResponse | undefined
}

/**
 * `file:` URLs: files of this machine, from folders that FILE_URLS_ALLOWED names.
 *
 * A page from outside may hold a link to any file, so nothing is read that is not allowed, and a symbolic link that leads
 * out of the folder is followed to where it leads before it is judged.
 */
export class FileDownloadHandler implements DownloadHandler {
  readonly #options: FileDownloadHandlerOptions

  constructor(options: FileDownloadHandlerOptions) {
    this.#options = options
  }

  static fromCrawler({ settings, createResponse }: Crawler): FileDownloadHandler {
    return new this({
      allowed: settings.getList('FILE_URLS_ALLOWED').map(String),
      bodyBytesMax: settings.getInt('DOWNLOAD_MAXSIZE'),
      createResponse,
    })
  }

  async download(request: Request, options: DownloadOptions): Promise<Response> {
    const { signal, onStart } = options
    signal.throwIfAborted()
    const path = await this.#permitted(request.url)
    onStart()
    const body = await this.#read(path, request, signal)
    return wholeAnswer(request, { body }, options, this.#options.createResponse)
  }

  /** Where the file really lies. Throws `IgnoreRequest` when it may not be read, whether or not it is there. */
  async #permitted(url: string): Promise<string> {
    const written = pathOf(url)
    if (written !== undefined) {
      const path = await realPath(written)
      for (const allowed of this.#options.allowed.map((one) => resolve(one)))
        if (isWithin(path, allowed) || isWithin(path, await realPath(allowed))) return path
    }
    throw new IgnoreRequest(
      `${url} is a file of this machine, and no folder of FILE_URLS_ALLOWED holds it; FILE_URLS_ALLOWED=/the/folder lets its files be read`,
      'WL_ADDRESS_REFUSED',
    )
  }

  async #read(path: string, request: Request, signal: AbortSignal): Promise<Uint8Array> {
    await using file = await open(path).catch((cause: Error) => {
      throw new DownloadError('DownloadFailedError', `${request.url}: ${cause.message}`, { cause })
    })
    const stats = await file.stat()
    if (!stats.isFile()) throw new DownloadError('DownloadFailedError', `${request.url} is no file`)
    const given = request.hasMeta ? request.meta.download_maxsize : undefined
    const bytesMax = typeof given === 'number' ? given : this.#options.bodyBytesMax
    if (bytesMax > 0 && stats.size > bytesMax)
      throw new DownloadError(
        'DownloadTooLargeError',
        `${request.url} has ${stats.size} bytes; DOWNLOAD_MAXSIZE (or meta.download_maxsize) is ${bytesMax}`,
      )
    return await file.readFile({ signal })
  }
}

/** Undefined for a URL that names a file of another machine, or none. */
function pathOf(url: string): string | undefined {
  try {
    return fileURLToPath(url)
  } catch {
    return undefined
  }
}

/** Without symbolic links; of what is not there, as it is written. */
async function realPath(path: string): Promise<string> {
  return await realpath(path).catch(() => path)
}

function isWithin(path: string, place: string): boolean {
  return path === place || path.startsWith(place.endsWith(sep) ? place : place + sep)
}
