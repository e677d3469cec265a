/**
 * An output that exists only as a whole, made from a spool.
 *
 * An array is not JSON until its last bracket is written, a gzip file is none until its last block, and an object of S3 is
 * not there until all of it has been sent. A killed crawl would leave a broken output. So the items are kept in a spool,
 * one on each line, which is complete at every moment:
 *
 *     write  ─► out.json.spool        as a JSON lines file
 *     close  ─► layout ─► compression ─► destination, read from the spool line by line; then the spool is removed
 *
 * However the crawl ends, the output is made and the spool removed; only a killed process leaves a spool. Where the crawl
 * can be resumed under the same name, the items stay as `out.json.resume`: the next run goes on in them and makes the whole
 * output. A run that begins anew instead renames that output and logs its new name.
 */

import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { StringDecoder } from 'node:string_decoder'
import type { Logger } from '@webloom/core'
import { chunksBetween } from '../formats/file-end.ts'
import type { SpoolLayout } from '../formats/spool-layout.ts'
import { type CompressionOptions, compressed } from './compressed.ts'
import type { Destination } from './destination.ts'
import type { FeedOutput } from './feed-output.ts'
import { uriTime } from './feed-uri.ts'
import { freePath } from './file-destination.ts'
import { FileOutput, NEVER_BEGUN, type OutputBegun } from './file-output.ts'
import { failed, unwritable } from './output-errors.ts'
import { statOf } from './output-path.ts'

export interface SpooledOutputOptions {
  readonly spoolPath: string
  readonly uri: string
  readonly destination: Destination
  /** Makes a layout, a new one each time the output is put together. */
  readonly layout: () => SpoolLayout
  readonly compression?: CompressionOptions | undefined
  /** False: a destination that holds something is refused, as such an output cannot be appended to. */
  readonly overwrite: boolean
  readonly begun?: OutputBegun
  readonly logger: Logger
}

/** Takes JSON lines, and makes the output of them by the layout. */
export class SpooledOutput implements FeedOutput {
  readonly #options: SpooledOutputOptions
  readonly #spool: FileOutput
  readonly #begun: OutputBegun
  #isEmpty = true
  /** True when an earlier run of this crawl made the output and removed the spool, so that no items were to come. */
  #isComplete = false
  #hasFailed = false

  constructor(options: SpooledOutputOptions) {
    const { spoolPath, uri, begun = NEVER_BEGUN } = options
    this.#options = options
    this.#begun = begun
    this.#spool = new FileOutput({ path: spoolPath, uri, overwrite: true, begun, isReadAgain: true })
  }

  get storage(): FeedOutput['storage'] {
    return this.#options.destination.storage
  }

  get spoolPath(): string {
    return this.#options.spoolPath
  }

  async open(resume: (file: FileHandle, size: number) => Promise<void>): Promise<void> {
    const { spoolPath, uri, destination, overwrite } = this.#options
    try {
      const isOurs = await this.#begun.before()
      const isOver = !isOurs && (await this.#isOfRunThatIsOver())
      const found = await destination.open(overwrite || isOurs || isOver)
      if (isOurs) await this.#goOn(found === 'something')
      else {
        if (isOver && !overwrite && found === 'something') await this.#keepOutputOfRunThatIsOver()
        await this.#keepEarlierSpool()
        // The output that was made of it has its items.
        await rm(this.#resumePath, { force: true })
      }
    } catch (error) {
      throw await unwritable(uri, spoolPath.replace(/\.spool$/, ''), error)
    }
    await this.#spool.open(resume)
  }

  async write(text: string): Promise<void> {
    this.#isEmpty = false
    try {
      if (this.#isComplete) await this.#keepEarlierOutput()
      await this.#spool.write(text)
    } catch (error) {
      this.#hasFailed = true
      throw error
    }
  }

  async close(createEmpty: boolean, goesOn = false, signal?: AbortSignal): Promise<void> {
    // Where the crawl goes on an empty spool says that what there is now was made of nothing.
    await this.#spool.close(createEmpty && goesOn)
    // A spool that could not be written stays: it holds the items up to then, and the log names it.
    if (this.#hasFailed) return this.#tellSpool()
    if (this.#isEmpty && (this.#isComplete || !createEmpty)) return
    const { spoolPath, uri } = this.#options
    try {
      await this.#assemble(signal)
      signal?.throwIfAborted()
      await this.#layAside(goesOn)
    } catch (error) {
      throw failed(
        uri,
        error,
        this.#isEmpty
          ? undefined
          : `The items are in ${spoolPath}, one a line, as JSON; send that file by hand, or crawl again`,
      )
    }
  }

  async #assemble(signal: AbortSignal | undefined): Promise<void> {
    const { spoolPath, destination, layout, compression } = this.#options
    const pieces = laidOut(this.#isEmpty ? undefined : spoolPath, layout(), signal)
    await destination.put(compression ? compressed(pieces, compression) : pieces)
  }

  /** Keeps the items for the next run of this crawl, or deletes them when there is none. */
  async #layAside(goesOn: boolean): Promise<void> {
    const { spoolPath } = this.#options
    if (!goesOn) {
      await rm(spoolPath, { force: true })
      await rm(this.#resumePath, { force: true })
      return
    }
    await rename(spoolPath, this.#resumePath)
    await this.#begun.note()
  }

  get #resumePath(): string {
    return this.#options.spoolPath.replace(/(?:\.spool)?$/, '.resume')
  }

  /**
   * Returns true when the files of a run that can be resumed, or was killed, are there and are not of this run. Then that
   * run was not resumed and is over: it was stopped without SCHEDULER_PERSIST, it was cleared, or another run was begun.
   * Its output must not stop this one.
   */
  async #isOfRunThatIsOver(): Promise<boolean> {
    if (this.#begun === NEVER_BEGUN) return false
    const found = await Promise.all([this.#options.spoolPath, this.#resumePath].map(statOf))
    return found.some((file) => file?.isFile())
  }

  async #keepOutputOfRunThatIsOver(): Promise<void> {
    const { uri, destination, logger } = this.#options
    const keptPath = await destination.setAside()
    logger.warn(
      { feed: uri, path: keptPath },
      `the run that made this output was stopped and is not resumed (its queue was emptied, or another run was begun); its items are in ${keptPath}, and a new output begins`,
    )
  }

  /** Goes on in the spool of an earlier run of this crawl: as a killed run left it, or as a run kept it. */
  async #goOn(isThereOutput: boolean): Promise<void> {
    const { spoolPath } = this.#options
    if (!(await statOf(spoolPath)) && (await statOf(this.#resumePath)))
      await rename(this.#resumePath, spoolPath)
    const spool = await statOf(spoolPath)
    this.#isEmpty = !spool || spool.size === 0
    this.#isComplete = !spool && isThereOutput
  }

  async #keepEarlierOutput(): Promise<void> {
    this.#isComplete = false
    const { uri, destination, logger } = this.#options
    const keptPath = await destination.setAside()
    logger.warn({ feed: uri, path: keptPath }, `the output was complete; its items are in ${keptPath}`)
  }

  /** A killed run leaves a spool. Keeps its items under a name that no run uses, and logs it. */
  async #keepEarlierSpool(): Promise<void> {
    const { spoolPath, uri, logger } = this.#options
    const found = await statOf(spoolPath)
    if (!found?.isFile() || found.size === 0) return
    const keptPath = await freePath(`${spoolPath}.${uriTime(found.mtime)}`)
    await rename(spoolPath, keptPath)
    logger.warn(
      { feed: uri, path: keptPath, bytes: found.size },
      `items of an earlier run that did not end are in ${keptPath}, one a line`,
    )
  }

  #tellSpool(): void {
    const { uri, logger, spoolPath } = this.#options
    if (this.#spool.isGone) return
    logger.warn(
      { feed: uri, path: spoolPath },
      `the output was not made; its items are in ${spoolPath}, one a line`,
    )
  }
}

/** In bounded memory: a piece of the spool at a time. Without a spool there are no items. */
async function* laidOut(
  spoolPath: string | undefined,
  layout: SpoolLayout,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  if (spoolPath !== undefined)
    for await (const lines of linesOf(spoolPath)) {
      signal?.throwIfAborted()
      yield Buffer.from(layout.text(lines))
    }
  signal?.throwIfAborted()
  yield Buffer.from(layout.end())
}

/** Yields the lines of a file, many at a time. */
async function* linesOf(path: string): AsyncGenerator<string[]> {
  const file = await open(path, 'r')
  const decoder = new StringDecoder('utf8')
  let rest = ''
  try {
    for await (const { bytes } of chunksBetween(file, 0, (await file.stat()).size)) {
      const lines = (rest + decoder.write(bytes)).split('\n')
      rest = lines.pop() ?? ''
      if (lines.length > 0) yield lines
    }
  } finally {
    await file.close()
  }
}
