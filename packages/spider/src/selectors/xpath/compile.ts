/**
 * From a tree of expressions to functions that evaluate it.
 *
 * A node-set is in document order all the time, so that the first of a set is at its beginning and positions come for
 * nothing. Most steps keep that order by themselves: from one node every axis does, and from several that do not lie
 * within one another, `child` and `descendant` do. Only what is left is sorted (`DocumentOrder`), because numbering the
 * tree costs more than most queries.
 */

import type { MarkupType } from '../parse-document.ts'
import { isReverse, nodesOnAxis } from './axes.ts'
import { CORE_FUNCTIONS } from './core-functions.ts'
import type { Binary, Call, Expression, PathStart, Step } from './expression.ts'
import { EXTENSION_FUNCTIONS } from './extension-functions.ts'
import type { Context, Evaluation, XPathFunction } from './functions.ts'
import { isWithin, type Matches, matcherOf, rootOf, uriOf, type XPathNode } from './nodes.ts'
import { XPathProblem } from './tokens.ts'
import { type Comparison, compare, toNodes, toNumber, toTruth, type Value } from './values.ts'

/** What names in an expression stand for. */
export interface Names {
  readonly type: MarkupType
  /** By prefix. */
  readonly namespaces: ReadonlyMap<string, string>
}

export type Evaluate = (context: Context) => Value

/** Throws XPathProblem for a function or a prefix that is not known; what is evaluated may throw one, too. */
export function compileXPath(expression: Expression, names: Names): Evaluate {
  switch (expression.kind) {
    case 'constant':
      return () => expression.value
    case 'variable':
      return ({ evaluation }) => variable(expression.name, evaluation)
    case 'call':
      return compileCall(expression, names)
    case 'binary':
      return compileBinary(expression, names)
    case 'negative': {
      const operand = compileXPath(expression.operand, names)
      return (context) => -toNumber(operand(context))
    }
    case 'filter': {
      const of = compileXPath(expression.of, names)
      const keep = compilePredicates(expression.predicates, names)
      return (context) => keep(toNodes(of(context)), context.evaluation)
    }
    case 'path':
      return compilePath(expression.from, expression.steps, names)
  }
}

function variable(name: string, { variables }: Evaluation): Value {
  if (Object.hasOwn(variables, name)) return variables[name]!
  throw new XPathProblem(`$${name} has no value`)
}

function compileCall(call: Call, names: Names): Evaluate {
  const { takes, call: run } = functionOf(call, names)
  const [least, most] = takes
  const given = call.arguments.length
  if (given < least || given > most) {
    const wanted =
      least === most ? String(least) : `${least} to ${most === Number.POSITIVE_INFINITY ? 'many' : most}`
    throw new XPathProblem(`${call.name}() takes ${wanted} arguments, not ${given}`, call.at)
  }
  const operands = call.arguments.map((operand) => compileXPath(operand, names))
  return (context) =>
    run(
      context,
      operands.map((operand) => operand(context)),
    )
}

function functionOf({ name, at }: Call, { namespaces }: Names): XPathFunction {
  const colon = name.indexOf(':')
  if (colon < 0 && Object.hasOwn(CORE_FUNCTIONS, name)) return CORE_FUNCTIONS[name]!
  const uri = colon < 0 ? '' : uriOf(name.slice(0, colon), namespaces, at)
  const found = EXTENSION_FUNCTIONS[`{${uri}}${name.slice(colon + 1)}`]
  if (found) return found
  throw new XPathProblem(`there is no function ${name}()`, at)
}

function compileBinary({ operator, left, right }: Binary, names: Names): Evaluate {
  const a = compileXPath(left, names)
  const b = compileXPath(right, names)
  switch (operator) {
    case 'or':
      return (context) => toTruth(a(context)) || toTruth(b(context))
    case 'and':
      return (context) => toTruth(a(context)) && toTruth(b(context))
    case '|':
      return (context) => context.evaluation.order.sorted([...toNodes(a(context)), ...toNodes(b(context))])
    case '+':
      return (context) => toNumber(a(context)) + toNumber(b(context))
    case '-':
      return (context) => toNumber(a(context)) - toNumber(b(context))
    case '*':
      return (context) => toNumber(a(context)) * toNumber(b(context))
    case 'div':
      return (context) => toNumber(a(context)) / toNumber(b(context))
    case 'mod':
      return (context) => toNumber(a(context)) % toNumber(b(context))
    default:
      return (context) => compare(operator satisfies Comparison, a(context), b(context))
  }
}

// ---- paths ----

type TakeStep = (nodes: readonly XPathNode[], evaluation: Evaluation) => readonly XPathNode[]

function compilePath(from: PathStart, steps: readonly Step[], names: Names): Evaluate {
  const begin = compileStart(from, names)
  const ways = withoutDetours(steps).map((step) => compileStep(step, names))
  return (context) => ways.reduce((nodes, way) => way(nodes, context.evaluation), begin(context))
}

function compileStart(from: PathStart, names: Names): (context: Context) => readonly XPathNode[] {
  if (from === 'context') return ({ node }) => [node]
  if (from === 'document') return ({ node }) => [rootOf(node)]
  const start = compileXPath(from, names)
  return (context) => toNodes(start(context))
}

/** `//a` is written out as two steps, but `descendant::a` finds the same without collecting every node in between. */
function withoutDetours(steps: readonly Step[]): Step[] {
  const direct: Step[] = []
  for (const step of steps) {
    const detour = direct.at(-1)
    if (detour && isAnyDescendant(detour) && step.axis === 'child' && !step.predicates.some(mayBePosition)) {
      direct[direct.length - 1] = { ...step, axis: 'descendant' }
    } else direct.push(step)
  }
  return direct
}

function isAnyDescendant({ axis, test, predicates }: Step): boolean {
  return axis === 'descendant-or-self' && test.kind === 'node' && predicates.length === 0
}

function compileStep({ axis, test, predicates }: Step, names: Names): TakeStep {
  const matches: Matches = matcherOf(
    test,
    axis === 'attribute' ? 'attribute' : 'element',
    names.type,
    names.namespaces,
  )
  const keep = compilePredicates(predicates, names)
  const fromOne = (node: XPathNode, evaluation: Evaluation) => {
    const kept = keep(nodesOnAxis(axis, node, matches, names.type), evaluation)
    return isReverse(axis) ? kept.toReversed() : kept
  }
  const downwards = axis === 'descendant' || axis === 'descendant-or-self'
  const anyPosition = !predicates.some(mayBePosition)

  return (nodes, evaluation) => {
    if (nodes.length === 1) return fromOne(nodes[0]!, evaluation)
    // What lies within another finds only what that one finds, too.
    const starts = downwards && anyPosition ? outermost(nodes) : nodes
    const found = starts.flatMap((node) => fromOne(node, evaluation))
    const inOrder =
      axis === 'attribute' || axis === 'self' || ((downwards || axis === 'child') && areApart(starts))
    return inOrder ? found : evaluation.order.sorted(found)
  }
}

/** In document order what lies within a node comes right after it, so neighbours tell. */
function areApart(nodes: readonly XPathNode[]): boolean {
  return nodes.every((node, i) => i === 0 || !isWithin(node, nodes[i - 1]!))
}

function outermost(nodes: readonly XPathNode[]): XPathNode[] {
  const outer: XPathNode[] = []
  for (const node of nodes) {
    const last = outer.at(-1)
    if (!last || !isWithin(node, last)) outer.push(node)
  }
  return outer
}

// ---- predicates ----

function compilePredicates(predicates: readonly Expression[], names: Names): TakeStep {
  const tests = predicates.map((predicate) => compileXPath(predicate, names))
  return (nodes, evaluation) =>
    tests.reduce(
      (left, test) =>
        left.filter((node, i) => {
          const position = i + 1
          const value = test({ node, position, size: left.length, evaluation })
          return typeof value === 'number' ? value === position : toTruth(value)
        }),
      nodes,
    )
}

/** Whether a predicate depends on where a node stands: a number, something that may be one, position() or last(). */
function mayBePosition(predicate: Expression): boolean {
  return mayBeNumber(predicate) || asksForPosition(predicate)
}

function mayBeNumber(expression: Expression): boolean {
  if (expression.kind === 'call') return CORE_FUNCTIONS[expression.name]?.isNumber === true
  if (expression.kind === 'binary') return ['+', '-', '*', 'div', 'mod'].includes(expression.operator)
  if (expression.kind === 'constant') return typeof expression.value === 'number'
  return expression.kind === 'variable' || expression.kind === 'negative'
}

function asksForPosition(expression: Expression): boolean {
  switch (expression.kind) {
    case 'call':
      return ['position', 'last'].includes(expression.name) || expression.arguments.some(asksForPosition)
    case 'binary':
      return asksForPosition(expression.left) || asksForPosition(expression.right)
    case 'negative':
      return asksForPosition(expression.operand)
    case 'filter':
      return asksForPosition(expression.of)
    case 'path':
      return typeof expression.from === 'object' && asksForPosition(expression.from)
    default:
      return false
  }
}
