/**
 * What CSS asks of siblings (`:nth-child()` and its family, `~`, `:has(~ x)`), in time linear in their number.
 *
 * css-select walks over the siblings of an element each time it is asked, so a list of 30 000 flat items holds the process
 * for ten seconds. Here a query is rewritten before css-select compiles it: each such question becomes a pseudo-class of
 * ours, whose answer comes from what is remembered of a parent's children for one run:
 *
 *     li:nth-child(2n)        places among the children
 *     h2.new ~ p              place of the first child that matches h2.new
 *     h2:has(~ table)         place of the last child that matches table
 *     ul:has(li + p)          ul:has(li:has(+ p)), so that only the two forms above are left
 */

import { parse, type Selector, SelectorType } from 'css-what'
import { type Element, isTag, type ParentNode } from 'domhandler'
import nthCheck from 'nth-check'

export type Matches = (element: Element) => boolean

/** Alternatives, each a list of simple selectors and combinators. */
export type ParsedSelector = Selector[][]

/** What a selector must match in: the element that the query began at, or the whole page. */
export type Below = 'scope' | 'anything'

export interface SiblingQuestionsOptions {
  /** css-select's pseudo-classes, to which those that stand in what was rewritten are added. */
  readonly pseudos: Record<string, unknown>
  compile(selector: ParsedSelector, below: Below): Matches
  nameOf(element: Element): string
}

export class SiblingQuestions {
  readonly #options: SiblingQuestionsOptions
  readonly #memories: Map<unknown, unknown>[] = []
  readonly #asChild: Places
  readonly #asType: Places
  #asked = 0

  constructor(options: SiblingQuestionsOptions) {
    this.#options = options
    this.#asChild = this.#places(() => '')
    this.#asType = this.#places((element) => options.nameOf(element))
  }

  /** The selector with pseudo-classes of ours. Throws where a formula is not valid. */
  rewrite(selector: ParsedSelector, below: Below = 'scope'): ParsedSelector {
    return selector.map((rules) => {
      const own = rules.map((rule) => this.#rewriteRule(rule, below))
      // What stands before a ~ is a question about what stands after it. A first one is relative to the scope.
      const at = own.findLastIndex(({ type }) => type === SelectorType.Sibling)
      if (at < 1) return own
      return [
        this.#follows(this.#options.compile(this.rewrite([rules.slice(0, at)], below), below)),
        ...own.slice(at + 1),
      ]
    })
  }

  /** What was remembered is true for one run: the tree may change before the next. */
  forget(): void {
    for (const memory of this.#memories) memory.clear()
  }

  #rewriteRule(rule: Selector, below: Below): Selector {
    if (rule.type !== SelectorType.Pseudo) return rule
    const { name, data } = rule
    if (Array.isArray(data)) {
      return name === 'has' ? this.#rewriteHas(data) : { ...rule, data: this.rewrite(data, below) }
    }
    const place = this.#placeAsked(name, data)
    return place ? this.#pseudo(place) : rule
  }

  // ---- places ----

  #placeAsked(name: string, formula: string | null): Matches | undefined {
    const fixed = Object.hasOwn(FIXED_PLACES, name) ? FIXED_PLACES[name]! : undefined
    if (fixed && formula === null) {
      const places = name.endsWith('-of-type') ? this.#asType : this.#asChild
      return (element) => fixed(places.of(element)!)
    }
    const nth = /^nth(-last)?-(child|of-type)$/.exec(name)
    if (!nth || formula === null) return undefined
    const [, last, kind] = nth
    const of = kind === 'child' ? /^(.+?)\s+of\s+(.+)$/is.exec(formula) : null
    const fits = nthCheck(of ? of[1]!.trim() : formula)
    const places = of ? this.#placesOf(of[2]!) : kind === 'child' ? this.#asChild : this.#asType
    return (element) => {
      const found = places.of(element)
      return found !== undefined && fits(last ? found.family.size - found.place : found.place - 1)
    }
  }

  #placesOf(selector: string): Places {
    const matches = this.#options.compile(this.rewrite(parse(selector.trim()), 'anything'), 'anything')
    return this.#places((element) => (matches(element) ? '' : undefined))
  }

  #places(familyOf: (element: Element) => string | undefined): Places {
    return new Places(this.#memory(), familyOf)
  }

  // ---- neighbours ----

  #follows(matches: Matches): Selector {
    const firsts = this.#memory<ParentNode, number>()
    return this.#pseudo((element) => this.#place(element) > this.#matching(firsts, element, matches, 'first'))
  }

  #isFollowedBy(matches: Matches): Selector {
    const lasts = this.#memory<ParentNode, number>()
    return this.#pseudo((element) => this.#place(element) < this.#matching(lasts, element, matches, 'last'))
  }

  /** The place of the first or last of the siblings, itself included, that match; beyond the other end when none does. */
  #matching(
    known: Map<ParentNode, number>,
    { parent }: Element,
    matches: Matches,
    which: 'first' | 'last',
  ): number {
    const none = which === 'first' ? Number.POSITIVE_INFINITY : 0
    if (!parent) return none
    let place = known.get(parent)
    if (place === undefined) {
      const fits = (child: ParentNode['children'][number]) => isTag(child) && matches(child)
      const found = which === 'first' ? parent.children.find(fits) : parent.children.findLast(fits)
      place = found ? this.#place(found as Element) : none
      known.set(parent, place)
    }
    return place
  }

  #place(element: Element): number {
    return this.#asChild.of(element)!.place
  }

  /** `:has()` with siblings in it becomes one of several questions, each of which begins with one combinator. */
  #rewriteHas(alternatives: ParsedSelector): Selector {
    const asked = alternatives.map((rules) => [this.#rewriteHasOne(rules)])
    return asked.length === 1 ? asked[0]![0]! : { type: SelectorType.Pseudo, name: 'is', data: asked }
  }

  #rewriteHasOne(rules: Selector[]): Selector {
    const hasSiblings = rules.some(({ type }) => SIBLING_COMBINATORS.has(type))
    if (!hasSiblings || rules.some(namesScope)) {
      return {
        type: SelectorType.Pseudo,
        name: 'has',
        data: [rules.map((rule) => this.#rewriteRule(rule, 'anything'))],
      }
    }
    const relation = COMBINATORS.has(rules[0]!.type) ? rules[0] : undefined
    const from = relation ? 1 : 0
    const rest = rules.findIndex(({ type }, i) => i >= from && COMBINATORS.has(type))
    const one = rules
      .slice(from, rest < 0 ? undefined : rest)
      .map((rule) => this.#rewriteRule(rule, 'anything'))
    if (rest >= 0) {
      // A :has() without a combinator asks for descendants; css-select would take a written one for a second.
      const isDescendant = rules[rest]!.type === SelectorType.Descendant
      one.push(this.#rewriteHasOne(rules.slice(isDescendant ? rest + 1 : rest)))
    }
    if (relation?.type === SelectorType.Sibling)
      return this.#isFollowedBy(this.#options.compile([one], 'anything'))
    if (relation?.type === SelectorType.Adjacent) {
      const matches = this.#options.compile([one], 'anything')
      return this.#pseudo((element) => {
        const next = nextElement(element)
        return next !== undefined && matches(next)
      })
    }
    return { type: SelectorType.Pseudo, name: 'has', data: [relation ? [relation, ...one] : one] }
  }

  #pseudo(matches: Matches): Selector {
    const name = ` ${this.#asked++}` // nobody can write a name with a space
    this.#options.pseudos[name] = matches
    return { type: SelectorType.Pseudo, name, data: null }
  }

  #memory<Key, Known>(): Map<Key, Known> {
    const memory = new Map<Key, Known>()
    this.#memories.push(memory)
    return memory
  }
}

interface Place {
  /** From 1. */
  readonly place: number
  /** Those that are counted together. */
  readonly family: { size: number }
}

/** Where elements stand among those of their siblings that are of one family with them. */
class Places {
  readonly #known: Map<Element, Place>
  readonly #familyOf: (element: Element) => string | undefined

  constructor(memory: Map<Element, Place>, familyOf: (element: Element) => string | undefined) {
    this.#known = memory
    this.#familyOf = familyOf
  }

  /** Undefined for an element that belongs to none. */
  of(element: Element): Place | undefined {
    const known = this.#known.get(element)
    if (known) return known
    if (this.#familyOf(element) === undefined) return undefined
    this.#look(element.parent ? element.parent.children : [element])
    return this.#known.get(element)
  }

  #look(siblings: readonly ParentNode['children'][number][]): void {
    const families = new Map<string, { size: number }>()
    for (const sibling of siblings) {
      const name = isTag(sibling) ? this.#familyOf(sibling) : undefined
      if (name === undefined) continue
      const family = families.get(name) ?? { size: 0 }
      families.set(name, family)
      family.size++
      this.#known.set(sibling as Element, { place: family.size, family })
    }
  }
}

const FIXED_PLACES: Readonly<Record<string, (found: Place) => boolean>> = {
  'first-child': ({ place }) => place === 1,
  'last-child': ({ place, family }) => place === family.size,
  'only-child': ({ family }) => family.size === 1,
  'first-of-type': ({ place }) => place === 1,
  'last-of-type': ({ place, family }) => place === family.size,
  'only-of-type': ({ family }) => family.size === 1,
}

const SIBLING_COMBINATORS = new Set<SelectorType>([SelectorType.Sibling, SelectorType.Adjacent])
const COMBINATORS = new Set<SelectorType>([
  ...SIBLING_COMBINATORS,
  SelectorType.Child,
  SelectorType.Descendant,
])

function namesScope(rule: Selector): boolean {
  if (rule.type !== SelectorType.Pseudo) return false
  return (
    rule.name === 'scope' || (Array.isArray(rule.data) && rule.data.some((rules) => rules.some(namesScope)))
  )
}

function nextElement({ next }: Element): Element | undefined {
  let after = next
  while (after && !isTag(after)) after = after.next
  return after ?? undefined
}
