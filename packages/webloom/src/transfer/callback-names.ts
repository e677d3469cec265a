import { methodNamed, type Request, UsageError, WebloomError } from '@webloom/core'
import { Spider } from '@webloom/spider'

/** Methods of Scrapy's own spiders, and what does the same here. */
const FRAMEWORK_METHODS: Readonly<Record<string, string>> = {
  _callback: 'parseByRule',
  _errback: 'failByRule',
  _parse: 'parse',
  _parse_sitemap: 'parseSitemap',
}

/** What the methods that requests of a Python spider name are called in the spider here. */
export class CallbackNames {
  readonly #spider: Spider
  readonly #given: ReadonlyMap<string, string>
  readonly #known = new Map<string, string | undefined>()

  /** @param given `--callback parse_item=parseDetail`, as it was typed */
  constructor(spider: Spider, given: readonly string[] = []) {
    this.#spider = spider
    this.#given = new Map(given.map(pairOf))
    for (const [name, method] of this.#given)
      if (!this.#has(method)) throw this.#missing([`--callback ${name}=${method}`])
  }

  /** The method; undefined when the spider has none: the name itself, or the same in camelCase. */
  methodFor(name: string): string | undefined {
    if (this.#known.has(name)) return this.#known.get(name)
    const wanted = [this.#given.get(name), name, camelCase(name), FRAMEWORK_METHODS[name]]
    const found = wanted.find((one) => one !== undefined && this.#has(one))
    this.#known.set(name, found)
    return found
  }

  /** The request with callbacks of this spider. */
  renamed(request: Request): Request {
    for (const role of ['callback', 'errback'] as const) {
      const name = request[role]
      if (typeof name === 'string') request[role] = this.methodFor(name) ?? name
    }
    return request
  }

  /** Names in `request` that no method answers to. */
  missingIn({ callback, errback }: Request): string[] {
    return [callback, errback].filter(
      (name): name is string => typeof name === 'string' && this.methodFor(name) === undefined,
    )
  }

  /** Says of all that are missing what the spider has. */
  refusal(missing: ReadonlyMap<string, number>): UsageError {
    const told = [...missing].map(([name, count]) => `${name} (${count} request${count === 1 ? '' : 's'})`)
    return this.#missing(told)
  }

  #missing(told: readonly string[]): UsageError {
    const first = told[0]!.replace(/^--callback |[ =].*$/g, '')
    return new UsageError(
      'WL_USAGE',
      `spider ${this.#spider.name} has no method for ${told.join(', ')}: nothing was moved. Write it, or name one that there is, as in  --callback ${first}=parse  (it has ${methodsOf(this.#spider).join(', ')})`,
    )
  }

  #has(name: string): boolean {
    try {
      methodNamed(this.#spider, name, 'callback')
      return true
    } catch (error) {
      if (error instanceof WebloomError && error.code === 'WL_CALLBACK_UNKNOWN') return false
      throw error
    }
  }
}

/** `parse_item` is `parseItem`. */
export function camelCase(name: string): string {
  return name.replace(/(?<=[A-Za-z0-9])_+([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase())
}

/** And back, as Python's spiders are written. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** `--callback there=here` as a pair. Throws WL_USAGE. */
export function pairOf(text: string): [string, string] {
  const [there = '', here = ''] = text.split('=')
  if (there !== '' && here !== '') return [there, here]
  throw new UsageError('WL_USAGE', `--callback ${text}: expected --callback parse_item=parseItem`)
}

/** Returns the names of the methods of the spider's own classes, for a message. */
function methodsOf(spider: Spider): string[] {
  const names = new Set<string>()
  for (
    let object = Object.getPrototypeOf(spider) as object;
    object !== Object.prototype && object.constructor !== Spider;
    object = Object.getPrototypeOf(object) as object
  )
    for (const name of Object.getOwnPropertyNames(object)) names.add(name)
  return ['parse', ...names].filter((name, n, all) => name !== 'constructor' && all.indexOf(name) === n)
}
