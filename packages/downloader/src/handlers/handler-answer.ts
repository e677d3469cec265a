import {
  type DownloadHandler,
  type DownloadOptions,
  type Request,
  Response,
  valueShown,
  WebloomError,
} from '@webloom/core'

/**
 * The handler's answer, with the request that it answers.
 *
 * Throws WL_MIDDLEWARE_MISUSE for anything but a Response: a forgotten `return` in somebody's handler then costs the requests
 * that meet with it, and the crawl goes on.
 */
export async function handlerAnswer(
  handler: DownloadHandler,
  request: Request,
  options: DownloadOptions,
): Promise<Response> {
  const answer: unknown = await handler.download(request, options)
  if (answer instanceof Response) return answer.hasRequest ? answer : answer.replace({ request })
  const given = answer instanceof globalThis.Response ? 'a Response of fetch()' : valueShown(answer)
  throw new WebloomError(
    'WL_MIDDLEWARE_MISUSE',
    `the download handler ${handler.constructor.name} gave ${given} for ${request}; expected a Response of webloom: new Response(request.url, { status, headers, body, request })`,
  )
}
