/** What the site makes of Markdown files, without building it; `site/tests/` has what only the built site can show. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TempDir, tempDir } from '@webloom/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { brokenLinks } from '../../site/built/broken-links.ts'
import { linked } from '../../site/source/links.ts'
import { headingsOf, summaryOf } from '../../site/source/markdown.ts'
import { linksOf, pagesOf, readSite } from '../../site/source/pages.ts'
import { searchSections } from '../../site/source/search-sections.ts'
import { NO_PAGES, SECTIONS } from '../../site/source/sections.ts'
import { pagesOf as markdownOf } from '../structure/files/source-files.ts'

const ROOT = join(import.meta.dirname, '../..')
let folder: TempDir
beforeEach(async () => {
  folder = await tempDir()
})
afterEach(() => folder.remove())

function files(texts: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(folder.join(path)), { recursive: true })
    writeFileSync(folder.join(path), text)
  }
}

const sections = [
  { title: 'Guides', folder: 'docs/guides', also: ['docs/items.md'] },
  { title: 'Reference', folder: 'docs/reference' },
]

describe('the sidebar', () => {
  test('has every page of this repository, each once', () => {
    const shown = pagesOf(readSite(ROOT)).map(({ source }) => source)
    const there = markdownOf(ROOT).map(({ path }) => path)
    expect(there.filter((path) => !shown.includes(path))).toEqual(NO_PAGES)
    expect(new Set(shown).size).toBe(shown.length)
  })

  test('has what the README.md of a section links, and its folder’s other pages after that', () => {
    files({
      'README.md': '# Home\n',
      'docs/items.md': '# Items\n',
      'docs/guides/README.md': '# Guides\n\n- [Log in](login.md#forms)\n- [Items](../items.md)\n',
      'docs/guides/proxies.md': '# Proxies\n',
      'docs/guides/login.md': '# Log in\n',
      'docs/reference/settings.md': '# Settings\n',
      'packages/one/README.md': '# One\n',
      'packages/two/README.md': '# Two\n',
    })
    const [guides, reference] = readSite(folder.path, [
      ...sections.slice(0, 1),
      {
        title: 'Reference',
        folder: 'docs/reference',
        also: ['packages/two/README.md', 'packages/*/README.md'],
      },
    ]).sections
    expect(guides?.index?.title).toBe('Guides')
    expect(guides?.pages.map(({ title }) => title)).toEqual(['Log in', 'Items', 'Proxies'])
    expect(reference?.pages.map(({ title }) => title)).toEqual(['Settings', 'Two', 'One'])
  })

  test('leads on: the README.md that opens a section of this repository links each page of it', () => {
    const unlinked = readSite(ROOT).sections.flatMap(({ index, pages }) =>
      index
        ? pages
            .filter(({ source }) => !linksOf(index).has(source))
            .map(({ source }) => `${index.source}: ${source}`)
        : [],
    )
    expect(unlinked).toEqual([])
  })

  test('refuses a list that names a file which has gone, and says where the list is', () => {
    files({ 'README.md': '# Home\n' })
    expect(() => readSite(folder.path, sections)).toThrow(
      /^docs\/items\.md is not there, and the section “Guides” lists it\..*site\/source\/sections\.ts$/,
    )
  })

  test('lists no page twice', () => {
    const listed = SECTIONS.flatMap(({ also = [] }) => also)
    expect(new Set(listed).size).toBe(listed.length)
  })
})

describe('a page', () => {
  test('has GitHub’s anchors', () => {
    const text =
      '# `meta` & more\n\n```sh\n# no heading\n```\n\n## A Redis that’s “gone”: SCHEDULER_PERSIST\n\n## Twice\n\n## Twice\n'
    expect(headingsOf(text).map(({ anchor }) => anchor)).toEqual([
      'meta--more',
      'a-redis-thats-gone-scheduler_persist',
      'twice',
      'twice-1',
    ])
  })

  test('has a summary: its first paragraph, past comments and code', () => {
    const text = '# A\n\n<!-- made -->\n\n```sh\nnpm ci\n```\n\nSee [`crawl`](b.md)\nfirst.\n\nThen more.\n'
    expect(summaryOf(text)).toBe('See `crawl` first.')
  })

  test('has links of the site: to pages, to files of docs, and words alone for what the site has not', () => {
    files({
      'README.md': '# Home\n',
      'docs/items.md': '',
      'docs/guides/a.md':
        '# A\n\n[home](../../README.md#more) [code](../../x.ts) [figures](../figures.json) [out](https://a.example/) `{{a}}` {{b}}\n\n```ts\nx[0](../../README.md)\n```\n',
      'docs/figures.json': '{}',
    })
    const site = readSite(folder.path, sections)
    const pages = new Map(pagesOf(site).map((page) => [page.source, page]))
    const { text, files: shown } = linked(pages.get('docs/guides/a.md')!, { root: folder.path, pages })
    expect(text).toBe(
      '# A\n\n[home](../index.md#more) code [figures](../figures.json) [out](https://a.example/) `{{a}}` &#123;&#123;b}}\n\n```ts\nx[0](../../README.md)\n```\n',
    )
    expect(shown).toEqual(['docs/figures.json'])
  })
})

test('the search knows parts of a page, and rows by their names', () => {
  const row = '<tr id="A_B" data-names="A_B C_D"><td><code>A_B</code></td><td>both &lt;1&gt;</td></tr>'
  const html = `<h1 id="all" tabindex="-1">All <a class="header-anchor" href="#all">x</a></h1><p>of it</p><h2 id="used">Used</h2><table>${row}</table>`
  expect([...searchSections(html)]).toEqual([
    { anchor: 'all', titles: ['All'], text: 'of it' },
    { anchor: 'used', titles: ['All', 'Used'], text: '' },
    { anchor: 'A_B', titles: ['All', 'Used', 'A_B C_D'], text: 'A_B both <1>' },
  ])
})

test('links of a built site that lead nowhere are found, and what is loaded from elsewhere', () => {
  files({
    'index.html':
      '<a class="b" href="/a/b.html#part">1</a><a href="./a/b#gone">2</a><a href="gone.html">3</a><a href="https://a.example/">4</a>',
    'a/b.html': '<h2 id="part">P</h2><a href="../">5</a><script src="https://cdn.example/x.js"></script>',
  })
  expect(brokenLinks(folder.path).toSorted()).toEqual([
    'a/b.html loads https://cdn.example/x.js, which is not of the site',
    'index.html links ./a/b#gone, and a/b.html has no such part',
    'index.html links gone.html, which is not there',
  ])
})
