import type { MarkupType } from '../tree/parse-document.ts'
import type { DocumentOrder } from './document-order.ts'
import type { XPathNode } from './nodes.ts'
import type { Value } from './values.ts'

/** What an expression is evaluated for: the node, and where it stands among those it was found with. */
export interface Context {
  readonly node: XPathNode
  /** From 1. */
  readonly position: number
  readonly size: number
  readonly evaluation: Evaluation
}

/** What holds for one evaluation as a whole. */
export interface Evaluation {
  readonly type: MarkupType
  readonly variables: Readonly<Record<string, string | number | boolean>>
  readonly order: DocumentOrder
  /** What parts of the expression have found and will be asked for again, by the part. */
  readonly known: Map<object, unknown>
}

/** Returns what is known of a part of the expression. It is made when first asked for. */
export function knownOf<Known>({ known }: Evaluation, part: object, make: () => Known): Known {
  if (!known.has(part)) known.set(part, make())
  return known.get(part) as Known
}

export interface XPathFunction {
  /** How many arguments, at least and at most. */
  readonly takes: readonly [number, number]
  /** Numbers in brackets are positions, so a function whose result may be one says so. */
  readonly isNumber?: true
  readonly call: (context: Context, values: readonly Value[]) => Value
}
