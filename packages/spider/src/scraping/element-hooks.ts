/** The hooks of spider middlewares that see each element which a callback yields, in order. What one throws names it. */

import { type Request, type SpiderMiddleware, thrownBy } from '@webloom/core'
import type { Response } from '../responses/response.ts'

/** Returns what a middleware makes of a request; null when it drops it. */
export type RequestHook = (request: Request, response: Response | null) => Request | null

/** Returns what a middleware makes of an item; null or undefined when it drops it. */
export type ItemHook = (item: unknown, response: Response | null) => unknown

type NamedMiddlewares = readonly { readonly name: string; readonly component: SpiderMiddleware }[]

export function requestHooksOf(middlewares: NamedMiddlewares): readonly RequestHook[] {
  return middlewares.flatMap(({ name, component }) => {
    if (!component.processSpiderRequest) return []
    const hook: RequestHook = (request, response) => {
      try {
        return component.processSpiderRequest!(request, response)
      } catch (error) {
        throw thrownBy(error, `${name}.processSpiderRequest`)
      }
    }
    return [hook]
  })
}

export function itemHooksOf(middlewares: NamedMiddlewares): readonly ItemHook[] {
  return middlewares.flatMap(({ name, component }) => {
    if (!component.processSpiderItem) return []
    const hook: ItemHook = (item, response) => {
      try {
        return component.processSpiderItem!(item, response)
      } catch (error) {
        throw thrownBy(error, `${name}.processSpiderItem`)
      }
    }
    return [hook]
  })
}
