import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder for one test. */
export interface TempDir extends AsyncDisposable {
  /** Absolute, without symbolic links. */
  readonly path: string
  /** A path inside: `dir.join('jobs', 'one')`. Nothing is made there. */
  join(...parts: string[]): string
  /** Deletes the folder and all in it. The same as disposing of it. */
  remove(): Promise<void>
}

/** Makes an empty folder: `await using dir = await tempDir()` deletes it at the end of the block. */
export async function tempDir(prefix = 'webloom-'): Promise<TempDir> {
  // macOS names its temporary folder by a link, and a process started there reports the real path.
  const path = await mkdtemp(join(await realpath(tmpdir()), prefix))
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 3 })
  return { path, join: (...parts) => join(path, ...parts), remove, [Symbol.asyncDispose]: remove }
}
