import {
  type DownloadHandler,
  type DownloadOptions,
  type Request,
  Response,
  thrownBy,
  valueShown,
  WebloomError,
} from '@webloom/core'
import { BUILTIN_HANDLERS, type DownloadHandlers } from './download-handlers.ts'
import { type DownloadDeadline, inTime } from './in-time.ts'

/** Name of the class that fetches URLs of this scheme, where that is none of ours and extends none; undefined otherwise. */
export function ownHandlerOf(url: string, handlers: DownloadHandlers): string | undefined {
  const scheme = url.slice(0, url.indexOf(':'))
  const handler = Object.hasOwn(handlers, scheme) ? handlers[scheme] : undefined
  const isOurs = Object.values(BUILTIN_HANDLERS).some((Class) => handler instanceof Class)
  return isOurs ? undefined : handler?.constructor.name
}

/**
 * Resolves to the answer of a handler, with the request that it answers; rejects as `inTime` does.
 *
 * Rejects with WL_MIDDLEWARE_MISUSE for anything but a Response: a forgotten `return` in somebody's handler then costs the requests
 * that meet with it, and the crawl goes on.
 */
export async function handlerAnswer(
  handler: DownloadHandler,
  request: Request,
  options: DownloadOptions,
  deadline: DownloadDeadline,
): Promise<Response> {
  const answer = await given(handler, request, options, deadline)
  if (answer instanceof Response) return answer.hasRequest ? answer : answer.replace({ request })
  const shown = answer instanceof globalThis.Response ? 'a Response of fetch()' : valueShown(answer)
  throw new WebloomError(
    'WL_MIDDLEWARE_MISUSE',
    `the download handler ${handler.constructor.name} gave ${shown} for ${request}; expected a Response of webloom: new Response(request.url, { status, headers, body, request })`,
  )
}

async function given(
  handler: DownloadHandler,
  request: Request,
  options: DownloadOptions,
  deadline: DownloadDeadline,
): Promise<unknown> {
  try {
    return await inTime(handler, request, options, deadline)
  } catch (error) {
    throw thrownBy(error, `the download handler ${handler.constructor.name}`)
  }
}
