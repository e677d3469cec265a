/**
 * Keeps a second process from an output that only one may write: a CSV file, whose header each would write, and an output
 * that is made from a spool.
 *
 * A file `<path>.lock` names its holder. A lock that a killed process left is taken over: the holder's process id is looked
 * for on the same machine. A holder on another machine cannot be looked for, so the message names the file.
 */

import { readFileSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf, unwritable } from './output-errors.ts'
import { makeFolders, statOf } from './output-path.ts'

/** Locks of this process. Two feeds of one crawl are compared before any is opened; two crawls in one process are not. */
const HELD_HERE = new Set<string>()

// Another process may take over the same abandoned lock at the same time.
const TRIES_MAX = 5

// Emptying a file and noting that takes milliseconds.
const TURN_MS_MAX = 10_000
const TURN_PAUSE_MS = 20

interface LockHolder {
  readonly pid: number
  readonly host: string
}

export class OutputLock {
  readonly #output: { readonly path: string; readonly uri: string }
  readonly #path: string
  #isHeld = false

  /** @param output the file, and its name in messages */
  constructor(output: { readonly path: string; readonly uri: string }) {
    this.#output = output
    this.#path = `${output.path}.lock`
  }

  /** Takes the lock. Throws WL_OUTPUT_UNWRITABLE when another process writes the output. */
  async take(): Promise<void> {
    const { path, uri } = this.#output
    try {
      const found = await statOf(path)
      // A folder is refused elsewhere, and a device or pipe gets no lock file beside it.
      if (!found || found.isFile()) await this.#take()
    } catch (error) {
      throw await unwritable(uri, path, error)
    }
  }

  /** Takes the lock when its holder is done, which takes the holder a moment. */
  async takeInTurn(): Promise<void> {
    const giveUpAtMs = performance.now() + TURN_MS_MAX
    for (;;) {
      try {
        return await this.#take()
      } catch (error) {
        if (performance.now() > giveUpAtMs) throw error
        await sleep(TURN_PAUSE_MS)
      }
    }
  }

  async release(): Promise<void> {
    if (!this.#isHeld) return
    this.#isHeld = false
    HELD_HERE.delete(this.#path)
    await rm(this.#path, { force: true })
  }

  async #take(): Promise<void> {
    await makeFolders(dirname(this.#path))
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      if (await this.#created()) return
      const holder = await this.#holder()
      if (holder && this.#isAlive(holder)) throw this.#refusal(holder)
      await rm(this.#path, { force: true })
    }
    throw new Error(`its lock ${this.#path} is taken again and again`)
  }

  async #created(): Promise<boolean> {
    try {
      const holder = JSON.stringify({ pid: process.pid, host: hostname() } satisfies LockHolder)
      await writeFile(this.#path, holder, { flag: 'wx' })
      HELD_HERE.add(this.#path)
      this.#isHeld = true
      return true
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false
      throw error
    }
  }

  async #holder(): Promise<LockHolder | undefined> {
    try {
      return JSON.parse(await readFile(this.#path, 'utf8')) as LockHolder
    } catch {
      // The lock has gone meanwhile, or its writer was killed before it was complete.
      return undefined
    }
  }

  /**
   * Returns whether the holder lives. A container that is started again has its old process id: then the lock is its own of
   * last time.
   */
  #isAlive({ pid, host }: LockHolder): boolean {
    if (host !== hostname()) return true
    if (pid === process.pid) return HELD_HERE.has(this.#path)
    try {
      process.kill(pid, 0)
      return !isZombie(pid)
    } catch (error) {
      return codeOf(error) === 'EPERM'
    }
  }

  #refusal({ pid, host }: LockHolder): Error {
    return new Error(
      `process ${pid} on ${host} is writing it (${this.#path}), and only jsonl may be shared. Give each worker a file of its own with %(worker)s in the name, or remove that lock if the process is gone`,
    )
  }
}

/**
 * Returns true for a process that was killed but not yet reaped by its parent: on Linux it accepts signals, but writes
 * nothing.
 */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // `22198 (node) Z …`; the name may hold any character.
    return /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}
