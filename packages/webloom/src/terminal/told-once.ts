/**
 * A Redis that refuses a crawl refuses all of its parts, and each says so: what to do, which may be a line of 2 000 characters, stood in the log a dozen times. A log
 * tells it whole with the first line of a level, for a graver one again, and ten minutes later; where it stands in another line, that one says that it is told above. A
 * stack would add nothing: what was refused is in the words.
 */

import { withoutTextSecrets } from '@webloom/core'

/** Of more servers than a crawl has. */
const WAYS_OUT_MAX = 64
const WAYS_OUT = new Set<string>()

/** Notes a text that tells what to do about a Redis that refuses a crawl. Returns it. */
export function wayOut(text: string): string {
  if (WAYS_OUT.size === WAYS_OUT_MAX) WAYS_OUT.delete(WAYS_OUT.values().next().value!)
  WAYS_OUT.add(text)
  return text
}

const TOLD = 'What to do is told above'

/** By then nobody looks for it above: what was refused may have been let in meanwhile, and is refused again. */
const TOLD_MS = 600_000

/** Of one log. */
export class ToldOnce {
  readonly #nowMs: () => number
  /** How each was told last. */
  readonly #told = new Map<string, { readonly level: number; readonly atMs: number }>()

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Returns the arguments of a log call, without what the log has told. */
  of(args: readonly unknown[], level: number): unknown[] {
    if (WAYS_OUT.size === 0) return [...args]
    const said = new Set<string>()
    const shorten = (value: unknown) => this.#shorten(value, level, said)
    const shown = args.map((arg) => (isFields(arg) ? mapValues(arg, shorten) : shorten(arg)))
    for (const way of said) this.#told.set(way, { level, atMs: this.#nowMs() })
    return shown
  }

  #isAbove(way: string, level: number): boolean {
    const told = this.#told.get(way)
    return told !== undefined && told.level >= level && this.#nowMs() - told.atMs < TOLD_MS
  }

  #shorten(value: unknown, level: number, said: Set<string>): unknown {
    if (value instanceof Error) return isRefusal(value) ? this.#refusal(value, level, said) : value
    if (typeof value !== 'string') return value
    let text = value
    for (const way of WAYS_OUT) {
      if (!text.includes(way)) continue
      if (said.has(way) || this.#isAbove(way, level)) text = text.replaceAll(way, TOLD)
      else said.add(way)
    }
    return text
  }

  /** As pino would write it. */
  #refusal(error: Error, level: number, said: Set<string>): object {
    const { message, cause } = error
    const isTold = !(cause instanceof Error) || message.includes(cause.message)
    const whole = isTold ? message : `${message}: ${cause.message}`
    const { code } = error as { readonly code?: unknown }
    const shown = withoutTextSecrets(String(this.#shorten(whole, level, said)))
    return {
      type: error.constructor.name,
      message: shown,
      stack: '',
      ...(typeof code === 'string' && { code }),
    }
  }
}

/** A Redis has refused something, or was waited for in vain. */
function isRefusal(error: Error): boolean {
  return [error, error.cause].some(
    (one) => one instanceof Error && 'code' in one && one.code === 'WL_REDIS_REFUSED',
  )
}

function isFields(arg: unknown): arg is Record<string, unknown> {
  return typeof arg === 'object' && arg !== null && Object.getPrototypeOf(arg) === Object.prototype
}

function mapValues(fields: Record<string, unknown>, of: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, of(value)]))
}
