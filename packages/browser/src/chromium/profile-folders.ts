import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const NAME = /^webloom-browser-(\d+)-/

/** Makes a folder for the profile of a browser of this process, and removes those of processes that are gone. */
export function newProfileFolder(root = tmpdir()): string {
  removeLeftBehind(root)
  return mkdtempSync(join(root, `webloom-browser-${process.pid}-`))
}

/** Removes the folder; what Chromium still writes as it ends does not matter. */
export function removeProfileFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
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
