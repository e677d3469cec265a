import { fstatSync, type Stats, statSync, writeSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { FeedOutput } from './feed-output.ts'
import { failed, removed, unwritable } from './output-errors.ts'
import type { OutputLock } from './output-lock.ts'
import { probe } from './output-path.ts'

export interface FileOutputOptions {
  readonly path: string
  /** The output's URI as the user wrote it, for messages. */
  readonly uri: string
  /** True: the file's contents are replaced, as soon as there is something to replace them with. */
  readonly overwrite: boolean
  readonly begun?: OutputBegun
  /** True: it must still be at `path` at the end. Any other one may be moved, and is written to where it is. */
  readonly isReadAgain?: boolean
  /** Held while the file is emptied: only one of the workers that share it may do so. */
  readonly lock?: OutputLock | undefined
}

/** Which outputs a crawl that may be resumed has begun. It goes on in such an output instead of replacing it. */
export interface OutputBegun {
  /** Resolves to whether an earlier run of the crawl has begun the output. */
  before(): Promise<boolean>
  /** Notes that this crawl has begun the output, which is empty now. */
  note(): Promise<void>
}

export const NEVER_BEGUN: OutputBegun = { before: async () => false, note: async () => {} }

/**
 * A file that is only ever appended to.
 *
 * The file is created or emptied when the first text comes or the crawl ends, and not when the output is opened: a crawl
 * that does not start changes nothing. Two processes may append whole lines to the same file. One that was moved is
 * written to where it is now; one that was removed would take text for ever, and nobody would find it.
 */
export class FileOutput implements FeedOutput {
  readonly storage = 'FileFeedStorage'
  readonly #options: FileOutputOptions
  readonly #begun: OutputBegun
  #overwrite: boolean
  #file: OpenFile | undefined
  #failure: unknown
  #isGone = false
  /** Settles when all writes so far are done; never rejects. */
  #last: Promise<void> = Promise.resolve()

  constructor(options: FileOutputOptions) {
    this.#options = options
    this.#begun = options.begun ?? NEVER_BEGUN
    this.#overwrite = options.overwrite
  }

  async open(resume: (file: FileHandle, size: number) => Promise<void>): Promise<void> {
    const { path, uri, overwrite } = this.#options
    this.#overwrite = overwrite && !(await this.#begun.before())
    try {
      const found = await probe(path)
      if (this.#overwrite || !found?.isFile() || found.size === 0) return
      const file = await open(path, 'a+')
      await resume(file, found.size).finally(() => file.close())
    } catch (error) {
      throw await unwritable(uri, path, error)
    }
  }

  write(text: string): Promise<void> {
    return this.#inTurn((file) => append(file, Buffer.from(text)))
  }

  async close(createEmpty: boolean): Promise<void> {
    await this.#last
    let trouble: unknown
    try {
      if (createEmpty && !this.#failure) await this.#inTurn(async () => {})
      if (this.#file && !this.#failure) this.#refuseRemoved(this.#file)
    } catch (error) {
      trouble = error
    }
    const file = this.#file
    this.#file = undefined
    await file?.handle.close().catch((error) => {
      trouble ??= error
    })
    if (trouble) throw failed(this.#options.uri, trouble)
  }

  /** Calls `act` with the file, which the first call creates or empties. */
  #inTurn(act: (file: OpenFile) => Promise<void>): Promise<void> {
    const done = this.#last.then(async () => {
      if (this.#failure) throw this.#failure
      try {
        this.#file ??= await this.#openAtEnd()
        if (performance.now() - this.#file.lookedAtMs > LOOK_EVERY_MS) this.#refuseRemoved(this.#file)
        await act(this.#file)
      } catch (error) {
        this.#failure = failed(this.#options.uri, error)
        throw this.#failure
      }
    })
    this.#last = done.catch(() => {})
    return done
  }

  /** True once the file was found to have been removed. */
  get isGone(): boolean {
    return this.#isGone
  }

  #refuseRemoved(file: OpenFile): void {
    file.lookedAtMs = performance.now()
    if (file.size === undefined || !file.hasName) return
    const { path, isReadAgain = false } = this.#options
    const found = fstatSync(file.handle.fd)
    this.#isGone =
      found.nlink === 0 || (isReadAgain && !isSame(found, statSync(path, { throwIfNoEntry: false })))
    if (this.#isGone) throw removed(this.#options)
  }

  async #openAtEnd(): Promise<OpenFile> {
    const { path, lock } = this.#options
    if (!lock || !this.#overwrite) return this.#openedAtEnd(path)
    await lock.takeInTurn()
    try {
      this.#overwrite = !(await this.#begun.before())
      return await this.#openedAtEnd(path)
    } finally {
      await lock.release()
    }
  }

  async #openedAtEnd(path: string): Promise<OpenFile> {
    const file = await openAtEnd(path, this.#overwrite)
    await this.#begun.note()
    return file
  }
}

interface OpenFile {
  readonly handle: FileHandle
  /** The file's size if only this process writes; absent for a pipe or device. */
  size?: number
  /** False for one that had none from the start, as `/dev/fd/3` may have. */
  readonly hasName: boolean
  /** When it was last seen to be there, by `performance.now()`. */
  lookedAtMs: number
}

/** No event tells of it. */
const LOOK_EVERY_MS = 1000

async function openAtEnd(path: string, overwrite: boolean): Promise<OpenFile> {
  const handle = await open(path, 'a')
  const found = await handle.stat()
  const file = { handle, hasName: found.nlink > 0, lookedAtMs: performance.now() }
  if (!found.isFile()) return file
  if (overwrite) await handle.truncate(0)
  return { ...file, size: overwrite ? 0 : found.size }
}

function isSame(one: Stats, other: Stats | undefined): boolean {
  return one.ino === other?.ino && one.dev === other.dev
}

async function append(file: OpenFile, bytes: Buffer): Promise<void> {
  let written = 0
  try {
    while (written < bytes.length) written += await writePart(file, bytes, written)
    if (file.size !== undefined) file.size += written
  } catch (error) {
    await takeBack(file, written)
    throw error
  }
}

/**
 * Writes to a file synchronously: the write goes to the page cache and takes microseconds. A thread would take a turn of
 * the event loop, in which the page waits uncommitted and a kill would have it fetched again. A pipe may block, so it is
 * written in a thread.
 */
async function writePart({ handle, size }: OpenFile, bytes: Buffer, from: number): Promise<number> {
  if (size !== undefined) return writeSync(handle.fd, bytes, from)
  return (await handle.write(bytes, from)).bytesWritten
}

/** Removes the part of a text that still fitted on the disk, so that the file ends with a complete record. */
async function takeBack({ handle, size }: OpenFile, written: number): Promise<void> {
  if (size === undefined || written === 0) return
  const found = await handle.stat().catch(() => undefined)
  // Another size means another writer, whose text must stay; then the next run repairs the end. The same holds when this
  // fails: the caller already reports the disk's error.
  if (found?.size === size + written) await handle.truncate(size).catch(() => {})
}
