/**
 * A browser is not to say more at once than this process can take.
 *
 * What a page logs, throws or has as its title comes through DevTools whole: a hundred million control characters are a message
 * of 600 MB. Playwright makes each message a string, which Node refuses above 512 MB, by an error that nobody can catch. So the bytes of
 * a message are counted before Playwright has its end, and a browser that passes the bound is killed. Its pages are rendered again.
 *
 * Playwright does not hand out the process that it starts. Node tells of each new one.
 */

import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Readable } from 'node:stream'

// 2 ** 27: a PNG of all that Chromium draws at once, 16 384 lines of noise, has 84 MB in base64.
const MESSAGE_BYTES_MAX = 134_217_728
const CHANNEL = 'child_process'
/** Where Chromium speaks. */
const PIPE = 4

/** Bounds the messages of the browser that is started within `start`, and has this folder for its profile. */
export async function withBoundMessages<T>(folder: string, start: () => Promise<T>): Promise<T> {
  const onProcess = (message: unknown) => {
    const { process: child } = message as { process: ChildProcess }
    child.once('spawn', () => {
      if (child.spawnargs.some((one) => one.endsWith(folder))) boundMessages(child)
    })
  }
  subscribe(CHANNEL, onProcess)
  try {
    return await start()
  } finally {
    unsubscribe(CHANNEL, onProcess)
  }
}

/** Kills the process group when more than `bytesMax` come without the end of a message, which is a NUL. */
export function boundMessages(child: ChildProcess, bytesMax = MESSAGE_BYTES_MAX): void {
  const pipe = child.stdio[PIPE] as Readable | null | undefined
  let bytes = 0
  pipe?.on('data', (chunk: Buffer) => {
    const first = chunk.indexOf(0)
    bytes += first < 0 ? chunk.length : first
    if (bytes > bytesMax) {
      // First: what is in the pipe already may have the end.
      pipe.destroy()
      kill(child)
      return
    }
    if (first >= 0) bytes = chunk.length - 1 - chunk.lastIndexOf(0)
  })
}

function kill({ pid }: ChildProcess): void {
  try {
    // Playwright starts it as the leader of a group.
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
