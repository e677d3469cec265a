import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const NAME = /^webloom-browser-(\d+)-/

/** Makes a folder for the profile of a browser of this process, and removes those of processes that are gone. */
export function newProfileFolder(root = tmpdir()): string {
  removeLeftBehind(root)
  return mkdtempSync(join(root, `webloom-browser-${process.pid}-`))
}

/** Removes the folder. A Chromium that is being killed may still write there; what is left then the next process removes. */
export function removeProfileFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  } catch {
    // Not empty after three tries.
  }
}

/** A worker that was killed could not tidy up. */
function removeLeftBehind(root: string): void {
  for (const name of readdirSync(root)) {
    const pid = NAME.exec(name)?.[1]
    if (pid === undefined || isAlive(Number(pid))) continue
    try {
      rmSync(join(root, name), { recursive: true, force: true })
    } catch {
      // Another user's.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
