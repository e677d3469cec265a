import { type JsonObject, UsageError } from '@webloom/core'
import { InvalidItem, type Response, type SpiderClass } from '@webloom/spider'
import type { Yielded } from './workbench.ts'

/** How many: exactly so many, or least and most. */
export type Amount = number | readonly [least: number, most?: number]

/** What a callback must do with one page; `webloom check` fetches it and looks. */
export interface Contract {
  readonly url: string
  readonly meta?: JsonObject
  readonly cbKwargs?: JsonObject
  /** What it yields of each kind. */
  readonly returns?: { readonly items?: Amount; readonly requests?: Amount }
  /** Fields that every item has, neither null nor undefined. */
  readonly scrapes?: readonly string[]
  /** A check of your own; what it throws is what is wrong. */
  readonly expect?: (yielded: Yielded, response: Response) => unknown
}

/** By the callback's name. As a spider's `static contracts`. */
export type Contracts = Readonly<Record<string, Contract | readonly Contract[]>>

/** The contracts of a spider class, each with its callback's name. Throws WL_USAGE for one without a URL. */
export function contractsOf(Class: SpiderClass): readonly { callback: string; contract: Contract }[] {
  const contracts = (Reflect.get(Class, 'contracts') ?? {}) as Contracts
  return Object.entries(contracts).flatMap(([callback, given]) =>
    [given].flat().map((contract) => ({ callback, contract: checked(contract, Class.name, callback) })),
  )
}

function checked(contract: Contract, className: string, callback: string): Contract {
  if (typeof contract?.url === 'string') return contract
  throw new UsageError(
    'WL_USAGE',
    `${className}.contracts.${callback} has no url; expected { url: 'https://…', … }`,
  )
}

/** Resolves to the ways in which the callback did not keep its contract; none when it did. */
export async function breaches(contract: Contract, yielded: Yielded, response: Response): Promise<string[]> {
  const { returns = {}, scrapes = [], expect } = contract
  // What its schema refuses is not an item: a crawl drops it.
  const items = yielded.items.filter((item) => !(item instanceof InvalidItem))
  const refused = yielded.items.filter((item) => item instanceof InvalidItem)
  const broken = [
    ...(['items', 'requests'] as const).flatMap((kind) =>
      wrongAmount(kind, returns[kind], { ...yielded, items }),
    ),
    ...refused.map(({ message }) => `an item is refused by its schema: ${message}`),
    ...scrapes.flatMap((field) => missingField(field, items)),
  ]
  try {
    await expect?.(yielded, response)
    return broken
  } catch (error) {
    return [...broken, error instanceof Error ? error.message : String(error)]
  }
}

function wrongAmount(kind: 'items' | 'requests', amount: Amount | undefined, yielded: Yielded): string[] {
  if (amount === undefined) return []
  const [least, most = Number.POSITIVE_INFINITY] = typeof amount === 'number' ? [amount, amount] : amount
  const count = yielded[kind].length
  if (count >= least && count <= most) return []
  const expected =
    least === most
      ? String(least)
      : most === Number.POSITIVE_INFINITY
        ? `${least} or more`
        : `${least} to ${most}`
  return [`yielded ${count} ${kind}, expected ${expected}`]
}

function missingField(field: string, items: readonly unknown[]): string[] {
  const without = items.findIndex((item) => (Reflect.get(item as object, field) ?? null) === null)
  return without < 0 ? [] : [`item ${without + 1} of ${items.length} has no ${field}`]
}
