/**
 * A file that holds one JSON array, by way of a spool.
 *
 * An array is no JSON until its last bracket is written, and a killed crawl would leave a broken file. So the items
 * are kept in `<path>.spool`, one a line, which is whole at every moment:
 *
 *     write  ─► out.json.spool        as a JSON lines file
 *     close  ─► out.json.<pid>.part   the array, read from the spool line by line
 *            ─► out.json              by renaming, and the spool is removed
 *
 * When a crawl that can be resumed stops, the array is made all the same, and the spool stays: the next run goes on in
 * it and makes the whole array.
 */

import type { Stats } from 'node:fs'
import { chmod, type FileHandle, open, realpath, rename, rm } from 'node:fs/promises'
import { StringDecoder } from 'node:string_decoder'
import type { Logger } from '@webloom/core'
import type { FeedOutput } from './feed-output.ts'
import { uriTime } from './feed-uri.ts'
import { chunksBetween } from './file-end.ts'
import { FileOutput, NEVER_BEGUN, type OutputBegun, probe, statOf } from './file-output.ts'
import { arrayLayout, EMPTY_ARRAY } from './json-format.ts'
import { failed, unwritable } from './output-errors.ts'

export interface JsonArrayOutputOptions {
  readonly path: string
  readonly uri: string
  /** False refuses a file that holds something: an array cannot be appended to. */
  readonly overwrite: boolean
  readonly indent: number | null
  readonly begun?: OutputBegun
  readonly logger: Logger
}

/** Takes JSON lines and leaves a JSON array. */
export class JsonArrayOutput implements FeedOutput {
  readonly storage = 'FileFeedStorage'
  readonly #options: JsonArrayOutputOptions
  readonly #spoolPath: string
  readonly #spool: FileOutput
  readonly #begun: OutputBegun
  #isEmpty = true
  /** An earlier run of this crawl made the array and removed the spool, so nothing was to come. */
  #isComplete = false
  #hasFailed = false

  constructor(options: JsonArrayOutputOptions) {
    this.#options = options
    this.#spoolPath = `${options.path}.spool`
    this.#begun = options.begun ?? NEVER_BEGUN
    this.#spool = new FileOutput({
      path: this.#spoolPath,
      uri: options.uri,
      overwrite: true,
      begun: this.#begun,
    })
  }

  async open(resume: (file: FileHandle, size: number) => Promise<void>): Promise<void> {
    const { path, uri, overwrite } = this.#options
    try {
      const found = await probe(path)
      if (found && !found.isFile())
        throw new Error(
          'it is no regular file, and a JSON array is put together in one; use the format jsonl',
        )
      const isOurs = await this.#begun.before()
      if (found && found.size > 0 && !overwrite && !isOurs)
        throw new Error(
          'it holds something, and a JSON array cannot be appended to; use -O (or "overwrite": true) to replace it, or .jsonl',
        )
      if (isOurs) await this.#goOn(found)
      else await this.#keepEarlierSpool()
    } catch (error) {
      throw await unwritable(uri, path, error)
    }
    await this.#spool.open(resume)
  }

  async write(text: string): Promise<void> {
    this.#isEmpty = false
    try {
      if (this.#isComplete) await this.#keepEarlierArray()
      await this.#spool.write(text)
    } catch (error) {
      this.#hasFailed = true
      throw error
    }
  }

  async close(createEmpty: boolean, goesOn = false): Promise<void> {
    await this.#spool.close(false)
    // A spool that could not be written stays: it holds the items until then, and the crawl has said so.
    if (this.#hasFailed) return this.#tellSpool()
    if (this.#isEmpty && (this.#isComplete || !createEmpty)) return
    try {
      await this.#assemble()
      if (!goesOn) await rm(this.#spoolPath, { force: true })
      else await this.#begun.note()
    } catch (error) {
      throw failed(
        this.#options.uri,
        error,
        this.#isEmpty ? undefined : `The items are in ${this.#spoolPath}, one a line`,
      )
    }
  }

  async #assemble(): Promise<void> {
    // A symbolic link stays one: what it points at is replaced.
    const path = await realpath(this.#options.path).catch(() => this.#options.path)
    const partPath = `${path}.${process.pid}.part`
    try {
      await writeArray(this.#isEmpty ? undefined : this.#spoolPath, partPath, this.#options.indent)
      const replaced = await statOf(path)
      if (replaced) await chmod(partPath, replaced.mode)
      await rename(partPath, path)
    } catch (error) {
      await rm(partPath, { force: true })
      throw error
    }
  }

  /** The spool of an earlier run of this crawl is written on. */
  async #goOn(array: Stats | undefined): Promise<void> {
    const spool = await statOf(this.#spoolPath)
    this.#isEmpty = !spool || spool.size === 0
    this.#isComplete = this.#isEmpty && array !== undefined && array.size > EMPTY_ARRAY.length
  }

  async #keepEarlierArray(): Promise<void> {
    this.#isComplete = false
    const { path, uri, logger } = this.#options
    const keptPath = await freePath(`${path}.${uriTime(new Date())}`)
    await rename(path, keptPath)
    logger.warn({ feed: uri, path: keptPath }, `the array was complete; its items are in ${keptPath}`)
  }

  /** A killed run leaves a spool. Its items are told and kept under a name that no run uses. */
  async #keepEarlierSpool(): Promise<void> {
    const found = await statOf(this.#spoolPath)
    if (!found?.isFile() || found.size === 0) return
    const keptPath = await freePath(`${this.#spoolPath}.${uriTime(found.mtime)}`)
    await rename(this.#spoolPath, keptPath)
    this.#options.logger.warn(
      { feed: this.#options.uri, path: keptPath, bytes: found.size },
      `items of an earlier run that did not end are in ${keptPath}, one a line`,
    )
  }

  #tellSpool(): void {
    const { uri, logger } = this.#options
    logger.warn(
      { feed: uri, path: this.#spoolPath },
      `no array was made; the items are in ${this.#spoolPath}, one a line`,
    )
  }
}

// Two spools of the same second are rare; this many are a mistake.
const SAME_NAMES_MAX = 1000

async function freePath(path: string): Promise<string> {
  for (let count = 1; count <= SAME_NAMES_MAX; count++) {
    const candidate = count === 1 ? path : `${path}-${count}`
    if (!(await statOf(candidate))) return candidate
  }
  throw new Error(`there are ${SAME_NAMES_MAX} spools beside it, such as ${path}; move them away`)
}

/** In bounded memory: an item and a piece of the spool at a time. Without a spool the array is empty. */
async function writeArray(
  spoolPath: string | undefined,
  arrayPath: string,
  indent: number | null,
): Promise<void> {
  await using array = await open(arrayPath, 'w')
  if (spoolPath === undefined) {
    await array.writeFile(EMPTY_ARRAY)
  } else {
    const { open: opening, between, close, entry } = arrayLayout(indent)
    let before = opening
    for await (const lines of linesOf(spoolPath)) {
      await array.appendFile(before + lines.map(entry).join(between))
      before = between
    }
    await array.appendFile(close)
  }
  // The spool is removed next; until the array is on the disk, a power cut would take both.
  await array.sync()
}

/** The lines of a file, many at a time. */
async function* linesOf(path: string): AsyncGenerator<string[]> {
  await using file = await open(path, 'r')
  const decoder = new StringDecoder('utf8')
  let rest = ''
  for await (const { bytes } of chunksBetween(file, 0, (await file.stat()).size)) {
    const lines = (rest + decoder.write(bytes)).split('\n')
    rest = lines.pop() ?? ''
    if (lines.length > 0) yield lines
  }
}
