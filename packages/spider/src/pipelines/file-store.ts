import { createHash, type Hash, randomUUID } from 'node:crypto'
import { closeSync, createReadStream, openSync, writeSync } from 'node:fs'
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { WebloomError } from '@webloom/core'
import { makeFolders } from '../feeds/storages/output-path.ts'

// In the store itself, as a file can be renamed only within one file system.
const UNFINISHED = '.unfinished'
// A download takes minutes. An older file was left by a process that was killed.
const UNFINISHED_MS_MAX = 24 * 3_600_000

/**
 * A folder of downloaded files. A file appears in it when it is complete. Until then it has a name of its own in
 * `.unfinished`, so that neither a kill nor a second worker leaves or sees half a file.
 */
export class FileStore {
  readonly #folder: string
  readonly #unfinished: string

  constructor(folder: string) {
    this.#folder = folder
    this.#unfinished = join(folder, UNFINISHED)
  }

  /** Makes the folder. Throws WL_OUTPUT_UNWRITABLE when that is not possible. */
  async open(): Promise<void> {
    try {
      await makeFolders(this.#unfinished)
      await this.#removeAbandoned()
      const probe = this.begin(randomUUID())
      probe.write(new Uint8Array(0))
      await probe.discard()
    } catch (error) {
      throw new WebloomError(
        'WL_OUTPUT_UNWRITABLE',
        `FILES_STORE is ${this.#folder}, which cannot be written: ${(error as Error).message}`,
        { cause: error },
      )
    }
  }

  /** Resolves to the MD5 in hex of the file at that path; to undefined when no file there was written since `sinceMs`. */
  async checksumOf(path: string, sinceMs: number): Promise<string | undefined> {
    const whole = this.#within(path)
    const found = await stat(whole).catch(() => undefined)
    if (!found?.isFile() || found.mtimeMs < sinceMs) return undefined
    const hash = createHash('md5')
    for await (const chunk of createReadStream(whole)) hash.update(chunk as Buffer)
    return hash.digest('hex')
  }

  /** Begins a file that no reader sees before it is finished; then it replaces the one at that path. */
  begin(path: string): UnfinishedFile {
    return new UnfinishedFile(join(this.#unfinished, randomUUID()), this.#within(path))
  }

  /** Returns the path within the store. Parts of it may come from a page, and must not lead out of the store. */
  #within(path: string): string {
    const whole = resolve(this.#folder, path)
    if (whole.startsWith(`${resolve(this.#folder)}${sep}`)) return whole
    throw new Error(`the path ${JSON.stringify(path)} leads out of FILES_STORE`)
  }

  async #removeAbandoned(): Promise<void> {
    const oldest = Date.now() - UNFINISHED_MS_MAX
    for (const name of await readdir(this.#unfinished)) {
      const path = join(this.#unfinished, name)
      const found = await stat(path).catch(() => undefined)
      if (found && found.mtimeMs < oldest) await rm(path, { force: true })
    }
  }
}

/** A file that is being downloaded. */
export class UnfinishedFile {
  readonly #path: string
  readonly #finalPath: string
  readonly #hash: Hash = createHash('md5')
  #file: number | undefined

  constructor(path: string, finalPath: string) {
    this.#path = path
    this.#finalPath = finalPath
  }

  /**
   * Writes synchronously, as the data only goes to the page cache: a stream would need memory for what the network brings
   * meanwhile. Throws WL_OUTPUT_FAILED.
   */
  write(chunk: Uint8Array): void {
    this.#hash.update(chunk)
    try {
      this.#file ??= openSync(this.#path, 'wx')
      for (let at = 0; at < chunk.length; ) at += writeSync(this.#file, chunk, at)
    } catch (error) {
      throw this.#failed(error)
    }
  }

  /** Puts the file into the store and returns its MD5 in hex. Throws WL_OUTPUT_FAILED. */
  async finish(): Promise<string> {
    this.write(new Uint8Array(0))
    try {
      this.#close()
      await makeFolders(dirname(this.#finalPath))
      await rename(this.#path, this.#finalPath)
    } catch (error) {
      throw this.#failed(error)
    }
    return this.#hash.digest('hex')
  }

  /** Removes the file; does nothing when it is finished. */
  async discard(): Promise<void> {
    this.#close()
    await rm(this.#path, { force: true })
  }

  #close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  #failed(error: unknown): WebloomError {
    const { message } = error as Error
    return new WebloomError('WL_OUTPUT_FAILED', `${this.#finalPath} cannot be written: ${message}`, {
      cause: error,
    })
  }
}
