/** A prompt with a page to try selectors on: what a spider's callback would see, line by line. */

import { createInterface } from 'node:readline'
import { type REPLEval, type REPLServer, start } from 'node:repl'
import { PassThrough } from 'node:stream'
import { inspect } from 'node:util'
import { createContext, Script } from 'node:vm'
import { Request, UsageError } from '@webloom/core'
import { Response, Selector } from '@webloom/spider'
import type { PageFlags } from '../authoring/page-workbench.ts'
import { openWorkbench, pageAt, pageOf, typedUrl } from '../authoring/page-workbench.ts'
import type { Workbench, Yielded } from '../authoring/workbench.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { colorWanted } from '../terminal/color.ts'
import { visible, visibleLines } from '../terminal/sanitize.ts'
import { openInBrowser, savePage } from './view.ts'

export interface ShellFlags extends PageFlags {
  /** Run instead of asking for lines. */
  readonly code?: string
}

export async function shell(
  typed: string | undefined,
  flags: ShellFlags,
  config: LoadedConfig | undefined,
): Promise<void> {
  const url = typed === undefined ? undefined : typedUrl(typed)
  const script = flags.code === undefined ? undefined : scriptOf(flags.code)
  await using workbench = await openWorkbench(url, flags, config)
  const session = new ShellSession(workbench, flags)
  if (url !== undefined) await session.fetch(url)
  if (script === undefined) await session.talk()
  else await session.run(script)
}

/** Made before a page is fetched for it. */
function scriptOf(code: string): Script {
  // Only a function may await.
  const expression = /\bawait\b/.test(code) ? `(async () => (${code}\n))()` : code
  try {
    return new Script(expression, { filename: 'code' })
  } catch (cause) {
    throw new UsageError('WL_USAGE', `-c ${code}: ${(cause as Error).message}`, { cause })
  }
}

/** What the lines of a shell see, and what they change. */
class ShellSession {
  readonly #workbench: Workbench
  readonly #flags: ShellFlags
  #response: Response | undefined

  constructor(workbench: Workbench, flags: ShellFlags) {
    this.#workbench = workbench
    this.#flags = flags
  }

  /** Fetches a page; it is `response` from then on. */
  async fetch(target: string | Request): Promise<Response> {
    const request = typeof target === 'string' && /^curl\s/.test(target) ? Request.fromCurl(target) : target
    this.#response =
      request instanceof Request
        ? await pageOf(this.#workbench, request)
        : await pageAt(this.#workbench, typedUrl(request), this.#flags)
    return this.#response
  }

  /** One line, awaited; its answer is printed. */
  async run(script: Script): Promise<void> {
    const value: unknown = await script.runInContext(createContext(this.#named({})))
    if (value !== undefined) process.stdout.write(`${shown(value)}\n`)
  }

  /** Reads lines until their end. */
  async talk(): Promise<void> {
    if (process.stdin.isTTY) process.stdout.write(`${NAMES}\n`)
    if (this.#response) process.stdout.write(`${visible(String(this.#response))}\n`)
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const input = process.stdin.isTTY ? process.stdin : new PassThrough()
    const prompt = process.stdin.isTTY ? '> ' : ''
    const server = start({ prompt, input, output: process.stdout, writer: shown, ignoreUndefined: true })
    this.#named(server.context)
    server.on('exit', resolve)
    awaitOurs(server)
    if (input instanceof PassThrough) await lineByLine(input, server)
    await ended
  }

  #named<Context extends object>(context: Context): Context {
    const { spider, crawler } = this.#workbench
    const view = async (response = this.#response) => {
      if (response) openInBrowser(await savePage(response))
    }
    const scrape = (response: Response, callback?: string): Promise<Yielded> => {
      response.request.callback = callback ?? response.request.callback
      return this.#workbench.scrape(response)
    }
    const fetch = (target: string | Request) => this.fetch(target)
    const { settings } = crawler
    Object.assign(context, {
      Request,
      Response,
      Selector,
      spider,
      crawler,
      settings,
      fetch,
      view,
      scrape,
      console,
    })
    return Object.defineProperties(context, {
      response: { get: () => this.#response, configurable: true },
      request: { get: () => this.#response?.request, configurable: true },
    })
  }
}

const NAMES = `response                     the page, with css(), xpath(), jmespath()
request                      what was sent for it
fetch(url, request or curl)  fetches another page, which is response from then on
scrape(response, callback?)  what the spider's callback yields
view()                       opens the page in the browser
spider, settings, crawler, Request, Response, Selector
`

function shown(value: unknown): string {
  if (value instanceof Response || value instanceof Request) return visible(String(value))
  if (typeof value === 'string') return visibleLines(value)
  const plain = inspect(value, { colors: false, depth: 4 })
  // What holds nothing that steers a terminal may have the colours of `inspect`, and those alone.
  const isHarmless = visibleLines(plain) === plain
  return isHarmless && colorWanted(process.stdout.isTTY)
    ? inspect(value, { colors: true, depth: 4 })
    : visibleLines(plain)
}

/** A line that begins with one of our calls goes on when it has its answer, without `await` being typed. */
function awaitOurs(server: REPLServer): void {
  const evaluate = server.eval
  const awaiting: REPLEval = (code, ...rest) =>
    evaluate.call(server, OURS.test(code) ? `await ${code}` : code, ...rest)
  Object.assign(server, { eval: awaiting })
}

const OURS = /^\s*(?:fetch|scrape|view)\(/

/** From a pipe the prompt would take the next line while this one is awaited. */
async function lineByLine(prompt: PassThrough, server: REPLServer): Promise<void> {
  let onPrompt = () => {}
  const display = server.displayPrompt
  // Called after each line, also one that threw.
  const displaying = (keepsCursor?: boolean) => {
    display.call(server, keepsCursor)
    onPrompt()
  }
  Object.assign(server, { displayPrompt: displaying })
  let hasEnded = false
  server.once('exit', () => {
    hasEnded = true
    onPrompt()
  })
  for await (const line of createInterface({ input: process.stdin })) {
    const prompted = new Promise<void>((resolve) => {
      onPrompt = resolve
    })
    prompt.write(`${line}\n`)
    await prompted
    if (hasEnded) return // by .exit
  }
  prompt.end()
}
