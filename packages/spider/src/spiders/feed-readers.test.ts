/** What Scrapy reads in the same sitemaps and feeds: `testdata/scrapy-sitemaps.json` and `scrapy-feeds.json`. */

import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { cpuMs } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { Response } from '../responses/response.ts'
import { csvRows } from './csv-rows.ts'
import { gunzipped, isGzip } from './gunzipped.ts'
import { readSitemap } from './sitemap.ts'
import { xmlNodeMarkup, xmlNodes } from './xml-nodes.ts'

function vectors<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../testdata/${name}`, import.meta.url), 'utf8')) as T
}

interface SitemapVector {
  name: string
  xml: string | null
  hex: string | null
  type?: string
  entries?: object[]
}

describe('sitemaps, as Scrapy reads them', () => {
  // libxml2 mends broken XML in its own way; here what is legible is kept.
  const OTHERWISE: Readonly<Record<string, string[]>> = {
    'bare ampersand': ['http://e.com/?a=1&b=2', 'http://e.com/2'],
    'unclosed loc': ['http://e.com/1', 'http://e.com/2'],
    'unclosed url': ['http://e.com/1', 'http://e.com/2'],
    'stray end': ['http://e.com/1'],
    // Entities that a document declares are not read, and stand as they are written.
    entities: ['&e;', 'http://e.com/&x;a', 'http://e.com/1'],
    // The encoding is guessed, as for every page.
    'bad bytes': ['http://e.com/\xff\xfe1', 'http://e.com/2'],
    controls: ['http://e.com/\x01a', 'http://e.com/2'],
  }
  const { cases } = vectors<{ cases: SitemapVector[] }>('scrapy-sitemaps.json')

  test.each(cases.map((one) => [one.name, one] as const))('%s', (name, { xml, hex, type, entries }) => {
    const body = hex === null ? Buffer.from(xml!) : Buffer.from(hex, 'hex')
    const sitemap = readSitemap(new Response('http://e.com/s.xml', { body }).text)
    const found = [...sitemap.entries]
    expect(sitemap.type).toBe(type)
    if (OTHERWISE[name]) expect(found.map(({ loc }) => loc)).toEqual(OTHERWISE[name])
    else expect(found).toEqual(entries ?? [])
  })

  test('what never ends is read in time that grows with its length only', () => {
    for (const piece of [
      '<url>',
      '<a><url>',
      '<!--',
      '<a b="',
      '<![CDATA[',
      '<url><loc>&',
      '</url>',
      '<!a [',
      '<!a [>',
      '&amp;',
      '&#',
      '</a',
      '<?',
      '<',
    ]) {
      const began = cpuMs()
      for (const _ of readSitemap(`<urlset>${piece.repeat(50_000)}`).entries);
      expect(cpuMs() - began, piece).toBeLessThan(1_000)
    }
  })
})

test('a sitemap is read alike wherever it is cut into pieces', () => {
  const entries = Array.from(
    { length: 5_000 },
    (_, n) =>
      `<url><!-- ${n} --><loc>http://e.com/?a=${n}&amp;b=&#x263A;</loc><x:link href='/${n}?a&amp;b'/></url>`,
  )
  const found = [...readSitemap(`<urlset>${entries.join('')}</urlset>`).entries]
  expect(found).toEqual(
    entries.map((_, n) => ({ loc: `http://e.com/?a=${n}&b=☺`, alternate: [`/${n}?a&b`] })),
  )
})

test('what a DOCTYPE declares is not part of the sitemap', () => {
  const doctype =
    '<!DOCTYPE urlset [ <!ENTITY e "<url><loc>http://no/</loc></url>"> <!ATTLIST a b CDATA "c"> ]>'
  const sitemap = readSitemap(
    `<?xml version="1.0"?>${doctype}<urlset><url><loc>http://e.com/&e;</loc></url></urlset>`,
  )
  expect([sitemap.type, [...sitemap.entries]]).toEqual(['urlset', [{ loc: 'http://e.com/&e;' }]])
})

test('a tag of 300 KB is read in time that grows with its length only', () => {
  for (const piece of ['a', 'a ', ' ', 'a=', '"', "a='", '= ', 'a="b"']) {
    const tag = `<url><link ${piece.repeat(300_000 / piece.length)}/></url>`
    const began = cpuMs()
    for (const _ of readSitemap(`<urlset>${tag}`).entries);
    for (const _ of xmlNodes(`<r xmlns:a="b">${tag}`, 'url'));
    expect(cpuMs() - began, piece).toBeLessThan(2_000)
  }
})

describe('nodes of an XML feed, as Scrapy iterates them', () => {
  const { xml: cases } = vectors<{
    xml: { name: string; xml: string; itertag: string; nodes?: Record<string, string[]>[]; error?: string }[]
  }>('scrapy-feeds.json')

  test.each(cases.map((one) => [one.name, one] as const))('%s', (_, { xml, itertag, nodes, error }) => {
    const found = [...xmlNodes(xml, itertag)]
    if (error) {
      // Scrapy raises at the end of a feed that is cut off, after the nodes that are whole.
      expect(found).toHaveLength(1)
      return
    }
    expect(found).toHaveLength(nodes!.length)
    for (const [index, expected] of nodes!.entries()) {
      for (const [query, values] of Object.entries(expected))
        expect(found[index]!.xpath(query).getall(), query).toEqual(values)
    }
  })

  test('each knows the namespaces that are declared around it', () => {
    const feed =
      '<f xmlns="http://d/" xmlns:a="http://a/"><g xmlns:a="http://b/"><n xmlns:c="x"/></g><n a:k="1">t</n></f>'
    expect([...xmlNodeMarkup(feed, 'n')]).toEqual([
      '<n xmlns="http://d/" xmlns:a="http://b/" xmlns:c="x"></n>',
      '<n xmlns="http://d/" xmlns:a="http://a/" a:k="1">t</n>',
    ])
  })

  test('one within another is a part of it', () => {
    expect([...xmlNodeMarkup('<r><n>1<n>2</n>3<n/></n><n>4</n></r>', 'n')]).toEqual([
      '<n>1<n>2</n>3<n/></n>',
      '<n>4</n>',
    ])
  })
})

describe('rows of a CSV feed, as Scrapy iterates them', () => {
  const { csv: cases } = vectors<{
    csv: {
      name: string
      csv: string
      options: { delimiter?: string; quotechar?: string; headers?: string[] }
      rows: object[]
    }[]
  }>('scrapy-feeds.json')

  test.each(cases.map((one) => [one.name, one] as const))('%s', (_, { csv, options, rows }) => {
    const { delimiter = ',', quotechar = '"', headers } = options
    const form = { delimiter, quotechar, headers, onMisfit() {} }
    expect([...csvRows(csv, form)]).toEqual(rows)
  })
})

describe('gzip', () => {
  const text = 'http://example.com/page\n'.repeat(10_000)
  const archive = gzipSync(text)
  const read = async (body: Uint8Array, maxBytes = 0) =>
    Buffer.from((await gunzipped(body, maxBytes)) ?? 'nothing').toString()

  test('is told by its first bytes and read', async () => {
    expect([isGzip(archive), isGzip(Buffer.from(text))]).toEqual([true, false])
    expect(await read(archive)).toBe(text)
  })

  test('with a wrong checksum it is read all the same, and cut off as far as it goes', async () => {
    const wrong = Buffer.from(archive)
    wrong.writeUInt32LE(1, wrong.length - 8)
    expect(await read(wrong)).toBe(text)
    const part = await read(archive.subarray(0, archive.length / 2))
    expect(text.startsWith(part) && part.length > 100).toBe(true)
    expect(await read(Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3]))).toBe('nothing')
  })

  test('no more is read than allowed', async () => {
    expect(await read(archive, text.length - 1)).toBe('nothing')
    expect(await read(archive, text.length)).toBe(text)
  })
})

describe('a root that declares thousands of namespaces', () => {
  const declared = Array.from({ length: 3000 }, (_, n) => `xmlns:a${n}="urn:${n}"`).join(' ')
  const root = (inner: string) => `<r xmlns="urn:all" ${declared}>${inner}</r>`

  test('each node has those that it mentions', () => {
    const feed = root('<a1:n a2:b="c"><a3:d type="a4:t">https://x.example/</a3:d></a1:n><a1:n/>')
    expect([...xmlNodeMarkup(feed, 'a1:n')]).toEqual([
      '<a1:n xmlns="urn:all" xmlns:a1="urn:1" xmlns:a2="urn:2" xmlns:a3="urn:3" xmlns:a4="urn:4" a2:b="c"><a3:d type="a4:t">https://x.example/</a3:d></a1:n>',
      '<a1:n xmlns="urn:all" xmlns:a1="urn:1"></a1:n>',
    ])
    const [node] = xmlNodes(feed, 'a1:n')
    expect(node!.xpath('//*[local-name()="d"]/text()').get()).toBe('https://x.example/')
  })

  test('a small feed stays small: 5 000 nodes are read in a moment', () => {
    const before = cpuMs()
    let bytes = 0
    for (const markup of xmlNodeMarkup(root('<item/>'.repeat(5000)), 'item')) bytes += markup.length
    expect(bytes).toBe(5000 * '<item xmlns="urn:all"></item>'.length)
    expect(cpuMs() - before).toBeLessThan(2000)
  })
})
