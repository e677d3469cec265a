import { WebloomError } from './errors.ts'

/** What headers may be given as: an object (values may be lists), or pairs in order. */
export type HeadersInit =
  | Headers
  | Iterable<readonly [string, string]>
  | Record<string, string | readonly string[] | undefined>

// RFC 9110 §5.1 token, and §5.5: a value must not hold CR, LF or NUL, or it could smuggle in further headers.
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const VALUE_REFUSED = /[\r\n\0]/

/** HTTP headers: names in any case, several values a name, order kept. */
export class Headers implements Iterable<[string, string]> {
  readonly #values = new Map<string, string[]>()

  /** Throws WL_HEADER_INVALID for a name that is no token and for a value with CR, LF or NUL. */
  constructor(init?: HeadersInit) {
    if (!init) return
    if (init instanceof Headers) {
      for (const [name, values] of init.#values) this.#values.set(name, [...values])
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

  /** Headers as a server sent them. Names are lower-cased; values are taken as they are, however odd. */
  static fromWire(wire: Readonly<Record<string, string | readonly string[] | undefined>>): Headers {
    const headers = new Headers()
    for (const name in wire) {
      const value = wire[name]
      if (value !== undefined)
        headers.#values.set(name.toLowerCase(), typeof value === 'string' ? [value] : [...value])
    }
    return headers
  }

  /** What `console.log(response.headers)` shows. */
  [Symbol.for('nodejs.util.inspect.custom')](): object {
    return this.toJSON()
  }

  get size(): number {
    return this.#values.size
  }

  /** The first value of `name`, or null when it is absent. */
  get(name: string): string | null {
    return this.#values.get(name.toLowerCase())?.[0] ?? null
  }

  /** Every value of `name` in order; empty when it is absent. */
  getAll(name: string): readonly string[] {
    return this.#values.get(name.toLowerCase()) ?? []
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase())
  }

  /** Replaces all values of `name`. */
  set(name: string, value: string | readonly string[]): void {
    const values = typeof value === 'string' ? [value] : [...value]
    for (const one of values) check(name, one)
    this.#values.set(name.toLowerCase(), values)
  }

  append(name: string, value: string): void {
    check(name, value)
    const values = this.#values.get(name.toLowerCase())
    if (values) values.push(value)
    else this.#values.set(name.toLowerCase(), [value])
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase())
  }

  /** One `[name, value]` pair a value; names in lower case. */
  *[Symbol.iterator](): Iterator<[string, string]> {
    for (const [name, values] of this.#values) for (const value of values) yield [name, value]
  }

  /** `{name: value}`, or `{name: [values]}` where a name has several. Names in lower case. */
  toJSON(): Record<string, string | string[]> {
    const plain: Record<string, string | string[]> = {}
    for (const [name, values] of this.#values) plain[name] = values.length === 1 ? values[0]! : [...values]
    return plain
  }
}

function check(name: string, value: unknown): void {
  if (!NAME.test(name)) {
    throw new WebloomError(
      'WL_HEADER_INVALID',
      `${JSON.stringify(name)} is no header name (RFC 9110: letters, digits and !#$%&'*+-.^_\`|~)`,
    )
  }
  if (typeof value !== 'string' || VALUE_REFUSED.test(value)) {
    throw new WebloomError(
      'WL_HEADER_INVALID',
      `header ${name} has the value ${JSON.stringify(value)}; expected a string without CR, LF or NUL`,
    )
  }
}
