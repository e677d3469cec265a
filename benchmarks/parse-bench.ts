/**
 * What reading a page costs: its links without a tree, and a title with one.
 *
 *   node --conditions=webloom-source benchmarks/parse-bench.ts
 *
 * Every figure is the median of ROUNDS rounds, in microseconds a page. A fresh response is made for each page, so that
 * nothing is answered from what an earlier one left behind.
 */

import { parseArgs } from 'node:util'
import { Parser } from 'htmlparser2'
import { UrlMemory } from '../packages/core/src/memory/url-memory.ts'
import { streamHrefs } from '../packages/selectors/src/markup/link-stream.ts'
import { Response } from '../packages/spider/src/responses/response.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '40' } } })
const ROUNDS = Number(values.rounds)
const ROUND_MS = 25
const WARM_UP_MS = 300

// As a crawl has it.
const urls = new UrlMemory()

const ways: Record<string, (url: string, body: Uint8Array) => unknown> = {
  'htmlparser2 Parser, hrefs only (floor)': (_url, body) => parserHrefs(Buffer.from(body).toString()),
  'streamHrefs, our scanner': (_url, body) => streamHrefs(Buffer.from(body).toString(), 'a'),
  'response.linkUrls()': (url, body) => response(url, body).linkUrls(),
  'response.followAll()': (url, body) => response(url, body).followAll(),
  "css('title::text'), no tree": (url, body) => response(url, body).css('title::text').get(),
  "htmlparser2 tree + css('title').css('::text')": (url, body) =>
    response(url, body).css('title').css('::text').get(),
  "htmlparser2 tree + xpath('//title/text()')": (url, body) =>
    response(url, body).xpath('//title/text()').get(),
  "parse5 tree + css('title::text')": (url, body) => response(url, body, 'parse5').css('title::text').get(),
  'htmlparser2 tree + 30 × 4 fields': (url, body) => fields(response(url, body)),
}

const pages = { '7.4 KB, 30 links': page(30, 7_400), '50 KB, 200 links': page(200, 50_000) }

for (const [name, html] of Object.entries(pages)) {
  console.log(`\n${name} (${Buffer.byteLength(html)} bytes)`)
  const body = Buffer.from(html)
  const runs = Object.values(ways).map((way) => () => way('https://site.example/section/page.html', body))
  const medians = medianMicros(runs)
  for (const [i, way] of Object.keys(ways).entries()) {
    console.log(`  ${way.padEnd(48)} ${medians[i]!.toFixed(1).padStart(8)} µs`)
  }
}

function response(
  url: string,
  body: Uint8Array,
  htmlParser: 'htmlparser2' | 'parse5' = 'htmlparser2',
): Response {
  return new Response(url, {
    body,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    htmlParser,
    urls,
  })
}

function parserHrefs(html: string): string[] {
  const hrefs: string[] = []
  const parser = new Parser({
    onopentag(name, { href }) {
      if (name === 'a' && href !== undefined) hrefs.push(href)
    },
  })
  parser.end(html)
  return hrefs
}

function fields(page: Response): unknown[] {
  return page
    .css('article')
    .slice(0, 30)
    .map((article) => ({
      title: article.css('h2 a::text').get(),
      url: article.css('h2 a::attr(href)').get(),
      text: article.css('p::text').get(),
      date: article.css('.meta time::attr(datetime)').get(),
    }))
}

function page(links: number, bytes: number): string {
  const head = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>A page &amp; its links</title>
<link rel="stylesheet" href="/style.css"><script>if (1 < 2) document.write("<a href='/no'>no</a>")</script></head><body><main>`
  const words = 'the quick brown fox jumps over a lazy dog while '.repeat(40)
  const perLink = Math.max(0, Math.floor((bytes - head.length) / links) - 190)
  let html = head
  for (let i = 0; i < links; i++) {
    const href =
      i % 3 === 0
        ? `/item/${i}.html`
        : i % 3 === 1
          ? `next-${i}?a=1&amp;b=${i}`
          : `https://other.example/p/${i}`
    html += `\n<article class="item odd"><h2 class="title"><a class="link" href="${href}">Item ${i}</a></h2>`
    html += `<p>${words.slice(0, perLink)}</p><div class="meta"><time datetime="2024-01-${i}">then</time></div></article>`
  }
  return `${html}</main></body></html>`
}

/** The ways take turns, so that a slow moment of the machine falls on all of them. */
function medianMicros(runs: readonly (() => unknown)[]): number[] {
  const times = runs.map((run) => Math.max(1, Math.round(ROUND_MS / warmMillis(run))))
  const rounds = Array.from({ length: ROUNDS }, () => runs.map((run, i) => micros(run, times[i]!)))
  return runs.map((_, i) => rounds.map((round) => round[i]!).sort((a, b) => a - b)[ROUNDS >> 1]!)
}

function warmMillis(run: () => unknown): number {
  let times = 0
  const start = performance.now()
  while (performance.now() - start < WARM_UP_MS) {
    run()
    times++
  }
  return WARM_UP_MS / times
}

function micros(run: () => unknown, times: number): number {
  const start = performance.now()
  for (let i = 0; i < times; i++) run()
  return ((performance.now() - start) * 1_000) / times
}
