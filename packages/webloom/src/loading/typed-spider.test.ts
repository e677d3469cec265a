import { Spider } from '@webloom/spider'
import { expect, test } from 'vitest'
import { noteTyped, typedShell } from './typed-spider.ts'

const url = 'http://quotes.test/?a=1&b=2'

test('a page is shown as the spider of the file gets it: its middlewares may be all that knows the host', () => {
  class Quotes extends Spider {
    override name = 'quotes'
  }
  expect(typedShell(new Quotes(), url)).toBe(`webloom shell '${url}'`)
  noteTyped(Quotes, 'my spiders/quotes.ts')
  expect(typedShell(new Quotes(), url)).toBe(`webloom shell --spider 'my spiders/quotes.ts' '${url}'`)
})
