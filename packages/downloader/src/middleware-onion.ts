import {
  type DownloaderMiddleware,
  type DownloadResult,
  isPromise,
  Request,
  Response,
  RetryLater,
  thrownBy,
  valueShown,
  WebloomError,
} from '@webloom/core'

type Fetch<Options> = (request: Request, options: Options) => Promise<DownloadResult>

/**
 * Composes the middlewares and the network into one fetch function, by Scrapy's rules:
 *
 *     processRequest    in order; the first Response, Request or RetryLater ends the way out
 *     the network       unless something ended the way out
 *     processException  in reverse, when one of the above threw; the first answer counts, else the error stands
 *     processResponse   in reverse, for any Response so far, through every middleware; a Request or RetryLater ends it
 *
 * Errors of `processResponse` are not passed to `processException`.
 */
export function composeMiddlewares<Options>(
  middlewares: readonly { name: string; component: DownloaderMiddleware }[],
  network: Fetch<Options>,
): Fetch<Options> {
  const outward = middlewares.filter(({ component }) => component.processRequest)
  const inward = middlewares.filter(({ component }) => component.processResponse).reverse()
  const rescue = middlewares.filter(({ component }) => component.processException).reverse()

  async function rescued(request: Request, error: unknown): Promise<DownloadResult> {
    for (const { name, component } of rescue) {
      const answer = await asked(name, 'processException', () => component.processException!(request, error))
      if (answer !== undefined) return checked(answer, name, 'processException')
    }
    throw error
  }

  return async (request, options) => {
    let result: DownloadResult | undefined
    let by: string | undefined
    try {
      for (const { name, component } of outward) {
        by = name
        const hook = component.processRequest!(request)
        const answer = isPromise(hook) ? await hook : hook
        if (answer === undefined) continue
        result = checked(answer, name, 'processRequest')
        break
      }
      by = undefined
      result ??= await network(request, options)
    } catch (error) {
      result = await rescued(request, by === undefined ? error : thrownBy(error, `${by}.processRequest`))
    }
    try {
      for (const { name, component } of inward) {
        if (!(result instanceof Response)) return result
        by = name
        const hook = component.processResponse!(request, result)
        result = checked(isPromise(hook) ? await hook : hook, name, 'processResponse')
      }
    } catch (error) {
      throw thrownBy(error, `${by}.processResponse`)
    }
    return result
  }
}

async function asked<T>(name: string, hook: string, call: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw thrownBy(error, `${name}.${hook}`)
  }
}

function checked(answer: unknown, name: string, hook: string): DownloadResult {
  if (answer instanceof Response || answer instanceof Request || answer instanceof RetryLater) return answer
  const expected =
    hook === 'processResponse'
      ? 'a Response, Request or RetryLater'
      : 'nothing, a Response, Request or RetryLater'
  throw new WebloomError(
    'WL_MIDDLEWARE_MISUSE',
    `${name}.${hook} answered ${valueShown(answer)}; expected ${expected}`,
  )
}
