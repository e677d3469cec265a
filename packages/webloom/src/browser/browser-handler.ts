/** `@webloom/browser`, which is loaded when a request first asks for a browser, and not before. */

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  CloseSpider,
  type ComponentClass,
  type Crawler,
  type DownloadHandler,
  type DownloadOptions,
  fromCrawler,
  type Request,
  type Response,
  type Settings,
} from '@webloom/core'

const PACKAGE = '@webloom/browser'

interface BrowserPackage {
  readonly BrowserDownloadHandler: ComponentClass<DownloadHandler>
  browserSettingsOf(settings: Settings): object
  browserHere(settings: object): string
}

/** The handler of that package, once it is needed. */
export class BrowserHandler implements DownloadHandler {
  readonly keepsDeadline = true
  readonly #crawler: Crawler
  #handler: Promise<DownloadHandler> | undefined

  constructor(crawler: Crawler) {
    this.#crawler = crawler
  }

  static fromCrawler(crawler: Crawler): BrowserHandler {
    return new this(crawler)
  }

  /** Rejects with `CloseSpider` where the package or a browser is missing: the crawl ends, and the request stays in its queue. */
  async download(request: Request, options: DownloadOptions): Promise<Response> {
    this.#handler ??= this.#load()
    const handler = await this.#handler
    return handler.download(request, options)
  }

  async close(): Promise<void> {
    const handler = await this.#handler?.catch(() => undefined)
    await handler?.close?.()
  }

  async #load(): Promise<DownloadHandler> {
    const { BrowserDownloadHandler } = await browserPackage()
    return fromCrawler(BrowserDownloadHandler, this.#crawler)
  }
}

/** Rejects with `CloseSpider` and what to type when it is not installed. */
export async function browserPackage(name = PACKAGE): Promise<BrowserPackage> {
  const found = await installedBrowserPackage(name)
  if (found) return found
  throw new CloseSpider('browser_unavailable', {
    message: `meta.browser needs the package ${PACKAGE}, which is not installed, and a Chromium. Get them:\n  npm install ${PACKAGE}\n  sudo apt-get install chromium-headless-shell   (or any Chrome or Chromium in PATH)`,
  })
}

/**
 * Resolves to the package, which is not a dependency of webloom, as installed beside it or in this folder's project; to undefined
 * without it.
 */
export async function installedBrowserPackage(name = PACKAGE): Promise<BrowserPackage | undefined> {
  const inProject = createRequire(join(process.cwd(), 'package.json'))
  const places = [() => name, () => pathToFileURL(inProject.resolve(name)).href]
  for (const place of places) {
    try {
      return (await import(place())) as BrowserPackage
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }
  return undefined
}

/** The package itself, and not one that it needs. */
function isMissing(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  return /^(?:ERR_)?MODULE_NOT_FOUND$/.test(code ?? '') && message.includes(PACKAGE)
}
