/**
 * From a tree of expressions to functions that evaluate it.
 *
 * A node-set is in document order all the time, so that the first of a set is at its beginning and positions come for
 * nothing. Most steps keep that order by themselves: from one node every axis does, and from several that do not lie
 * within one another, `child` and `descendant` do. Only what is left is sorted (`DocumentOrder`), because numbering the
 * tree costs more than most queries.
 */

import type { MarkupType } from '../tree/parse-document.ts'
import { isReverse, nodesOnAxis, type VerticalAxis } from './axes.ts'
import { CORE_FUNCTIONS } from './core-functions.ts'
import type { Binary, Call, Expression, PathStart, Step } from './expression.ts'
import { EXTENSION_FUNCTIONS } from './extension-functions.ts'
import { type Context, type Evaluation, knownOf, type XPathFunction } from './functions.ts'
import { isNeighbourAxis, type NeighbourAxis, NeighbourIndex } from './neighbours.ts'
import { childrenOf, isWithin, type Matches, matcherOf, rootOf, uriOf, type XPathNode } from './nodes.ts'
import { mayBeNumber, mayBePosition, pickOf, skippedBy } from './positions.ts'
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
  if (run === CORE_FUNCTIONS.count!.call) {
    const size = compileSize(call.arguments[0]!, names)
    if (size) return size
  }
  if (run === CORE_FUNCTIONS.not!.call) {
    const holds = compileTruth(call.arguments[0]!, names)
    return (context) => !holds(context)
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
  if (operator === 'or' || operator === 'and') {
    const first = compileTruth(left, names)
    const second = compileTruth(right, names)
    return operator === 'or'
      ? (context) => first(context) || second(context)
      : (context) => first(context) && second(context)
  }
  const a = compileXPath(left, names)
  const b = compileXPath(right, names)
  switch (operator) {
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
  const walk: Evaluate = (context) =>
    ways.reduce((nodes, way) => way(nodes, context.evaluation), begin(context))
  if (from !== 'document') return walk
  // It finds the same wherever it is asked: `//li[count(//li) > 9]` asks at each.
  return (context) => {
    const found = knownOf(context.evaluation, steps, () => new Map<XPathNode, Value>())
    const root = rootOf(context.node)
    if (!found.has(root)) found.set(root, walk(context))
    return found.get(root)!
  }
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

function compileStep(step: Step, names: Names): TakeStep {
  const { axis, predicates } = step
  if (isNeighbourAxis(axis)) {
    // What is not among the first of its neighbours is not among the first of those of a node farther off.
    const isFarthestEnough = predicates.every((one) => !mayBePosition(one) || skippedBy(one) !== undefined)
    return neighbourStep(compileNeighbours(step, names), isFarthestEnough)
  }
  const isSteady = !predicates.some(mayBePosition)
  const fromOne = compileVertical(step, axis, names)
  const downwards = axis === 'descendant' || axis === 'descendant-or-self'

  return (nodes, evaluation) => {
    if (nodes.length === 1) return fromOne(nodes[0]!, evaluation)
    // What lies within another finds only what that one finds, too.
    const starts = downwards && isSteady ? outermost(nodes) : nodes
    const found = starts.flatMap((node) => fromOne(node, evaluation))
    const inOrder =
      axis === 'attribute' || axis === 'self' || ((downwards || axis === 'child') && areApart(starts))
    return inOrder ? found : evaluation.order.sorted(found)
  }
}

function matcherOfStep({ axis, test }: Step, names: Names): Matches {
  return matcherOf(test, axis === 'attribute' ? 'attribute' : 'element', names.type, names.namespaces)
}

type FromOne = (node: XPathNode, evaluation: Evaluation) => readonly XPathNode[]

// From where on the children that a step finds are kept: `//li[. = ../li[1]]` asks at each of them.
const KEPT_CHILDREN_MIN = 32

function compileVertical(step: Step, axis: VerticalAxis, names: Names): FromOne {
  const matches = matcherOfStep(step, names)
  const keep = compilePredicates(step.predicates, names)
  const look: FromOne = (node, evaluation) => {
    const kept = keep(nodesOnAxis(axis, node, matches, names.type), evaluation)
    return isReverse(axis) ? kept.toReversed() : kept
  }
  if (axis !== 'child') return look
  return (node, evaluation) => {
    if (childrenOf(node).length < KEPT_CHILDREN_MIN) return look(node, evaluation)
    const found = knownOf(evaluation, step, () => new Map<XPathNode, readonly XPathNode[]>())
    if (!found.has(node)) found.set(node, look(node, evaluation))
    return found.get(node)!
  }
}

// ---- steps to neighbours ----

interface NeighbourStep {
  readonly index: (evaluation: Evaluation) => NeighbourIndex
  /** What the predicates leave of a node's neighbours, in document order. */
  readonly choose: (node: XPathNode, known: NeighbourIndex, evaluation: Evaluation) => readonly XPathNode[]
}

/** @param isFarthestEnough what the nodes that are farthest off find is what all find */
function neighbourStep({ index, choose }: NeighbourStep, isFarthestEnough: boolean): TakeStep {
  return (nodes, evaluation) => {
    const known = index(evaluation)
    const starts = isFarthestEnough ? known.farthest(nodes) : nodes
    const found = starts.flatMap((node) => choose(node, known, evaluation))
    return starts.length === 1 ? found : evaluation.order.sorted(found)
  }
}

/** Predicates before the first that asks for a position say something of each node alone, so they belong to the match. */
function compileNeighbours(step: Step, names: Names): NeighbourStep {
  const { predicates } = step
  const axis = step.axis as NeighbourAxis
  const firstPosition = predicates.findIndex(mayBePosition)
  const steady = firstPosition < 0 ? predicates : predicates.slice(0, firstPosition)
  const matches = matcherOfStep(step, names)
  const tests = steady.map((predicate) => compileTruth(predicate, names))
  const index = (evaluation: Evaluation) =>
    knownOf(evaluation, step, () => {
      const fits = (node: XPathNode) =>
        matches(node) && tests.every((test) => test({ node, position: 1, size: 1, evaluation }))
      return new NeighbourIndex(axis, fits)
    })
  return { index, choose: compileChoice(predicates.slice(steady.length), axis, names) }
}

function compileChoice(
  predicates: readonly Expression[],
  axis: NeighbourAxis,
  names: Names,
): NeighbourStep['choose'] {
  const pick = predicates.length > 0 ? pickOf(predicates[0]!) : undefined
  const keep = compilePredicates(predicates.slice(pick ? 1 : 0), names)
  const isBackwards = axis.startsWith('preceding')
  return (node, known, evaluation) => {
    const nodes = pick ? pick(known, node) : known.of(node).nodes()
    if (!isBackwards || nodes.length === 0) return keep(nodes, evaluation)
    const onAxis = pick ? nodes : nodes.toReversed()
    return keep(onAxis, evaluation).toReversed()
  }
}

// ---- truths and counts ----

/** What `toTruth` makes of an expression, without a list of all neighbours where one is enough. */
function compileTruth(expression: Expression, names: Names): (context: Context) => boolean {
  const exists = compileExistence(asFilter(expression) ?? expression, names)
  if (exists) return exists
  const evaluate = compileXPath(expression, names)
  return (context) => toTruth(evaluate(context))
}

/** Whether a path that leads to neighbours finds anything: `preceding-sibling::ul/li` does when `preceding-sibling::ul[li]` does. */
function compileExistence(expression: Expression, names: Names): ((context: Context) => boolean) | undefined {
  if (expression.kind !== 'path' || expression.from === 'document') return undefined
  const { from, steps } = expression
  const at = steps.findIndex(({ axis }) => isNeighbourAxis(axis))
  const [step, skipped] = withoutSkip(steps[at])
  const beyond = steps.slice(at + 1)
  if (!step || (skipped > 0 && beyond.length > 0)) return undefined
  const further: Expression[] = beyond.length > 0 ? [{ kind: 'path', from: 'context', steps: beyond }] : []
  const asked = { ...step, predicates: [...step.predicates, ...further] }
  const starts = compilePath(from, steps.slice(0, at), names)
  const { index } = compileNeighbours(asked, names)
  return (context) => {
    const known = index(context.evaluation)
    return toNodes(starts(context)).some((node) => known.of(node).size > skipped)
  }
}

/** `path = "x"` holds when `path[. = "x"]` finds something. */
function asFilter(expression: Expression): Expression | undefined {
  if (expression.kind !== 'binary' || !COMPARISONS.has(expression.operator)) return undefined
  const { left, right } = expression
  const path = left.kind === 'path' && right.kind === 'constant' ? left : right
  if (path.kind !== 'path' || (path === right && left.kind !== 'constant')) return undefined
  const last = path.steps.at(-1)
  if (!last || last.predicates.some(mayBePosition)) return undefined
  const predicate = path === left ? { ...expression, left: SELF } : { ...expression, right: SELF }
  return {
    ...path,
    steps: [...path.steps.slice(0, -1), { ...last, predicates: [...last.predicates, predicate] }],
  }
}

const COMPARISONS = new Set<string>(['=', '!=', '<', '<=', '>', '>='])
const SELF: Expression = {
  kind: 'path',
  from: 'context',
  steps: [{ axis: 'self', test: { kind: 'node' }, predicates: [] }],
}

/** How many neighbours of one kind a node has; undefined for other paths. */
function compileSize(expression: Expression, names: Names): ((context: Context) => number) | undefined {
  if (expression.kind !== 'path' || expression.from !== 'context' || expression.steps.length > 1)
    return undefined
  const [step, skipped] = withoutSkip(expression.steps[0])
  if (!step || !isNeighbourAxis(step.axis)) return undefined
  const { index } = compileNeighbours(step, names)
  return ({ node, evaluation }) => Math.max(0, index(evaluation).of(node).size - skipped)
}

/** A step without the `[position() > 2]` at its end, and how many that leaves out; no step where others ask for a position. */
function withoutSkip(step: Step | undefined): [step: Step | undefined, skipped: number] {
  const skipped = step && skippedBy(step.predicates.at(-1) ?? SELF)
  const kept = skipped === undefined ? step : { ...step!, predicates: step!.predicates.slice(0, -1) }
  return kept?.predicates.some(mayBePosition) ? [undefined, 0] : [kept, skipped ?? 0]
}

// ---- order ----

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
  const tests = predicates.map((predicate) =>
    mayBeNumber(predicate) ? compileXPath(predicate, names) : compileTruth(predicate, names),
  )
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
