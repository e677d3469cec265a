import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder, and the folders above it that are missing. Does nothing when the folder exists. Throws as `mkdirSync`.
 *
 * Node's own `recursive` never returns where a file system answers ENOENT below a folder that exists, as /proc does: it
 * makes the parent and tries again for ever.
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    if (isFolder(path)) return
    const isMissingAbove = (error as NodeJS.ErrnoException).code === 'ENOENT' && !isFolder(dirname(path))
    if (!isMissingAbove) throw error
    makeFolder(dirname(path))
    makeFolder(path)
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
