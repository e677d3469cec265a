/**
 * itemloaders' ItemLoader: collects values of fields from a page, and makes an item of them.
 *
 *     addCss('price', '.price::text', { re: /[\d.]+/ })
 *       found values ─► pattern ─► processors of the call ─► the field's input processor ─► collected
 *     loadItem()
 *       collected values, always a list ─► the field's output processor ─► the item's field
 *
 * A field without processors of its own gets the loader's default ones, which leave values as they are.
 */

import { checkOptions, type OptionNames, WebloomError } from '@webloom/core'
import { extractRegex } from '@webloom/selectors'
import { Identity, isNothing, type LoaderContext, type LoaderProcessor, listOf } from './loader-processors.ts'

/** Where a loader finds values: a response, a selector or a list of selectors. */
export interface LoaderSource {
  /** Finds values by a CSS query, for `addCss` and its siblings. */
  css(query: string): LoaderFound
  /** Finds values by an XPath expression, for `addXpath` and its siblings. */
  xpath?(query: string): LoaderFound
  /** Finds values by a JMESPath query, for `addJmes` and its siblings. */
  jmespath?(query: string): LoaderFound
}

/** What a query of a loader has found. It can be searched further, as `SelectorList` can. */
export interface LoaderFound extends LoaderSource {
  /** Returns all values that were found, in the order of the page. */
  getall(): readonly unknown[]
}

/** The processors of a field's values. */
export interface LoaderField {
  /** Processes values when they come in. */
  readonly input?: LoaderProcessor
  /** Makes the field's value from the list of all that came in, when the item is made. */
  readonly output?: LoaderProcessor
}

/** The processors of each field. Fields without an entry take the loader's defaults. */
export type LoaderFields<Item> = { readonly [Field in keyof Item]?: LoaderField }

/** The item that a loader fills, the source of its values, and their processors. */
export interface ItemLoaderOptions<Item> {
  /** The item to fill; its values count as collected. Default: a new plain object. */
  readonly item?: Item
  /** A response or selector. Needed for all methods but `addValue` and its siblings. */
  readonly source?: LoaderSource
  /** The processors by field. */
  readonly fields?: LoaderFields<Item>
  /** The input processor of fields without one. Default `Identity()`. */
  readonly defaultInput?: LoaderProcessor
  /** The output processor of fields without one. Default `Identity()`: the field is a list. */
  readonly defaultOutput?: LoaderProcessor
  /** Values that processors may read. */
  readonly context?: LoaderContext
}

/** A pattern that each value is reduced to before a processor gets it. */
export interface LoaderPattern {
  /** A pattern as for `selector.re()`. */
  readonly re: string | RegExp
}

/** One step before the field's `input`: a processor, or a pattern that takes parts out of a value. */
export type LoaderStep = LoaderProcessor | LoaderPattern

type Query = 'css' | 'xpath' | 'jmespath'

const OPTIONS = {
  item: true,
  source: true,
  fields: true,
  defaultInput: true,
  defaultOutput: true,
  context: true,
} as const satisfies OptionNames<ItemLoaderOptions<object>>

const FIELD_OPTIONS = { input: true, output: true } as const satisfies OptionNames<LoaderField>

/** Scrapy's names for what has another name here. */
const HINTS = {
  response: 'Write source: response',
  selector: 'Write source: selector',
  defaultInputProcessor: 'Did you mean defaultInput?',
  default_input_processor: 'Did you mean defaultInput?',
  defaultOutputProcessor: 'Did you mean defaultOutput?',
  default_output_processor: 'Did you mean defaultOutput?',
}

/** Collects values of fields and makes an item of them. */
export class ItemLoader<Item extends object = Record<string, unknown>> {
  /** The processors by field; a subclass may set them. */
  fields: LoaderFields<Item>
  /** The input processor of fields without one; a subclass may set it. */
  defaultInput: LoaderProcessor
  /** The output processor of fields without one; a subclass may set it. */
  defaultOutput: LoaderProcessor
  /** The item that is being filled. */
  readonly item: Item
  /** What processors may read beside the value: the given context, with `item` and `source`. */
  readonly context: LoaderContext
  readonly #source: LoaderSource | undefined
  #values = new Map<string, unknown[]>()

  constructor(options: ItemLoaderOptions<Item> = {}) {
    checkOptions(options, OPTIONS, { of: 'ItemLoader', hints: HINTS })
    const { item = {} as Item, source, fields = {}, context = {} } = options
    for (const [field, processors] of Object.entries<object>(fields as Record<string, LoaderField>))
      checkOptions(processors, FIELD_OPTIONS, { of: `field ${field} of ItemLoader` })
    this.item = item
    this.fields = fields
    this.defaultInput = options.defaultInput ?? Identity()
    this.defaultOutput = options.defaultOutput ?? Identity()
    this.context = { ...context, item, source }
    this.#source = source
    for (const [field, value] of Object.entries(item)) this.#values.set(field, [...listOf(value)])
  }

  /** Adds values to a field; with the field null, `value` is an object of fields and values. */
  addValue(field: (keyof Item & string) | null, value: unknown, ...steps: readonly LoaderStep[]): this {
    const taken = this.getValue(value, ...steps)
    if (isNothing(taken)) return this
    const byField = field === null ? Object.entries(taken) : [[field, taken] as const]
    for (const [name, values] of byField) this.#collect(name, values)
    return this
  }

  /** Replaces what the field holds so far; otherwise as `addValue`. */
  replaceValue(field: (keyof Item & string) | null, value: unknown, ...steps: readonly LoaderStep[]): this {
    const taken = this.getValue(value, ...steps)
    if (isNothing(taken)) return this
    for (const name of field === null ? Object.keys(taken) : [field]) this.#values.delete(name)
    return this.addValue(field, taken)
  }

  /** Returns what the steps make of the value, and collects nothing. */
  getValue(value: unknown, ...steps: readonly LoaderStep[]): unknown {
    let result = value
    for (const step of steps)
      if (typeof step === 'object')
        result = listOf(result).flatMap((text) => extractRegex(step.re, String(text), true))
    for (const step of steps) {
      if (isNothing(result)) return result
      if (typeof step === 'function') result = step(result, this.context)
    }
    return result
  }

  /** Adds what a CSS query finds, as `addValue` does. */
  addCss(field: (keyof Item & string) | null, query: string, ...steps: readonly LoaderStep[]): this {
    return this.addValue(field, this.#found('css', query), ...steps)
  }

  /** Replaces the field's values by what a CSS query finds. */
  replaceCss(field: (keyof Item & string) | null, query: string, ...steps: readonly LoaderStep[]): this {
    return this.replaceValue(field, this.#found('css', query), ...steps)
  }

  /** Returns what the steps make of what a CSS query finds, and collects nothing. */
  getCss(query: string, ...steps: readonly LoaderStep[]): unknown {
    return this.getValue(this.#found('css', query), ...steps)
  }

  /** Adds what an XPath expression finds, as `addValue` does. */
  addXpath(field: (keyof Item & string) | null, query: string, ...steps: readonly LoaderStep[]): this {
    return this.addValue(field, this.#found('xpath', query), ...steps)
  }

  /** Replaces the field's values by what an XPath expression finds. */
  replaceXpath(field: (keyof Item & string) | null, query: string, ...steps: readonly LoaderStep[]): this {
    return this.replaceValue(field, this.#found('xpath', query), ...steps)
  }

  /** Returns what the steps make of what an XPath expression finds, and collects nothing. */
  getXpath(query: string, ...steps: readonly LoaderStep[]): unknown {
    return this.getValue(this.#found('xpath', query), ...steps)
  }

  /** Adds what a JMESPath query finds, as `addValue` does. */
  addJmes(field: (keyof Item & string) | null, query: string, ...steps: readonly LoaderStep[]): this {
    return this.addValue(field, this.#found('jmespath', query), ...steps)
  }

  /** Replaces the field's values by what a JMESPath query finds. */
  replaceJmes(field: (keyof Item & string) | null, query: string, ...steps: readonly LoaderStep[]): this {
    return this.replaceValue(field, this.#found('jmespath', query), ...steps)
  }

  /** Returns what the steps make of what a JMESPath query finds, and collects nothing. */
  getJmes(query: string, ...steps: readonly LoaderStep[]): unknown {
    return this.getValue(this.#found('jmespath', query), ...steps)
  }

  /** Returns a loader of the same item that searches only within what the CSS query finds. */
  nestedCss(query: string): ItemLoader<Item> {
    return this.#nested('css', query)
  }

  /** Returns a loader of the same item that searches only within what the XPath expression finds. */
  nestedXpath(query: string): ItemLoader<Item> {
    return this.#nested('xpath', query)
  }

  /** Returns what the field holds so far, without its output processor. */
  getCollectedValues(field: keyof Item & string): readonly unknown[] {
    return this.#values.get(field) ?? []
  }

  /** Returns the value that the item's field would get now. */
  getOutputValue(field: keyof Item & string): unknown {
    const output = this.fields[field]?.output ?? this.defaultOutput
    return output([...this.getCollectedValues(field)], this.context)
  }

  /** Fills the item and returns it. Fields whose value is null or undefined stay as they are. */
  loadItem(): Item {
    for (const field of this.#values.keys() as Iterable<keyof Item & string>) {
      const value = this.getOutputValue(field)
      if (!isNothing(value)) this.item[field] = value as Item[typeof field]
    }
    return this.item
  }

  #collect(field: string, values: unknown): void {
    const input = this.fields[field as keyof Item]?.input ?? this.defaultInput
    const collected = listOf(input(listOf(values), this.context))
    if (collected.length > 0) this.#values.set(field, [...(this.#values.get(field) ?? []), ...collected])
  }

  #nested(kind: Query, query: string): ItemLoader<Item> {
    const { fields, defaultInput, defaultOutput, item, context } = this
    const source = this.#search(kind, query)
    const nested = new ItemLoader<Item>({ fields, defaultInput, defaultOutput, item, context, source })
    nested.#values = this.#values
    return nested
  }

  #found(kind: Query, query: string): readonly unknown[] {
    return this.#search(kind, query).getall()
  }

  #search(kind: Query, query: string): LoaderFound {
    const source = this.#source
    if (typeof source?.[kind] === 'function') return source[kind](query)
    throw new WebloomError(
      'WL_USAGE',
      source
        ? `this loader's source has no ${kind}(); give it a response or a selector`
        : `a loader without a source was asked for ${JSON.stringify(query)}; make it with new ItemLoader({ source: response })`,
    )
  }
}
