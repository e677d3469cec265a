import { WebloomError } from '@webloom/core'

export type RefusalStatus = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 421 | 500 | 503

/** Why a verb did nothing. */
export class Refusal extends Error {
  /** As HTTP has it. */
  readonly status: RefusalStatus
  /** Which part of what was sent: `body.delayMs`, `header Origin`. */
  readonly where: string | undefined

  constructor(status: RefusalStatus, message: string, where?: string) {
    super(message)
    this.status = status
    this.where = where
  }
}

/** Returns what went wrong, whoever threw it. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof WebloomError && /^WL_(URL_INVALID|USAGE)$/.test(error.code))
    return new Refusal(400, error.message)
  if (error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError)
    return new Refusal(500, `this is a bug in Webloom: ${error.message}`)
  // What is left comes from a Redis that is away, full or slow.
  return new Refusal(503, error instanceof Error ? error.message : String(error))
}
