import { cpuMs, IN_FULL, randomStream } from '@webloom/testkit'
import { _compileUnsafe as compile } from 'css-select'
import { type AnyNode, type Element, isTag } from 'domhandler'
import { DomUtils } from 'htmlparser2'
import { describe, expect, test } from 'vitest'
import { Selector } from '../selector.ts'

const ITEMS = 45_000
/** The soak: as many as are known to hold. */
const SEEDS = IN_FULL ? 200 : 40

describe('questions about siblings take linear time', () => {
  const flat = Selector.from(`<ul>${'<li>'.repeat(ITEMS)}</ul>`)
  const mixed = Selector.from(
    `<div>${'<b>'.repeat(1)}</b>${'<b></b>'.repeat(ITEMS / 3)}${'<i></i>'.repeat(ITEMS / 3)}${'<!---->'.repeat(ITEMS / 3)}</div>`,
  )
  test.each([
    [flat, 'li:nth-child(2n)', ITEMS / 2],
    [flat, 'li:nth-child(2n of li)', ITEMS / 2],
    [flat, 'li:nth-last-child(3)', 1],
    [flat, 'li:nth-of-type(5)', 1],
    [flat, 'li:nth-last-of-type(5)', 1],
    [flat, '.x ~ li', 0],
    [flat, 'li:not(.x ~ li)', ITEMS],
    [flat, 'li:has(~ .x)', 0],
    [flat, 'li:has(+ .x)', 0],
    [flat, 'ul:has(li ~ li + .x)', 0],
    [mixed, 'i:first-of-type', 1],
    [mixed, 'b:last-of-type', 1],
    [mixed, 'i:last-child', 1],
    [mixed, 'i ~ b', 0],
  ])('%#', (page, query, found) => {
    const start = cpuMs()
    expect(page.css(query)).toHaveLength(found)
    // Quadratic time would be four seconds and more.
    expect(cpuMs() - start).toBeLessThan(1000)
  })
})

test(`what css-select itself finds in small pages, whatever is asked (seeds 1 to ${SEEDS})`, () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = randomStream(seed, 0)
    const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
    const page = Selector.from(`<main>${randomMarkup(one, 4)}</main>`)
    const query = randomSelector(one, 2)
    // Within an element, that of :has() too, css-select counts for `of` only what lies in it, as if its siblings were
    // not there.
    if (query.includes(' of ') && query.includes(':has(')) continue
    const starts = query.includes(' of ') ? [page] : [page, ...page.css('div')]
    for (const start of starts) {
      const found = start.css(query).map(({ root }) => root)
      expect(found, `seed ${seed}: ${query}`).toEqual(foundByCssSelect(start.root as Element, query))
    }
  }
})

type One = <T>(list: readonly T[]) => T

function randomMarkup(one: One, depth: number): string {
  if (depth === 0) return 'x'
  return Array.from({ length: one([1, 2, 3, 4]) }, () => {
    const name = one(['div', 'p', 'b'])
    return `${one(['', ' ', '<!-- -->'])}<${name}${one(['', ' class=x', ' class=y'])}>${randomMarkup(one, depth - 1)}</${name}>`
  }).join('')
}

function randomSelector(one: One, depth: number): string {
  let selector = compound(one, depth)
  for (let more = one([0, 1, 2]); more > 0; more--)
    selector += `${one([' ', ' > ', ' ~ ', ' + '])}${compound(one, depth)}`
  return selector
}

function compound(one: One, depth: number): string {
  const plain = one(['*', 'div', 'p', 'b', '.x', 'p.y'])
  const inner = () => randomSelector(one, depth - 1)
  const which = one([0, 1, 2, 3, 4, 5, 6, 7])
  if (which === 0)
    return `${plain}:${one(['nth-child', 'nth-last-child', 'nth-of-type', 'nth-last-of-type'])}(${one(['2', 'odd', '2n', '-n+2'])})`
  if (which === 1) return `${plain}:${one(['first', 'last', 'only'])}-${one(['child', 'of-type'])}`
  if (which === 2) return `${plain}:nth-child(${one(['1', '2n', 'odd'])} of ${one(['.x', 'p', ':not(.y)'])})`
  // Simple ones: in others css-select takes the element itself for one that it holds, and mixes up what it remembers.
  if (which === 3)
    return `${plain}:has(${one(['', '~ ', '+ ', '> '])}${one(['p', '.x', 'p ~ .x', '* + div', 'b + p ~ *'])})`
  if (which === 4 && depth > 0) return `${plain}:${one(['not', 'is'])}(${inner()})`
  return plain
}

/** As `cssFind` asks it. */
function foundByCssSelect(root: Element, query: string): Element[] {
  const parent = root.parent && isTag(root.parent) ? [root] : undefined
  const adapter = { ...DomUtils, isTag }
  const matches = compile<AnyNode, Element>(query, { adapter, cacheResults: false }, parent)
  return DomUtils.filter((node) => isTag(node) && matches(node), root) as Element[]
}
