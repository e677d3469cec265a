import { didYouMean, valueShown } from '@webloom/url'
import { NotConfigured, WebloomError } from '../errors/errors.ts'
import { asksFor } from '../redis/redis-options.ts'
import { isPromise } from '../waiting/awaitable.ts'
import type { ComponentClass, Crawler } from './crawler.ts'

/** A component with its place: lower orders are nearer the engine. */
export interface Placed<T> {
  readonly name: string
  readonly order: number
  readonly Class: ComponentClass<T>
}

/**
 * Makes one component by its `fromCrawler`, else by `new` without arguments. Throws WL_COMPONENT_LOAD for a class that cannot be made
 * so, when `fromCrawler` returns no component, and when it or the constructor throws what is not a WebloomError: then the error names
 * the class, and has what was thrown as its cause.
 *
 * @param setting that names the class, for messages
 */
export function fromCrawler<T>(Class: ComponentClass<T>, crawler: Crawler, setting?: string): T {
  const shown = setting === undefined ? Class.name : `${Class.name} (${setting})`
  refuseUnmakable(Class, shown)
  try {
    return made(Class, crawler)
  } catch (cause) {
    if (cause instanceof WebloomError) throw cause
    const by = Class.fromCrawler ? 'fromCrawler' : 'its constructor'
    const message = `${shown} could not be made: ${by} threw ${thrownShown(cause)}`
    throw new WebloomError('WL_COMPONENT_LOAD', message, { cause })
  }
}

/**
 * Opens a component of a user's own. Rejects with WL_COMPONENT_LOAD, which names it, when its method throws what is not a WebloomError.
 *
 * @param what the component with its setting, e.g. `the item pipeline Table (ITEM_PIPELINES)`
 */
export async function opened(what: string, method: string, open: () => unknown): Promise<void> {
  try {
    await open()
  } catch (cause) {
    if (cause instanceof WebloomError) throw cause
    const message = `${what} could not be opened: ${method} threw ${thrownShown(cause)}`
    throw new WebloomError('WL_COMPONENT_LOAD', message, { cause })
  }
}

function thrownShown(thrown: unknown): string {
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : valueShown(thrown)
}

function refuseUnmakable(Class: ComponentClass<unknown>, shown: string): void {
  const refusal = (why: string) => new WebloomError('WL_COMPONENT_LOAD', `${shown} ${why}`)
  if (!isClass(Class)) throw refusal(`is ${functionShown(Class)}; expected a class`)
  if (Class.fromCrawler) return
  if ('from_crawler' in Class) throw refusal('has static from_crawler; here it is called fromCrawler')
  if (Class.length > 0)
    throw refusal(
      `takes a value in its constructor, and has no fromCrawler that gives it one: it would be made by new without arguments. Write  static fromCrawler({ settings }) { return new this(…) }  or give the parameter a default`,
    )
}

/** Returns false for what `new` cannot make anything of: an arrow function, an async one, a method. */
export function isClass(value: unknown): boolean {
  return typeof value === 'function' && typeof value.prototype === 'object' && value.prototype !== null
}

/** Returns how a message shows an export or a value where a class is expected. */
export function functionShown(value: unknown): string {
  if (typeof value !== 'function' || isClass(value)) return valueShown(value)
  const kind = value.constructor.name === 'AsyncFunction' ? 'an async function' : 'an arrow function'
  return `${kind}, which makes no objects`
}

function made<T>(Class: ComponentClass<T>, crawler: Crawler): T {
  if (!Class.fromCrawler) return new (Class as new () => T)()
  // So that what the connection's refusal says names the component.
  const redis: Crawler['redis'] = (role, because = `${Class.name} ${asksFor(role)}`) =>
    crawler.redis(role, because)
  const component = Class.fromCrawler({ ...crawler, redis }) as unknown
  if (isPromise(component)) throw asyncFromCrawler(Class.name, component)
  if (typeof component === 'object' && component !== null) return component as T
  throw new WebloomError(
    'WL_COMPONENT_LOAD',
    `fromCrawler of ${Class.name} returned ${valueShown(component)}; expected the component, as in  return new this(…)`,
  )
}

function asyncFromCrawler(name: string, made: PromiseLike<unknown>): WebloomError {
  // What it may reject with later is said here.
  made.then(undefined, () => {})
  return new WebloomError(
    'WL_COMPONENT_LOAD',
    `fromCrawler of ${name} returned a Promise; it may not be async, because components are made synchronously. Wait in the component's own methods`,
  )
}

/** Throws WL_COMPONENT_LOAD, which names the setting, when a component lacks one of the methods that its port needs. */
export function requireMethods(
  component: object,
  methods: readonly string[],
  what: string,
  setting: string,
): void {
  const missing = methods.filter((method) => typeof Reflect.get(component, method) !== 'function')
  if (missing.length === 0) return
  const hint = didYouMeanMethod(methodsOf(component), missing)
  throw new WebloomError(
    'WL_COMPONENT_LOAD',
    `${what} ${component.constructor?.name ?? ''} (${setting}) has no ${missing.join(', no ')}; it needs ${methods.join(', ')}.${hint}`,
  )
}

/**
 * Throws WL_COMPONENT_LOAD for a component that the crawl would never call: it has none of the hooks, or has one under its
 * Python name.
 *
 * @param what the component's name in messages, e.g. `the downloader middleware "./proxy.ts#Proxy"`
 */
export function requireHooks(component: object, hooks: readonly string[], what: string): void {
  const methods = methodsOf(component)
  for (const written of methods) {
    const meant = camelCase(written)
    if (written === meant || !hooks.includes(meant)) continue
    throw new WebloomError('WL_COMPONENT_LOAD', `${what} has ${written}; here it is called ${meant}`)
  }
  if (hooks.some((hook) => methods.includes(hook))) return
  const known = methods.length > 0 ? `only ${methods.join(', ')}` : 'no method'
  const meant = methods.map((method) => didYouMean(method, hooks)).find((hint) => hint !== '') ?? ''
  throw new WebloomError(
    'WL_COMPONENT_LOAD',
    `${what} would never be called: it has ${known}.${meant} Its hooks are ${hooks.join(', ')}`,
  )
}

/** Returns the names of all methods, including inherited ones, without running getters. */
function methodsOf(component: object): string[] {
  const names = new Set<string>()
  for (
    let object: object | null = component;
    object && object !== Object.prototype;
    object = Object.getPrototypeOf(object)
  ) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(object)))
      if (typeof value === 'function' && name !== 'constructor') names.add(name)
  }
  return [...names]
}

function didYouMeanMethod(methods: readonly string[], hooks: readonly string[]): string {
  for (const method of methods) {
    const hint = didYouMean(method, hooks)
    if (hint !== '') return ` It has ${method}.${hint}`
  }
  return ''
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
}

/** Makes every component in order. One that throws `NotConfigured` is left out, and named at level debug. */
export function buildComponents<T>(
  placed: readonly Placed<T>[],
  crawler: Crawler,
  setting?: string,
): { name: string; component: T }[] {
  const built: { name: string; component: T }[] = []
  for (const { name, Class } of [...placed].sort((a, b) => a.order - b.order)) {
    try {
      built.push({ name, component: fromCrawler(Class, crawler, setting) })
    } catch (error) {
      if (!(error instanceof NotConfigured)) throw error
      crawler.logger.debug({ component: name, reason: error.message }, 'component left out')
    }
  }
  return built
}
