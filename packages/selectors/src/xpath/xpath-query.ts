/** XPath 1.0, with parsel's functions and EXSLT's regular expressions and sets. Why an engine of our own: docs/decisions/xpath-engine.md */

import { WebloomError } from '@webloom/url'
import type { MarkupType } from '../tree/parse-document.ts'
import { XML_URI } from '../tree/xml-names.ts'
import { compileXPath, type Evaluate } from './compile.ts'
import { DocumentOrder } from './document-order.ts'
import { parseXPath } from './expression.ts'
import { EXTENSION_NAMESPACES } from './extension-functions.ts'
import type { XPathNode } from './nodes.ts'
import { XPathProblem } from './tokens.ts'
import type { Value } from './values.ts'

/** What `$name` in an expression stands for. */
export type XPathVariable = string | number | boolean

export interface XPathQuestion {
  readonly query: string
  readonly type: MarkupType
  /** By prefix; `re` and `set` are known. */
  readonly namespaces: ReadonlyMap<string, string>
  readonly variables: Readonly<Record<string, XPathVariable>>
}

/** Returns what an expression gives at a node. Throws WL_SELECTOR_INVALID. */
export function xpathFind({ query, type, namespaces, variables }: XPathQuestion, node: XPathNode): Value {
  try {
    const evaluate = compiled(query, type, namespaces)
    return evaluate({
      node,
      position: 1,
      size: 1,
      evaluation: { type, variables, order: new DocumentOrder(), known: new Map() },
    })
  } catch (cause) {
    if (!(cause instanceof XPathProblem)) throw cause
    throw new WebloomError('WL_SELECTOR_INVALID', message(query, cause), { cause })
  }
}

// Spiders have some dozens of queries; one built from page content must not fill the memory.
const COMPILED_MAX = 1_000
const compiledQueries = new Map<string, Evaluate>()

function compiled(query: string, type: MarkupType, registered: ReadonlyMap<string, string>): Evaluate {
  const key = JSON.stringify([type, query, ...registered])
  const known = compiledQueries.get(key)
  if (known) return known
  const namespaces = new Map([['xml', XML_URI], ...EXTENSION_NAMESPACES, ...registered])
  const evaluate = compileXPath(parseXPath(query), { type, namespaces })
  if (compiledQueries.size >= COMPILED_MAX) compiledQueries.delete(compiledQueries.keys().next().value!)
  compiledQueries.set(key, evaluate)
  return evaluate
}

function message(query: string, { message, at }: XPathProblem): string {
  const place = at === undefined ? '' : ` at character ${at + 1}`
  return `xpath(${JSON.stringify(query)}): ${message}${place}`
}
