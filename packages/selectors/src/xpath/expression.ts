/**
 * The grammar of XPath 1.0 (https://www.w3.org/TR/xpath-10/): from text to a tree of expressions, by recursive descent,
 * a function for each rule. Abbreviations are written out: `//a` is `/descendant-or-self::node()/child::a`.
 */

import { type Token, tokensOf, XPathProblem } from './tokens.ts'

export type Expression =
  | { readonly kind: 'constant'; readonly value: string | number }
  | { readonly kind: 'variable'; readonly name: string }
  | Call
  | Binary
  | { readonly kind: 'negative'; readonly operand: Expression }
  | { readonly kind: 'filter'; readonly of: Expression; readonly predicates: readonly Expression[] }
  | { readonly kind: 'path'; readonly from: PathStart; readonly steps: readonly Step[] }

export interface Call {
  readonly kind: 'call'
  readonly name: string
  readonly arguments: readonly Expression[]
  readonly at: number
}

export interface Binary {
  readonly kind: 'binary'
  readonly operator: Operator
  readonly left: Expression
  readonly right: Expression
}

export type Operator = (typeof PRECEDENCE)[number][number]

/** Where a path begins: at the document, at the context node, or at what an expression gives. */
export type PathStart = 'document' | 'context' | Expression

export interface Step {
  readonly axis: Axis
  readonly test: NodeTest
  readonly predicates: readonly Expression[]
}

export type NodeTest =
  | { readonly kind: 'node' }
  | { readonly kind: 'text' }
  | { readonly kind: 'comment' }
  | { readonly kind: 'processing-instruction'; readonly target?: string }
  /** `*`, `local`, `prefix:local` or `prefix:*`. */
  | { readonly kind: 'name'; readonly prefix: string; readonly local: string; readonly at: number }

const AXES = [
  'ancestor',
  'ancestor-or-self',
  'attribute',
  'child',
  'descendant',
  'descendant-or-self',
  'following',
  'following-sibling',
  'parent',
  'preceding',
  'preceding-sibling',
  'self',
] as const

export type Axis = (typeof AXES)[number]

// From the loosest to the tightest; each is read from left to right.
const PRECEDENCE = [
  ['or'],
  ['and'],
  ['=', '!='],
  ['<', '<=', '>', '>='],
  ['+', '-'],
  ['*', 'div', 'mod'],
  ['|'],
] as const
const UNION = PRECEDENCE.length - 1

const NODE_TYPES = new Set(['node', 'text', 'comment', 'processing-instruction'])
const DESCENDANTS: Step = { axis: 'descendant-or-self', test: { kind: 'node' }, predicates: [] }

/** Throws XPathProblem. */
export function parseXPath(text: string): Expression {
  return new ExpressionReader(tokensOf(text)).read()
}

class ExpressionReader {
  readonly #tokens: readonly Token[]
  #next = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  read(): Expression {
    const expression = this.#binary(0)
    if (this.#token.kind !== 'end') throw this.#expected('an operator or the end')
    return expression
  }

  #binary(level: number): Expression {
    let left = this.#operand(level)
    for (;;) {
      const operator = PRECEDENCE[level]!.find((one) => this.#is('operator', one))
      if (!operator) return left
      this.#next++
      left = { kind: 'binary', operator, left, right: this.#operand(level) }
    }
  }

  #operand(level: number): Expression {
    if (level === UNION) return this.#path()
    if (level < UNION - 1 || !this.#take('operator', '-')) return this.#binary(level + 1)
    return { kind: 'negative', operand: this.#operand(level) }
  }

  #path(): Expression {
    if (this.#beginsPrimary()) return this.#pathFromPrimary()
    if (this.#take('symbol', '//')) return path('document', [DESCENDANTS, ...this.#steps()])
    if (!this.#take('symbol', '/')) return path('context', this.#steps())
    return path('document', this.#beginsStep() ? this.#steps() : [])
  }

  #pathFromPrimary(): Expression {
    const primary = this.#primary()
    const predicates = this.#predicates()
    const start: Expression = predicates.length > 0 ? { kind: 'filter', of: primary, predicates } : primary
    if (this.#take('symbol', '//')) return path(start, [DESCENDANTS, ...this.#steps()])
    return this.#take('symbol', '/') ? path(start, this.#steps()) : start
  }

  #beginsPrimary(): boolean {
    const { kind, text } = this.#token
    if (kind === 'name') return this.#following?.text === '(' && !NODE_TYPES.has(text)
    return kind === 'number' || kind === 'literal' || kind === 'variable' || text === '('
  }

  #primary(): Expression {
    const { kind, text, at } = this.#token
    this.#next++
    if (kind === 'number') return { kind: 'constant', value: Number(text) }
    if (kind === 'literal') return { kind: 'constant', value: text }
    if (kind === 'variable') return { kind: 'variable', name: text }
    if (kind === 'name') return { kind: 'call', name: text, arguments: this.#arguments(), at }
    const inner = this.#binary(0)
    this.#need(')')
    return inner
  }

  #arguments(): Expression[] {
    this.#need('(')
    if (this.#take('symbol', ')')) return []
    const list = [this.#binary(0)]
    while (this.#take('symbol', ',')) list.push(this.#binary(0))
    this.#need(')')
    return list
  }

  #steps(): Step[] {
    const steps = [this.#step()]
    for (;;) {
      if (this.#take('symbol', '//')) steps.push(DESCENDANTS)
      else if (!this.#take('symbol', '/')) return steps
      steps.push(this.#step())
    }
  }

  #beginsStep(): boolean {
    const { kind, text } = this.#token
    return kind === 'name' || (kind === 'symbol' && ['.', '..', '@', '*'].includes(text))
  }

  #step(): Step {
    if (this.#take('symbol', '.')) return { axis: 'self', test: { kind: 'node' }, predicates: [] }
    if (this.#take('symbol', '..')) return { axis: 'parent', test: { kind: 'node' }, predicates: [] }
    return { axis: this.#axis(), test: this.#nodeTest(), predicates: this.#predicates() }
  }

  #axis(): Axis {
    if (this.#take('symbol', '@')) return 'attribute'
    if (this.#following?.text !== '::') return 'child'
    const axis = AXES.find((name) => this.#is('name', name))
    if (!axis) throw this.#expected(`an axis (${AXES.join(', ')})`)
    this.#next += 2
    return axis
  }

  #nodeTest(): NodeTest {
    const { kind, text, at } = this.#token
    if (this.#take('symbol', '*')) return { kind: 'name', prefix: '', local: '*', at }
    if (kind !== 'name') throw this.#expected('a name, *, @, . or ..')
    this.#next++
    if (NODE_TYPES.has(text) && this.#is('symbol', '(')) return this.#nodeType(text)
    const colon = text.indexOf(':')
    return { kind: 'name', prefix: text.slice(0, Math.max(0, colon)), local: text.slice(colon + 1), at }
  }

  #nodeType(type: string): NodeTest {
    this.#need('(')
    const target = this.#token
    const targeted = type === 'processing-instruction' && target.kind === 'literal'
    if (targeted) this.#next++
    this.#need(')')
    if (type !== 'processing-instruction') return { kind: type } as NodeTest
    return targeted ? { kind: type, target: target.text } : { kind: type }
  }

  #predicates(): Expression[] {
    const predicates: Expression[] = []
    while (this.#take('symbol', '[')) {
      predicates.push(this.#binary(0))
      this.#need(']')
    }
    return predicates
  }

  get #token(): Token {
    return this.#tokens[this.#next]!
  }

  get #following(): Token | undefined {
    return this.#tokens[this.#next + 1]
  }

  #is(kind: Token['kind'], text: string): boolean {
    return this.#token.kind === kind && this.#token.text === text
  }

  #take(kind: Token['kind'], text: string): boolean {
    const found = this.#is(kind, text)
    if (found) this.#next++
    return found
  }

  #need(symbol: string): void {
    if (!this.#take('symbol', symbol)) throw this.#expected(symbol)
  }

  #expected(what: string): XPathProblem {
    const { kind, text, at } = this.#token
    return new XPathProblem(`expected ${what}, found ${kind === 'end' ? 'the end' : text}`, at)
  }
}

function path(from: PathStart, steps: readonly Step[]): Expression {
  return { kind: 'path', from, steps }
}
