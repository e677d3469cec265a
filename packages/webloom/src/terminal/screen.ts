/**
 * The terminal (or pipe, or file) that a command talks to: lines above, and below them perhaps one block that is drawn
 * again and again. Everything that writes there goes through one Screen, so that a log line never lands in the block.
 *
 * While a block stands, the process's stdout and stderr are watched too: a `console.log` in a spider takes the block
 * away first, and the block comes back below it.
 */

import { createRequire } from 'node:module'
import type { createLogUpdate } from 'log-update'
import { watchStandardStreams } from './standard-streams.ts'
import { SyncWriter } from './sync-writer.ts'

/** What a Screen needs of a stream; `process.stderr` has it. */
export interface ScreenStream {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  write(text: string): unknown
}

/** Something that takes finished text. */
export interface TextSink {
  write(text: string): void
}

// Log lines that come in bursts share one redrawing; nobody sees a block that is gone for less.
const REDRAW_DELAY_MS = 30
// What a terminal without a size (some CI systems, `script` without a window) is taken for.
const COLUMNS_DEFAULT = 80
const ROWS_DEFAULT = 24

export class Screen implements TextSink {
  readonly #stream: ScreenStream
  readonly #out: TextSink & { readonly unwrittenCount?: number }
  /** Made for the first block: only terminals have one. */
  #draw: ReturnType<typeof createLogUpdate> | undefined
  #block = ''
  #isDrawn = false
  #lineIsOpen = false
  #isOwnWrite = false
  #redraw: NodeJS.Timeout | undefined
  #giveBack: (() => void) | undefined

  constructor(stream: ScreenStream = process.stderr) {
    this.#stream = stream
    this.#out = textSinkOf(stream)
  }

  get isTty(): boolean {
    return this.#stream.isTTY === true
  }

  /** How many texts could not be written, because nobody reads what is written here any more. */
  get unwrittenCount(): number {
    return this.#out.unwrittenCount ?? 0
  }

  get columns(): number {
    return this.#stream.columns || COLUMNS_DEFAULT
  }

  /** Writes text that ends with a line end, above the block. It is out when this returns. */
  write(text: string): void {
    this.#above(() => this.#put(text))
  }

  /** Shows these lines below all others, in place of what was shown so before. Only a terminal shows them. */
  show(block: string): void {
    if (!this.isTty) return
    this.#giveBack ??= watchStandardStreams((text, pass) => this.#foreign(text, pass))
    this.#block = block
    this.#drawNow()
  }

  /** Takes the block away. */
  hide(): void {
    this.#giveBack?.()
    this.#giveBack = undefined
    clearTimeout(this.#redraw)
    this.#redraw = undefined
    this.#erase()
    this.#block = ''
  }

  #above(write: () => void): void {
    this.#erase()
    write()
    if (this.#block !== '') this.#redraw ??= setTimeout(() => this.#drawNow(), REDRAW_DELAY_MS).unref()
  }

  #foreign(text: string, pass: () => boolean): boolean {
    if (this.#isOwnWrite) return pass()
    let isFlushed = true
    this.#above(() => {
      isFlushed = pass()
    })
    if (text !== '') this.#lineIsOpen = !text.endsWith('\n')
    return isFlushed
  }

  #erase(): void {
    if (this.#isDrawn) this.#draw?.clear()
    this.#isDrawn = false
  }

  #drawNow(): void {
    clearTimeout(this.#redraw)
    this.#redraw = undefined
    if (this.#block === '') return
    // A `process.stdout.write('.')` left the cursor within a line; a block drawn there could not be erased.
    if (this.#lineIsOpen) this.#put('\n')
    this.#draw ??= logUpdate().createLogUpdate(this.#ownStream(), { showCursor: true })
    this.#draw(this.#block)
    this.#isDrawn = true
  }

  #put(text: string): void {
    this.#lineIsOpen = !text.endsWith('\n')
    this.#writeOwn(text)
  }

  #writeOwn(text: string): void {
    this.#isOwnWrite = true
    try {
      this.#out.write(text)
    } finally {
      this.#isOwnWrite = false
    }
  }

  /** The stream as log-update sees it: past our own watch, never of width 0. */
  #ownStream(): NodeJS.WritableStream {
    const screen = this
    const view = {
      get isTTY() {
        return screen.isTty
      },
      get columns() {
        return screen.columns
      },
      get rows() {
        return screen.#stream.rows || ROWS_DEFAULT
      },
      write: (text: string) => screen.#writeOwn(text),
    }
    return view as unknown as NodeJS.WritableStream
  }
}

function logUpdate(): typeof import('log-update') {
  return createRequire(import.meta.url)('log-update') as typeof import('log-update')
}

let ofThisProcess: Screen | undefined

/** The Screen on standard error: one for the whole process, so that log and progress share it. */
export function processScreen(): Screen {
  ofThisProcess ??= new Screen(process.stderr)
  return ofThisProcess
}

/** A terminal takes text at once; a pipe does so only when it is written to past its stream. */
function textSinkOf(stream: ScreenStream): TextSink & { readonly unwrittenCount?: number } {
  if (!stream.isTTY && stream === process.stderr) return new SyncWriter(2)
  if (!stream.isTTY && stream === process.stdout) return new SyncWriter(1)
  return { write: (text) => void stream.write(text) }
}
