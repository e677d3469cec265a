import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { putUnderRules, Request } from '@webloom/core'
import { Response } from '@webloom/spider'
import { cpuMs } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { type Link, LinkExtractor, type LinkExtractorOptions } from './link-extractor.ts'

interface Vector {
  url: string
  encoding: string
  html: string
  body_hex?: string
  options: Record<string, unknown>
  group: string
  links: Link[] | null
  html5_links?: Link[]
  error?: string
}

const { cases } = JSON.parse(
  readFileSync(new URL('../../testdata/linkextractor.json', import.meta.url), 'utf8'),
) as { cases: Vector[] }

describe('what Scrapy extracts', () => {
  test.each(
    cases.map(
      (vector, index) => [`${index} ${vector.group} ${JSON.stringify(vector.options)}`, vector] as const,
    ),
  )('%s', (_, vector) => {
    const extract = () => new LinkExtractor(optionsOf(vector)).extractLinks(pageOf(vector))
    if (vector.error) expect(extract).toThrow()
    else expect(extract()).toEqual(vector.html5_links ?? vector.links)
  })

  test('the same when the tree is there already, whichever parser built it', () => {
    const unrestricted = cases.filter(({ error }) => !error)
    for (const htmlParser of ['htmlparser2', 'parse5'] as const) {
      for (const vector of unrestricted) {
        const page = pageOf(vector).replace({ htmlParser } as object)
        expect(page.css('html')).toBeDefined()
        const links = new LinkExtractor(optionsOf(vector)).extractLinks(page)
        const expected = vector.html5_links ?? vector.links
        // What differs is shown by expect(), which takes long for what does not.
        if (!isDeepStrictEqual(links, expected))
          expect(
            links,
            `${htmlParser} ${JSON.stringify(vector.options)} ${vector.html.slice(0, 100)}`,
          ).toEqual(expected)
      }
    }
  })
})

function pageOf({ url, encoding, html, body_hex }: Vector): Response {
  const body = body_hex
    ? Buffer.from(body_hex, 'hex')
    : encoding === 'latin1'
      ? Buffer.from(html, 'latin1')
      : html
  // The file was made with w3lib 2.4.
  const request = new Request(url)
  putUnderRules(request, 'w3lib-2.4')
  return new Response(url, { body, encoding: LABELS[encoding] ?? encoding, request })
}

const LABELS: Readonly<Record<string, string>> = { latin1: 'windows-1252', cp1251: 'windows-1251' }

function optionsOf({ options }: Vector): LinkExtractorOptions {
  const camelCase = Object.entries(options).map(([name, value]) => [
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    optionOf(value),
  ])
  return Object.fromEntries(camelCase) as LinkExtractorOptions
}

function optionOf(value: unknown): unknown {
  if (value === '<function>') return (url: string) => /javascript:goToPage\('(.*?)'/.exec(url)?.[1] ?? null
  if (typeof value === 'object' && value !== null && 're' in value) {
    const { re, flags } = value as { re: string; flags: string[] }
    return new RegExp(re, flags.join(''))
  }
  return value
}

test('regions within regions are read once: 160 KB of nested <div>s take moderate time', () => {
  const html = `${'<div><a href=/x>'.repeat(10_000)}<a href=/y>`
  const page = new Response('http://a.test/', { body: html, headers: { 'content-type': 'text/html' } })
  const start = cpuMs()
  for (const options of [{ restrictCss: 'div' }, { restrictXpaths: '//div' }])
    expect(new LinkExtractor(options).extractLinks(page).map(({ url }) => url)).toEqual([
      'http://a.test/x',
      'http://a.test/y',
    ])
  // Read once for each level it would be eight seconds.
  expect(cpuMs() - start).toBeLessThan(3_000)
})

test('what is not a page is told: a text alone, or an answer of fetch whose text has not been read', () => {
  const extract = (page: unknown) => () => new LinkExtractor().extractLinks(page as never)
  expect(extract('<a>')).toThrow(
    'extractLinks takes a page, { url, text }, both texts, and got "<a>" (a string).',
  )
  expect(extract(undefined)).toThrow('and got undefined.')
  expect(extract({ url: 'http://a.test/', text: async () => '<a>' })).toThrow(
    'and got "http://a.test/" (a string) and the function text as these.',
  )
})
