import { writeSync } from 'node:fs'

// A reader may pause (a pager, a full disk cache); a crawl must not stand still for it for longer than its leases allow.
const PATIENCE_MS = 3_000
const RETRY_MS = 5

/**
 * Writes text to a file descriptor; it is out when `write` returns. A pipe written to by `process.stderr.write` loses
 * what it has not taken yet when the process exits: of 2 MB, a slow reader got 64 KB.
 *
 * It never throws: a log that cannot be written is no reason to lose a crawl. `unwrittenCount` says what was lost.
 */
export class SyncWriter {
  readonly isTty = false
  readonly #fd: number
  #isStuck = false
  #unwrittenCount = 0

  constructor(fd: number) {
    this.#fd = fd
  }

  /** How many texts could not be written, wholly or in part. */
  get unwrittenCount(): number {
    return this.#unwrittenCount
  }

  write(text: string): void {
    try {
      this.#writeAll(Buffer.from(text))
      this.#isStuck = false
    } catch (error) {
      // EPIPE: the reader has gone. EAGAIN: it does not read. ENOSPC: the disk is full; room may come back.
      this.#unwrittenCount++
      this.#isStuck ||= codeOf(error) === 'EAGAIN'
    }
  }

  #writeAll(bytes: Buffer): void {
    // Whoever did not read for so long gets no more patience until it reads again.
    const deadline = performance.now() + (this.#isStuck ? 0 : PATIENCE_MS)
    let start = 0
    while (start < bytes.length) {
      try {
        start += writeSync(this.#fd, bytes, start)
      } catch (error) {
        if (codeOf(error) !== 'EAGAIN' || performance.now() >= deadline) throw error
        sleepSync(RETRY_MS)
      }
    }
  }
}

function sleepSync(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
