import { readFileSync } from 'node:fs'
import { WebloomError } from '@webloom/url'
import { describe, expect, test } from 'vitest'
import { Selector, SelectorList } from './selector.ts'
import type { SelectorType } from './selector-options.ts'
import type { HtmlParser } from './tree/parse-document.ts'

interface Step {
  css?: string
  xpath?: string
  namespaces?: Record<string, string>
  vars?: Record<string, string | number>
  jmespath?: string
  index?: number
  re?: string
  replace_entities?: boolean
  re_first?: string
  default?: string
  attrib?: true
  get?: true
  drop?: true
  root?: true
  remove_namespaces?: true
}

interface Case {
  page: number
  type: SelectorType
  chain: Step[]
  expected: unknown
  expectedOfHtml5?: unknown
  error?: string
}

// Queries that css-select takes and parsel's cssselect 1.2 did not, or took otherwise.
const OUR_QUERIES: Readonly<Record<string, string>> = {
  'p:not(.intro, :empty)': ':not() takes a list, as in every browser',
  'p:nth-child(1 of .intro)': ':nth-child() takes "of", as in every browser',
  '> a': 'a leading > is the element itself',
  '> li': 'a leading > is the element itself',
  ':enabled': 'links are not :enabled and hidden fields are, as in the HTML standard and cssselect 1.4',
  'input:enabled': 'links are not :enabled and hidden fields are, as in the HTML standard and cssselect 1.4',
}

// Pages of which libxml2 makes what neither the page nor the HTML standard says.
const OUR_PAGES: Readonly<Record<string, string>> = {
  '<p>\u0001\u000b</p>': 'control characters stay in the text',
  '<p>&#0;&#1;&#55296;</p>': 'control characters stay in the text',
  '<o:p>x</o:p>': 'the name of the element is o:p',
  '<video><source src=a><track src=b></video>': '<track> and <source> have no end tags',
}

// What htmlparser2 leaves as it is written, and neither libxml2 nor HTML5 does.
const OWN_TREE: Readonly<Record<string, string>> = {
  '<b><i>x</b>y</i>': '<i> is not opened again after </b>',
  '<body><body class=a>x</body>': 'a second <body> adds no attributes',
  '</p>x': 'an end tag without a start makes an empty <p>, as in HTML5; on this page libxml2 differs',
  '<p': 'a tag that does not end is text',
  '<p><![CDATA[x<b>]]></p>': 'CDATA in HTML is a comment up to ]]>',
  '<font color=red><p>x</font></p>': '<font> is not opened again in <p>',
}

describe('as parsel answers', () => {
  const file = new URL('../testdata/selectors.json', import.meta.url)
  const { pages, cases } = JSON.parse(readFileSync(file, 'utf8')) as { pages: string[]; cases: Case[] }
  const comparable = cases.filter(
    ({ page, chain }) => !chain.some(({ css = '' }) => css in OUR_QUERIES) && !(pages[page]! in OUR_PAGES),
  )

  test('all 351 cases but those of the declared differences are compared', () => {
    expect(cases).toHaveLength(351)
    expect(comparable).toHaveLength(337)
  })

  test.each(
    comparable.map((one) => [JSON.stringify(one.chain), pages[one.page]!.slice(0, 30), one] as const),
  )('parse5: %s on %j', (_chain, _page, one) => {
    const answer = () => answerOf(one, pages[one.page]!, 'parse5')
    if (one.error) expect(answer).toThrow(WebloomError)
    else expect([one.expected, one.expectedOfHtml5]).toContainEqual(answer())
  })

  test('htmlparser2: all of them, but for what it leaves as it is written', () => {
    for (const one of comparable) {
      const html = pages[one.page]!
      if (one.error || html in OWN_TREE) continue
      const accepted = [one.expected, one.expectedOfHtml5]
      expect(accepted, `${JSON.stringify(one.chain)} on ${html}`).toContainEqual(
        answerOf(one, html, 'htmlparser2'),
      )
    }
  })
})

test('random XPath expressions give what libxml2 gives', () => {
  const file = new URL('../testdata/xpath-random.json', import.meta.url)
  const { pages, cases } = JSON.parse(readFileSync(file, 'utf8')) as {
    pages: string[]
    cases: [page: number, query: string, expected: string[]][]
  }
  const roots = pages.map((text) => Selector.from(text, { type: 'xml' }))
  for (const [page, query, expected] of cases) {
    const answer = roots[page]!.xpath(query).getall()
    if (JSON.stringify(answer) !== JSON.stringify(expected))
      expect(answer, `${query} on ${pages[page]}`).toEqual(expected)
  }
})

function answerOf({ type, chain }: Case, text: string, htmlParser: HtmlParser): unknown {
  const root = Selector.from(text, { type, htmlParser })
  let list: SelectorList<unknown> = listOf(root)
  let answer: unknown
  for (const step of chain) {
    answer = undefined
    if (step.css !== undefined) list = list.css(step.css)
    else if (step.xpath !== undefined)
      list = list.xpath(step.xpath, { namespaces: step.namespaces ?? {}, ...step.vars })
    else if (step.jmespath !== undefined) list = list.jmespath(step.jmespath)
    else if (step.index !== undefined) list = list.slice(step.index, step.index + 1)
    else if (step.re !== undefined)
      answer = list.re(step.re, { replaceEntities: step.replace_entities ?? true })
    else if (step.re_first !== undefined) {
      answer =
        step.default === undefined ? list.reFirst(step.re_first) : list.reFirst(step.re_first, step.default)
    } else if (step.attrib) answer = { ...list.attrib }
    else if (step.get) answer = step.default === undefined ? list.get() : list.get(step.default)
    else if (step.drop) list.drop()
    else if (step.remove_namespaces) root.removeNamespaces()
    else if (step.root) list = listOf(root)
  }
  return answer === undefined ? list.getall() : answer
}

function listOf(selector: Selector): SelectorList {
  const list = new SelectorList()
  list.push(selector)
  return list
}
