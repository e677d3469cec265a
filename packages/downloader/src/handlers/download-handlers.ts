/**
 * Which handler fetches a request: the one of its scheme, or the one that `meta.download_handler` names.
 *
 *     http, https, data, file    built in
 *     browser                    of the package that renders pages, loaded when `meta.browser` first asks for it
 *     DOWNLOAD_HANDLERS          adds handlers, replaces one by a class, or removes one (null)
 *
 * A handler of a user's own makes its own connections: the address guard and the proxies belong to the built-in one.
 */

import {
  type ComponentClass,
  type Crawler,
  DownloadError,
  type DownloadHandler,
  type DownloadOptions,
  didYouMean,
  fromCrawler,
  isForBrowser,
  type JsonValue,
  pythonHint,
  type Request,
  requireMethods,
  SettingsError,
  valueShown,
} from '@webloom/core'
import { HttpDownloadHandler } from '../http/http-download-handler.ts'
import { DataDownloadHandler } from './data-download-handler.ts'
import { FileDownloadHandler } from './file-download-handler.ts'

export type DownloadHandlers = Readonly<Record<string, DownloadHandler>>

/** By scheme. */
export const BUILTIN_HANDLERS: Readonly<Record<string, ComponentClass<DownloadHandler>>> = {
  http: HttpDownloadHandler,
  https: HttpDownloadHandler,
  data: DataDownloadHandler,
  file: FileDownloadHandler,
}

/**
 * One handler of each class, so that `http` and `https` share connections and bounds. All are made now and not when they are
 * first asked: settings that are wrong are told before anything is fetched.
 *
 * @param optional those of packages that need not be installed, such as `browser`; DOWNLOAD_HANDLERS goes before them
 */
export function downloadHandlersOf(
  crawler: Crawler,
  optional: Readonly<Record<string, ComponentClass<DownloadHandler>>> = {},
): DownloadHandlers {
  const made = new Map<ComponentClass<DownloadHandler>, DownloadHandler>()
  const handlers: Record<string, DownloadHandler> = {}
  const wanted = crawler.settings.getDict('DOWNLOAD_HANDLERS')
  for (const [name, Class] of Object.entries(handlerClasses(wanted, optional))) {
    const handler = made.get(Class) ?? madeOf(Class, crawler)
    made.set(Class, handler)
    handlers[name] = handler
  }
  return handlers
}

function handlerClasses(
  wanted: Readonly<Record<string, unknown>>,
  optional: Readonly<Record<string, ComponentClass<DownloadHandler>>>,
) {
  const classes = { ...BUILTIN_HANDLERS, ...optional }
  const problems: string[] = []
  for (const [name, Class] of Object.entries(wanted)) {
    if (meantName(name) !== name)
      problems.push(
        `DOWNLOAD_HANDLERS names ${JSON.stringify(name)}, which no URL begins with; write ${JSON.stringify(meantName(name))}`,
      )
    else if (Class === null) delete classes[name]
    else if (typeof Class === 'function') classes[name] = Class as ComponentClass<DownloadHandler>
    else problems.push(notAHandler(name, Class))
  }
  if (problems.length > 0) throw new SettingsError(problems)
  return classes
}

/** Of requests with `meta.browser`. */
export const BROWSER_HANDLER = 'browser'

/**
 * Returns the handler that `meta.download_handler` names, else the browser where `meta.browser` asks for it, else the one of the URL's
 * scheme.
 */
export function handlerFor(
  request: Request,
  handlers: DownloadHandlers,
  options?: Pick<DownloadOptions, 'isRendered'>,
): DownloadHandler {
  const named = request.hasMeta ? handlerInMeta(request, options) : undefined
  // ["http"] is no name, though its text is one.
  const name = named === undefined ? schemeOf(request.url) : typeof named === 'string' ? named : ''
  // The scheme comes from a page: `constructor:` names no handler.
  if (Object.hasOwn(handlers, name)) return handlers[name]!
  const names = Object.keys(handlers)
  const known = names.join(', ')
  throw new DownloadError(
    'UnsupportedURLSchemeError',
    named === undefined
      ? `${request.url}: no handler for this scheme; there are ${known}. DOWNLOAD_HANDLERS={"${name}": "./handler.ts#Export"} adds one`
      : `${request.url}: meta.download_handler is ${JSON.stringify(named)}; there are ${known}.${didYouMean(name, names)} DOWNLOAD_HANDLERS adds one`,
  )
}

function handlerInMeta(
  request: Request,
  options?: Pick<DownloadOptions, 'isRendered'>,
): JsonValue | undefined {
  return request.meta.download_handler ?? (isForBrowser(request, options) ? BROWSER_HANDLER : undefined)
}

/** V8 finds a property by a constant sooner than by a part that is cut from each URL anew. */
function schemeOf(url: string): string {
  if (url.startsWith('https:')) return 'https'
  if (url.startsWith('http:')) return 'http'
  return url.slice(0, url.indexOf(':'))
}

function madeOf(Class: ComponentClass<DownloadHandler>, crawler: Crawler): DownloadHandler {
  const handler = fromCrawler(Class, crawler, 'DOWNLOAD_HANDLERS')
  requireMethods(handler, ['download'], 'download handler', 'DOWNLOAD_HANDLERS')
  return handler
}

/** Returns the scheme that is meant by `ftp://`, `ftp:` or `HTTPS`; of any other name, which meta.download_handler may use, the name. */
function meantName(name: string): string {
  const bare = name.replace(/:\/*$/, '')
  const scheme = bare.toLowerCase()
  return bare !== name || Object.hasOwn(BUILTIN_HANDLERS, scheme) ? scheme : name
}

function notAHandler(name: string, wanted: unknown): string {
  const isScrapys = typeof wanted === 'string' && wanted.startsWith('scrapy.')
  const hint = !isScrapys
    ? pythonHint(wanted)
    : Object.hasOwn(BUILTIN_HANDLERS, name)
      ? `; Scrapy's handlers are Python: leave ${name} out, and the built-in one is used`
      : "; Scrapy's handlers are Python: write one with a method download(request, options)"
  return `DOWNLOAD_HANDLERS has ${typeof wanted === 'object' ? valueShown(wanted) : JSON.stringify(wanted)} for ${name}; expected a class, ./file.ts#Export, or null for none${hint}`
}
