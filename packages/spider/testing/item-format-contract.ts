import assert from 'node:assert/strict'
import { silentLogger } from '@webloom/core'
import { type ContractTests, type Implementation, runContract, type TestRunner } from '@webloom/core/contract'
import type { FormatReports, ItemFormat } from '../src/feeds/formats/item-format.ts'

export interface FormatUnderTest {
  format(reports: FormatReports): ItemFormat
  /** The items that a reader finds in such an output. Fields are `name` and `n`, both texts. */
  read(text: string): { name: string; n: string }[]
}

interface Written {
  readonly text: string
  readonly lost: readonly unknown[]
}

function written({ format }: FormatUnderTest, ...batches: readonly (readonly unknown[])[]): Written {
  const lost: unknown[] = []
  const made = format({ uri: 'out', logger: silentLogger, lost: (item) => lost.push(item) })
  const texts = batches.map((batch) => made.text(batch))
  for (const [index, batch] of batches.entries())
    if (batch.length === 0) assert.equal(texts[index], '', 'no items have a text')
  return { text: texts.join('') + made.end(), lost }
}

const item = (name: string, n = '1') => ({ name, n })
const circle: { self?: unknown; name: string } = { name: 'a circle' }
circle.self = circle

const ODD = [
  'plain',
  'é 𝄞 \u2028',
  'a "quoted", comma; <b>&amp;</b>',
  'two\nlines\r\nand three',
  ' spaces ',
  '=1+1',
]

const TESTS: ContractTests<FormatUnderTest> = {
  'items come back in their order, whatever their texts hold': async (subject) => {
    const items = ODD.map((name, n) => item(name, `${n}`))
    const { text, lost } = written(subject, items)
    assert.deepEqual([subject.read(text), lost], [items, []])
  },
  'how items are shared out among pages does not matter': async (subject) => {
    const items = Array.from({ length: 7 }, (_, n) => item(`item ${n}`, `${n}`))
    const { text } = written(subject, items)
    const [a, b, c] = [items.slice(0, 1), items.slice(1, 4), items.slice(4)]
    assert.equal(written(subject, [], a!, [], b!, c!, []).text, text)
  },
  'an output without items can be read': async (subject) => {
    assert.deepEqual(subject.read(written(subject).text), [])
    assert.deepEqual(subject.read(written(subject, []).text), [])
  },
  'an item that cannot be written is reported, and the others are written': async (subject) => {
    const { text, lost } = written(subject, [item('one'), circle, item('two')], [circle], [item('three')])
    assert.deepEqual(
      subject.read(text).map(({ name }) => name),
      ['one', 'two', 'three'],
    )
    assert.equal(lost.length, 2)
    assert.ok(lost.every((one) => one === circle))
  },
  'a first item that cannot be written decides nothing': async (subject) => {
    const { text, lost } = written(subject, [circle], [item('one')])
    assert.deepEqual([subject.read(text), lost], [[item('one')], [circle]])
  },
  'only items that cannot be written leave what no items leave': async (subject) => {
    assert.equal(written(subject, [circle], [circle]).text, written(subject).text)
  },
}

/** Every ItemFormat runs this. */
export function itemFormatContract(
  runner: TestRunner,
  implementation: Omit<Implementation<FormatUnderTest>, 'create'> & FormatUnderTest,
): void {
  const { format, read, ...rest } = implementation
  runContract(runner, 'ItemFormat', TESTS, {
    ...rest,
    create: async () => ({ subject: { format, read }, dispose: async () => {} }),
  })
}
