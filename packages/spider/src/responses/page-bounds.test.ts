import { MemoryStatsCollector, Settings, silentLogger, UrlMemory } from '@webloom/core'
import type { HtmlParser } from '@webloom/selectors'
import { cpuMs } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { NO_BOUNDS, pageBoundsOf } from './page-bounds.ts'
import { Response } from './response.ts'

function page(body: string, settings: object = {}, htmlParser: HtmlParser = 'htmlparser2') {
  const stats = new MemoryStatsCollector()
  const bounds = pageBoundsOf(Settings.fromLayers({ command: settings as never }), stats, silentLogger)
  return { response: new Response('http://x/', { body, bounds, htmlParser }), stats }
}

test('a response that was made without bounds gets those of the crawl; what it was made with stays', () => {
  const stats = new MemoryStatsCollector()
  const bounds = pageBoundsOf(Settings.fromLayers({ command: { PAGE_MAX_NODES: 3 } }), stats, silentLogger)
  const crawls = { bounds, htmlParser: 'parse5' as const, urls: new UrlMemory(), schemes: new Set(['mem']) }
  const body = '<p>1</p>'.repeat(10)
  const byHand = new Response('http://x/', { body })
  Response.attach(byHand, crawls)
  expect(byHand.replace({ status: 201 }).css('p').length).toBeLessThan(3)
  expect(stats.get('downloader/protection/page_nodes')).toBe(1)
  const unbounded = new Response('http://x/', { body, bounds: NO_BOUNDS })
  Response.attach(unbounded, crawls)
  expect(unbounded.css('p')).toHaveLength(10)
})

describe.each(['htmlparser2', 'parse5'] as const)('%s', (htmlParser) => {
  test('reads a page up to PAGE_MAX_NODES, and says so once', () => {
    const { response, stats } = page('<p>text</p>'.repeat(100), { PAGE_MAX_NODES: 50 }, htmlParser)
    expect(response.css('p').length).toBeGreaterThan(20)
    expect(response.css('p').length).toBeLessThan(30)
    expect(stats.snapshot()).toEqual({ 'downloader/protection/page_nodes': 1 })
  })

  test('attributes count, and a hundred thousand in a tag do not hold it up', () => {
    const attributes = Array.from({ length: 100_000 }, (_, n) => `a${n}=1`).join(' ')
    const { response } = page(
      `<p>first</p><p ${attributes}>second</p>`,
      { PAGE_MAX_NODES: 50_000 },
      htmlParser,
    )
    const began = cpuMs()
    expect(response.css('p::text').get()).toBe('first')
    expect(cpuMs() - began).toBeLessThan(3000)
  })

  test('a long text is one node', () => {
    const { response, stats } = page(
      `<p>${'word '.repeat(1000)}</p><i>end</i>`,
      { PAGE_MAX_NODES: 20 },
      htmlParser,
    )
    expect(response.css('i::text').get()).toBe('end')
    expect(stats.snapshot()).toEqual({})
  })
})

test('links are taken up to PAGE_MAX_LINKS', () => {
  const { response, stats } = page('<a href="/x">x</a>'.repeat(100), { PAGE_MAX_LINKS: 30 })
  expect(response.linkUrls()).toHaveLength(30)
  expect(response.followAll()).toHaveLength(30)
  expect(stats.get('downloader/protection/page_links')).toBe(2)
})

test('a response that is flagged binary has neither links nor elements', () => {
  const response = new Response('http://x/', { body: '<a href="/x">x</a>', flags: ['binary'] })
  expect(response.linkUrls()).toEqual([])
  expect(response.css('a')).toHaveLength(0)
  expect(response.text).toContain('href')
})
