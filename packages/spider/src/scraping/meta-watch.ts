import { checkMeta, type Logger, metaKeyMeant, type Request } from '@webloom/core'

// Further keys are not checked: a spider that makes keys out of pages has no misspelt one of ours.
const KEYS_MAX = 1000

/** Checks the `meta` that callbacks give their requests. */
export class MetaWatch {
  readonly #logger: Logger
  readonly #looked = new Set<string>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /**
   * Throws WL_REQUEST_INVALID for a known key with a wrong value. Warns once of a key that is nearly a known one.
   *
   * @param source returns who made the request, for the warning
   */
  look(request: Request, source: () => object): void {
    checkMeta(request, (key) => {
      if (this.#looked.has(key) || this.#looked.size >= KEYS_MAX) return
      this.#looked.add(key)
      const meant = metaKeyMeant(key)
      if (meant === undefined) return
      this.#logger.warn(
        { ...source(), request: request.url },
        `meta.${key} means nothing to Webloom. Did you mean ${meant}? A key of your own may have this name; this is logged once`,
      )
    })
  }
}
