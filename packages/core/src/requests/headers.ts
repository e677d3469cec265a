import { WebloomError } from '../errors/errors.ts'

/** Headers as they may be given: an object (values may be lists), or pairs in order. */
export type HeadersInit =
  | Headers
  | Iterable<readonly [string, string]>
  | Record<string, string | readonly string[] | undefined>

// RFC 9110 §5.1 token, and §5.5: a value must not hold CR, LF or NUL, as it could add further headers.
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const VALUE_REFUSED = /[\r\n\0]/

/** HTTP headers: names in any case, several values for a name, order kept. */
export class Headers implements Iterable<[string, string]> {
  /**
   * Names in lower case and values alternate; those of one name are adjacent. Most requests have few headers: then a search
   * is quicker than a Map, which also takes longer to make than the rest of a request.
   */
  readonly #pairs: string[] = []

  /** Throws WL_HEADER_INVALID for a name that is not a token, and for a value with CR, LF or NUL. */
  constructor(init?: HeadersInit) {
    if (!init) return
    if (init instanceof Headers) {
      this.#pairs = [...init.#pairs]
    } else if (Symbol.iterator in init) {
      for (const [name, value] of init as Iterable<readonly [string, string]>) this.append(name, value)
    } else {
      for (const [name, value] of Object.entries(init)) {
        if (value === undefined) continue
        if (typeof value === 'string') this.append(name, value)
        else for (const one of value) this.append(name, one)
      }
    }
  }

  /** Makes headers as a server sent them, each name once. Names are lower-cased; values are taken as they are, however odd. */
  static fromWire(wire: Readonly<Record<string, string | readonly string[] | undefined>>): Headers {
    const headers = new Headers()
    const pairs = headers.#pairs
    for (const name in wire) {
      const value = wire[name]
      if (value === undefined) continue
      const lowered = name.toLowerCase()
      if (typeof value === 'string') pairs.push(lowered, value)
      else for (const one of value) pairs.push(lowered, one)
    }
    return headers
  }

  /** Returns what `console.log(response.headers)` shows. */
  [Symbol.for('nodejs.util.inspect.custom')](): object {
    return this.toJSON()
  }

  /** The number of different names. */
  get size(): number {
    const pairs = this.#pairs
    let size = 0
    for (let at = 0; at < pairs.length; at += 2) if (at === 0 || pairs[at] !== pairs[at - 2]) size++
    return size
  }

  /** Returns the first value of `name`, or null when it is absent. */
  get(name: string): string | null {
    const at = this.#find(name.toLowerCase())
    return at < 0 ? null : this.#pairs[at + 1]!
  }

  /** Returns every value of `name` in order; empty when it is absent. */
  getAll(name: string): readonly string[] {
    const lowered = name.toLowerCase()
    const values: string[] = []
    for (let at = this.#find(lowered); at >= 0 && this.#pairs[at] === lowered; at += 2)
      values.push(this.#pairs[at + 1]!)
    return values
  }

  /** Returns whether `name`, in any case, has a value. */
  has(name: string): boolean {
    return this.#find(name.toLowerCase()) >= 0
  }

  /** Replaces all values of `name`. */
  set(name: string, value: string | readonly string[]): void {
    for (const one of typeof value === 'string' ? [value] : value) checkHeader(name, one)
    const lowered = name.toLowerCase()
    const at = this.#find(lowered)
    if (at < 0) this.#put(this.#pairs.length, 0, lowered, value)
    else this.#put(at, this.#end(lowered, at) - at, lowered, value)
  }

  /** Adds a value after those of `name`. Throws WL_HEADER_INVALID as the constructor does. */
  append(name: string, value: string): void {
    checkHeader(name, value)
    const lowered = name.toLowerCase()
    const at = this.#find(lowered)
    if (at < 0) this.#pairs.push(lowered, value)
    else this.#pairs.splice(this.#end(lowered, at), 0, lowered, value)
  }

  /** Removes all values of `name`; does nothing when there is none. */
  delete(name: string): void {
    const lowered = name.toLowerCase()
    const at = this.#find(lowered)
    if (at >= 0) this.#pairs.splice(at, this.#end(lowered, at) - at)
  }

  /** Adds those of `others` whose names are absent here. */
  addMissing(others: Headers): void {
    const known = this.#pairs.length
    const pairs = others.#pairs
    for (let at = 0; at < pairs.length; at += 2) {
      const place = this.#find(pairs[at]!)
      if (place < 0 || place >= known) this.#pairs.push(pairs[at]!, pairs[at + 1]!)
    }
  }

  /** Calls `look` for all pairs; quicker than a loop. */
  forEach(look: (name: string, value: string) => void): void {
    const pairs = this.#pairs
    for (let at = 0; at < pairs.length; at += 2) look(pairs[at]!, pairs[at + 1]!)
  }

  /** Yields a `[name, value]` pair for each value, with names in lower case. */
  *[Symbol.iterator](): Iterator<[string, string]> {
    for (let at = 0; at < this.#pairs.length; at += 2) yield [this.#pairs[at]!, this.#pairs[at + 1]!]
  }

  /** Returns `{name: value}`, or `{name: [values]}` where a name has several. Names are in lower case. */
  toJSON(): Record<string, string | string[]> {
    const plain: Record<string, string | string[]> = {}
    for (const [name, value] of this) {
      const before = Object.hasOwn(plain, name) ? plain[name] : undefined
      if (before === undefined) setEntry(plain, name, value)
      else if (typeof before === 'string') plain[name] = [before, value]
      else before.push(value)
    }
    return plain
  }

  #put(at: number, instead: number, lowered: string, value: string | readonly string[]): void {
    if (typeof value !== 'string') this.#pairs.splice(at, instead, ...value.flatMap((one) => [lowered, one]))
    else if (instead > 0) this.#pairs.splice(at, instead, lowered, value)
    else this.#pairs.push(lowered, value)
  }

  /** Returns where the first value of this name is, or -1. */
  #find(lowered: string): number {
    const pairs = this.#pairs
    for (let at = 0; at < pairs.length; at += 2) if (pairs[at] === lowered) return at
    return -1
  }

  /** Returns the position after the last value of the name whose first value is at `from`. */
  #end(lowered: string, from: number): number {
    let end = from
    while (this.#pairs[end] === lowered) end += 2
    return end
  }
}

/** Assigning this one name would set the prototype instead of an entry. */
function setEntry(plain: object, name: string, value: string): void {
  if (name !== '__proto__') Reflect.set(plain, name, value)
  else Object.defineProperty(plain, name, { value, enumerable: true, writable: true, configurable: true })
}

/** Throws WL_HEADER_INVALID for a name that is not a token, and for a value with CR, LF or NUL. */
export function checkHeader(name: string, value: unknown): void {
  if (!NAME.test(name)) {
    throw new WebloomError(
      'WL_HEADER_INVALID',
      `${JSON.stringify(name)} is not a header name (RFC 9110: letters, digits and !#$%&'*+-.^_\`|~)`,
    )
  }
  if (typeof value !== 'string' || VALUE_REFUSED.test(value)) {
    throw new WebloomError(
      'WL_HEADER_INVALID',
      `header ${name} has the value ${JSON.stringify(value)}; expected a string without CR, LF or NUL`,
    )
  }
}
