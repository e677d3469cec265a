/** What a page tells while it is open: errors, answers that are to be kept, loads that are blocked. All of it is bounded. */

import {
  BLOCKED_KINDS,
  type BlockedLoad,
  type BrowserOptions,
  type CapturedAnswer,
  type JsonValue,
  waitAtMost,
} from '@webloom/core'
import type { BrowserContext, Page, Response } from 'playwright-core'
import { globOf } from './url-glob.ts'

const ERRORS_MAX = 50
const ERROR_CHARACTERS_MAX = 500
const BLOCKED_MAX = 100
const CAPTURED_MAX = 100
// Answers whose bodies are still on their way when the page is done.
const CAPTURE_MS_MAX = 2000

export class PageWatch {
  readonly #wanted: BrowserOptions
  readonly #errors: string[] = []
  readonly #blocked: BlockedLoad[] = []
  readonly #captures: Promise<CapturedAnswer | undefined>[] = []
  readonly #bytesMax: number
  #bytes = 0
  #blockedCount = 0

  /** @param bytesMax of all bodies that are kept; 0: no bound */
  constructor(wanted: BrowserOptions, bytesMax: number) {
    this.#wanted = wanted
    this.#bytesMax = bytesMax
  }

  get errors(): readonly string[] {
    return this.#errors
  }

  get blocked(): readonly BlockedLoad[] {
    return this.#blocked
  }

  /** How many loads were blocked, those that are not listed among them. */
  get blockedCount(): number {
    return this.#blockedCount
  }

  /** Must be awaited before the page goes anywhere. */
  async open(context: BrowserContext, page: Page): Promise<void> {
    page.on('console', (line) => {
      if (line.type() === 'error') this.#error(line.text())
    })
    page.on('pageerror', (error) => this.#error(String(error)))
    const globs = (this.#wanted.capture ?? []).map(globOf)
    if (globs.length > 0)
      page.on('response', (response) => {
        if (globs.some((glob) => glob(response.url()))) this.#capture(response)
      })
    const kinds = new Set(blockedKinds(this.#wanted))
    if (kinds.size === 0) return
    await context.route('**/*', async (route, request) => {
      const kind = request.resourceType()
      const why = BLOCKED_KINDS.includes(kind) || kind === 'document' ? kind : 'other'
      if (!kinds.has(why)) return route.fallback()
      this.#block({ url: request.url(), why })
      return route.abort('blockedbyclient')
    })
    if (kinds.has('websocket'))
      await context.routeWebSocket(/.*/, (socket) => {
        this.#block({ url: socket.url(), why: 'websocket' })
        void socket.close()
      })
  }

  /** Resolves to the answers that were to be kept, once their bodies are here. */
  async captured(): Promise<CapturedAnswer[]> {
    await waitAtMost(CAPTURE_MS_MAX, Promise.all(this.#captures))
    const pending = Promise.resolve(undefined)
    const all = await Promise.all(this.#captures.map((capture) => Promise.race([capture, pending])))
    return all.filter((answer) => answer !== undefined)
  }

  #error(text: string): void {
    if (this.#errors.length < ERRORS_MAX) this.#errors.push(text.slice(0, ERROR_CHARACTERS_MAX))
  }

  #block(load: BlockedLoad): void {
    this.#blockedCount++
    if (this.#blocked.length < BLOCKED_MAX) this.#blocked.push(load)
  }

  #capture(response: Response): void {
    if (this.#captures.length >= CAPTURED_MAX) return
    this.#captures.push(this.#answer(response).catch(() => undefined))
  }

  async #answer(response: Response): Promise<CapturedAnswer | undefined> {
    const body = await response.body()
    this.#bytes += body.length
    if (this.#bytesMax > 0 && this.#bytes > this.#bytesMax) return undefined
    const text = body.toString('utf8')
    const json = jsonOf(text)
    return {
      url: response.url(),
      method: response.request().method(),
      status: response.status(),
      contentType: response.headers()['content-type'] ?? '',
      text,
      ...(json !== undefined && { json }),
    }
  }
}

export function blockedKinds({ block = [] }: BrowserOptions): string[] {
  return block.filter((entry) => !entry.includes('.'))
}

export function blockedHosts({ block = [] }: BrowserOptions): string[] {
  return block.filter((entry) => entry.includes('.')).map((host) => host.replace(/^\*?\./, '').toLowerCase())
}

function jsonOf(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
