import type { ComponentClass, Crawler } from './crawler.ts'
import { NotConfigured, WebloomError } from './errors.ts'

/** A component with its place: lower orders are nearer the engine. */
export interface Placed<T> {
  readonly name: string
  readonly order: number
  readonly Class: ComponentClass<T>
}

/** Makes one component by its `fromCrawler`, else by `new` without arguments. */
export function fromCrawler<T>(Class: ComponentClass<T>, crawler: Crawler): T {
  if (Class.fromCrawler) return Class.fromCrawler(crawler)
  return new (Class as new () => T)()
}

/** Throws WL_COMPONENT_LOAD when a component lacks one of the methods that its port needs. */
export function requireMethods(component: object, methods: readonly string[], what: string): void {
  const missing = methods.filter((method) => typeof Reflect.get(component, method) !== 'function')
  if (missing.length === 0) return
  throw new WebloomError(
    'WL_COMPONENT_LOAD',
    `${what} ${component.constructor?.name ?? ''} has no ${missing.join(', no ')}; a ${what} needs ${methods.join(', ')}`,
  )
}

/** Makes every component in order; one that answers `NotConfigured` is left out and named at level debug. */
export function buildComponents<T>(
  placed: readonly Placed<T>[],
  crawler: Crawler,
): { name: string; component: T }[] {
  const built: { name: string; component: T }[] = []
  for (const { name, Class } of [...placed].sort((a, b) => a.order - b.order)) {
    try {
      built.push({ name, component: fromCrawler(Class, crawler) })
    } catch (error) {
      if (!(error instanceof NotConfigured)) throw error
      crawler.logger.debug({ component: name, reason: error.message }, 'component left out')
    }
  }
  return built
}
