/** Parts of a crawl that are closed, whether it ran or was only made. */

import type { Awaitable, Extension, Logger, Settings } from '@webloom/core'
import { inTime } from '@webloom/spider'

interface Closing {
  readonly settings: Settings
  readonly logger: Logger
}

/** What a crawl was made of until now. Disposing of it closes each part, the last one first. */
export class ToClose implements AsyncDisposable {
  #parts: (() => Awaitable<void>)[] = []

  /** @param close never rejects */
  add(close: () => Awaitable<void>): void {
    this.#parts.push(close)
  }

  /** Returns all of it, for a new owner: this one closes nothing any more. */
  move(): ToClose {
    const moved = new ToClose()
    moved.#parts = this.#parts
    this.#parts = []
    return moved
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#parts.splice(0).reverse()) await close()
  }
}

/** One that fails or never ends must not take the result of a good crawl with it: it is logged. */
export async function closeExtension(extension: Extension, { settings, logger }: Closing): Promise<void> {
  const { name } = extension.constructor
  try {
    await inTime(`closing extension ${name}`, () => extension.close?.(), settings.getMs('COMPONENT_TIMEOUT'))
  } catch (error) {
    logger.error({ extension: name, err: error }, 'an extension could not be closed')
  }
}

/** Closes download handlers of a crawl that did not run. Never rejects. */
export async function closeUnused(
  downloader: { close(): Promise<void> },
  { settings, logger }: Closing,
): Promise<void> {
  try {
    await inTime('closing download handlers', () => downloader.close(), settings.getMs('COMPONENT_TIMEOUT'))
  } catch (error) {
    logger.error({ err: error }, 'download handlers could not be closed')
  }
}
