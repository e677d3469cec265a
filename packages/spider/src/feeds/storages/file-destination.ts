import { chmod, open, realpath, rename, rm } from 'node:fs/promises'
import { type Destination, freeName } from './destination.ts'
import { uriTime } from './feed-uri.ts'
import { probe, statOf } from './output-path.ts'

/** A file that is written under another name and then renamed. */
export class FileDestination implements Destination {
  readonly storage = 'FileFeedStorage'
  readonly #path: string
  readonly #what: string

  /** @param what how messages name the output, e.g. `a JSON array` */
  constructor(path: string, what: string) {
    this.#path = path
    this.#what = what
  }

  async open(mayReplace: boolean): Promise<'nothing' | 'empty' | 'something'> {
    const found = await probe(this.#path)
    if (!found) return 'nothing'
    if (!found.isFile())
      throw new Error(
        `it is not a regular file, and ${this.#what} is put together in one; use the format jsonl`,
      )
    if (found.size === 0) return 'empty'
    if (mayReplace) return 'something'
    throw new Error(
      `it holds something, and ${this.#what} cannot be appended to; use -O (or "overwrite": true) to replace it, or .jsonl`,
    )
  }

  async put(pieces: AsyncIterable<Uint8Array>): Promise<void> {
    // A symbolic link stays a link: the file that it points at is replaced.
    const path = await realpath(this.#path).catch(() => this.#path)
    const partPath = `${path}.${process.pid}.part`
    try {
      await writeAll(partPath, pieces)
      const replaced = await statOf(path)
      if (replaced) await chmod(partPath, replaced.mode)
      await rename(partPath, path)
    } catch (error) {
      await rm(partPath, { force: true })
      throw error
    }
  }

  async setAside(): Promise<string> {
    const kept = await freePath(`${this.#path}.${uriTime(new Date())}`)
    await rename(this.#path, kept)
    return kept
  }
}

async function writeAll(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'w')
  try {
    for await (const piece of pieces) await file.appendFile(piece)
    // The spool is removed next. A power cut before the output is on the disk would cost both.
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Returns the path, or the first path with a number after it that is free. */
export function freePath(path: string): Promise<string> {
  return freeName(path, async (candidate) => (await statOf(candidate)) !== undefined)
}
