/**
 * Keeps a second process from an output that only one can write: a CSV file, whose header each would write, and what is
 * put together from a spool.
 *
 * A file `<path>.lock` says who has it. One that a killed process left is taken over: its writer is looked for by its
 * process id, on the same machine. On another machine nobody can tell, so the message names the file.
 */

import { readFileSync } from 'node:fs'
import { open, readFile, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf, unwritable } from './output-errors.ts'
import { makeFolders, statOf } from './output-path.ts'

/** Two feeds of one process are told apart before any is opened; two crawls in one process are not. */
const HELD_HERE = new Set<string>()

// Somebody else may take over the same abandoned lock.
const TRIES_MAX = 5

// To empty a file and to note that takes milliseconds.
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

  /** @param output the file, and what messages call it */
  constructor(output: { readonly path: string; readonly uri: string }) {
    this.#output = output
    this.#path = `${output.path}.lock`
  }

  /** Throws WL_OUTPUT_UNWRITABLE when another process writes the output. */
  async take(): Promise<void> {
    const { path, uri } = this.#output
    try {
      const found = await statOf(path)
      // What is no file is refused, or a device or pipe, beside which no file belongs.
      if (!found || found.isFile()) await this.#take()
    } catch (error) {
      throw await unwritable(uri, path, error)
    }
  }

  /** Takes it when whoever has it is done, which takes them a moment. */
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
      await using file = await open(this.#path, 'wx')
      await file.writeFile(JSON.stringify({ pid: process.pid, host: hostname() } satisfies LockHolder))
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
      // Gone meanwhile, or never written whole by one that was killed.
      return undefined
    }
  }

  /** A container that is started again has the process id it had: then the lock is its own of last time. */
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

/** Killed, but not yet taken note of by its parent: on Linux it still takes signals, and writes nothing any more. */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // `22198 (node) Z …`; the name may hold anything.
    return /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}
