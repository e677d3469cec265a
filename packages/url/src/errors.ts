/**
 * The base of all errors that webloom's packages raise on purpose. It stands here, in the lowest package, so that one
 * `instanceof` holds for all of them; `@webloom/core` has the table of the codes.
 */
export class WebloomError<Code extends string = string> extends Error {
  /** Stable, so that a program may compare it; docs/errors.md has them all. */
  readonly code: Code

  constructor(code: Code, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
    this.name = new.target.name
  }
}

/** A URL that cannot be requested, with the reason and the text that was given. */
export class InvalidUrl extends WebloomError<'WL_URL_INVALID'> {
  /** As it was given. */
  readonly url: string

  constructor(url: string, reason: string) {
    super('WL_URL_INVALID', `${JSON.stringify(url)} cannot be requested: ${reason}`)
    this.url = url
  }
}
