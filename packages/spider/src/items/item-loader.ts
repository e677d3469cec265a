/**
 * itemloaders' ItemLoader: collects values of fields from a page, and makes an item of them.
 *
 *     addCss('price', '.price::text', { re: /[\d.]+/ })
 *       found values ─► pattern ─► processors of the call ─► the field's input processor ─► collected
 *     loadItem()
 *       collected values, always a list ─► the field's output processor ─► the item's field
 *
 * A field without processors of its own gets the loader's default ones, which leave everything as it is.
 */

import { checkOptions, type OptionNames, WebloomError } from '@webloom/core'
import { extractRegex } from '@webloom/selectors'
import { Identity, isNothing, type LoaderContext, type LoaderProcessor, listOf } from './loader-processors.ts'

/** Where a loader finds values: a response, a selector or a list of selectors. */
export interface LoaderSource {
  /** What a CSS query finds, for `addCss` and its siblings. */
  css(query: string): LoaderFound
  /** What an XPath expression finds, for `addXpath` and its siblings. */
  xpath?(query: string): LoaderFound
  /** What a JMESPath query finds, for `addJmes` and its siblings. */
  jmespath?(query: string): LoaderFound
}

/** What a query of a loader has found; it can be searched further, as `SelectorList` can. */
export interface LoaderFound extends LoaderSource {
  /** All values that were found, in the order of the page. */
  getall(): readonly unknown[]
}

/** What is done with a field's values. */
export interface LoaderField {
  /** When they come in. */
  readonly input?: LoaderProcessor
  /** When the item is made; it gets the list of all that came in. */
  readonly output?: LoaderProcessor
}

/** What is done with the values of each field; fields that are not named take the loader's defaults. */
export type LoaderFields<Item> = { readonly [Field in keyof Item]?: LoaderField }

/** What a loader fills, from where, and what it does to values on the way. */
export interface ItemLoaderOptions<Item> {
  /** What is filled; what it holds already counts as collected. A plain object when absent. */
  readonly item?: Item
  /** A response or selector; needed for all but `addValue` and its siblings. */
  readonly source?: LoaderSource
  /** Processors by field. */
  readonly fields?: LoaderFields<Item>
  /** For fields without an `input`. Default `Identity()`. */
  readonly defaultInput?: LoaderProcessor
  /** For fields without an `output`. Default `Identity()`: the field is a list. */
  readonly defaultOutput?: LoaderProcessor
  /** What processors may read. */
  readonly context?: LoaderContext
}

/** What is taken of each value before any processor sees it. */
export interface LoaderPattern {
  /** As for `selector.re()`. */
  readonly re: string | RegExp
}

/** One step that a value takes before the field's `input`: a processor, or a pattern that cuts parts out of it. */
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

/** Scrapy's names for what is called otherwise here. */
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
  /** Processors by field; a subclass may set it. */
  fields: LoaderFields<Item>
  /** For fields without an `input`; a subclass may set it. */
  defaultInput: LoaderProcessor
  /** For fields without an `output`; a subclass may set it. */
  defaultOutput: LoaderProcessor
  /** What is filled. */
  readonly item: Item
  /** What processors may read beside the value: what was given, with `item` and `source`. */
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

  /** `addValue` in place of what the field holds so far. */
  replaceValue(field: (keyof Item & string) | null, value: unknown, ...steps: readonly LoaderStep[]): this {
    const taken = this.getValue(value, ...steps)
    if (isNothing(taken)) return this
    for (const name of field === null ? Object.keys(taken) : [field]) this.#values.delete(name)
    return this.addValue(field, taken)
  }

  /** What the steps make of the value; nothing is collected. */
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

  /** `addValue` with what a CSS query finds. */
  addCss(field: (keyof Item & string) | null, query: string, ...steps: readonly LoaderStep[]): this {
    return this.addValue(field, this.#found('css', query), ...steps)
  }

  /** `replaceValue` with what a CSS query finds. */
  replaceCss(field: (keyof Item & string) | null, query: string, ...steps: readonly LoaderStep[]): this {
    return this.replaceValue(field, this.#found('css', query), ...steps)
  }

  /** `getValue` of what a CSS query finds; nothing is collected. */
  getCss(query: string, ...steps: readonly LoaderStep[]): unknown {
    return this.getValue(this.#found('css', query), ...steps)
  }

  /** `addValue` with what an XPath expression finds. */
  addXpath(field: (keyof Item & string) | null, query: string, ...steps: readonly LoaderStep[]): this {
    return this.addValue(field, this.#found('xpath', query), ...steps)
  }

  /** `replaceValue` with what an XPath expression finds. */
  replaceXpath(field: (keyof Item & string) | null, query: string, ...steps: readonly LoaderStep[]): this {
    return this.replaceValue(field, this.#found('xpath', query), ...steps)
  }

  /** `getValue` of what an XPath expression finds; nothing is collected. */
  getXpath(query: string, ...steps: readonly LoaderStep[]): unknown {
    return this.getValue(this.#found('xpath', query), ...steps)
  }

  /** `addValue` with what a JMESPath query finds. */
  addJmes(field: (keyof Item & string) | null, query: string, ...steps: readonly LoaderStep[]): this {
    return this.addValue(field, this.#found('jmespath', query), ...steps)
  }

  /** `replaceValue` with what a JMESPath query finds. */
  replaceJmes(field: (keyof Item & string) | null, query: string, ...steps: readonly LoaderStep[]): this {
    return this.replaceValue(field, this.#found('jmespath', query), ...steps)
  }

  /** `getValue` of what a JMESPath query finds; nothing is collected. */
  getJmes(query: string, ...steps: readonly LoaderStep[]): unknown {
    return this.getValue(this.#found('jmespath', query), ...steps)
  }

  /** A loader of the same item that looks only within what the query finds. */
  nestedCss(query: string): ItemLoader<Item> {
    return this.#nested('css', query)
  }

  /** As `nestedCss`, by XPath. */
  nestedXpath(query: string): ItemLoader<Item> {
    return this.#nested('xpath', query)
  }

  /** What the field holds so far, without its output processor. */
  getCollectedValues(field: keyof Item & string): readonly unknown[] {
    return this.#values.get(field) ?? []
  }

  /** What the item's field would be now. */
  getOutputValue(field: keyof Item & string): unknown {
    const output = this.fields[field]?.output ?? this.defaultOutput
    return output([...this.getCollectedValues(field)], this.context)
  }

  /** The item; fields whose value is null or undefined are left as they are. */
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
