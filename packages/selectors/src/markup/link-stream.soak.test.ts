/** Links of some thousand real pages, whole and broken, as the tree has them; and more of what the tests of links and simple queries make up. */

import { globSync, readFileSync } from 'node:fs'
import { brokenMarkup, randomStream } from '@webloom/testkit'
import { expect, test } from 'vitest'
import '../css/simple-query.test.ts'
import '../links/link-reader.test.ts'
import { Selector } from '../selector.ts'
import type { HtmlParser } from '../tree/parse-document.ts'
import { streamHrefs } from './link-stream.ts'
import './link-stream.test.ts'

// Real pages to try it on: any folder of HTML. Debian's documentation has some thousands.
const PAGES_DIR = process.env.PAGES_DIR ?? '/usr/share/doc'
const PAGES_MAX = 5_000
const BREAKS_OF_EACH = 10

const files = globSync('**/*.html', { cwd: PAGES_DIR, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .slice(0, PAGES_MAX)
  .map(({ parentPath, name }) => `${parentPath}/${name}`)

function treeHrefs(html: string, htmlParser: HtmlParser): string[] {
  return Selector.from(html, { type: 'html', htmlParser }).css('a::attr(href), area::attr(href)').getall()
}

test.skipIf(files.length === 0).each<HtmlParser>(['htmlparser2', 'parse5'])(
  `the links of ${files.length} real pages are those of the tree that %s builds, in the same order`,
  (htmlParser) => {
    for (const file of files) {
      const html = readFileSync(file, 'utf8')
      expect(streamHrefs(html, 'a, area'), file).toEqual(treeHrefs(html, htmlParser))
    }
  },
)

test.skipIf(files.length === 0)(
  `and of parts of ${files.length} real pages with a few things wrong, as a set, those of parse5 (seed: the page's number)`,
  () => {
    for (const [i, file] of files.entries()) {
      const html = readFileSync(file, 'utf8')
      for (let round = 0; round < BREAKS_OF_EACH; round++) {
        const random = randomStream(i, round)
        const start = Math.floor(random() * html.length)
        const broken = brokenMarkup(html.slice(start, start + 10_000), random)
        // A declared difference: end tags in SVG whose elements are not open around it.
        if (/<(?:svg|math)/i.test(broken)) continue
        expect(new Set(streamHrefs(broken, 'a, area')), `${file}, round ${round}`).toEqual(
          new Set(treeHrefs(broken, 'parse5')),
        )
      }
    }
  },
)
