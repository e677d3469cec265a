import { MemoryStatsCollector, Request, Response, silentLogger } from '@webloom/core'
import { cpuMs } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { MetaRefreshMiddleware } from '../middlewares/meta-refresh.ts'
import { metaRefresh } from './meta-refresh.ts'

const found = (text: string, ignored: readonly string[] = ['noscript']) => metaRefresh(text, ignored)

describe('a refresh is found', () => {
  test.each([
    ['<meta http-equiv="refresh" content="5;url=/x">', 5, '/x'],
    ["<META HTTP-EQUIV='REFRESH' CONTENT='0.5 ; URL= /x '>", 0.5, '/x'],
    ['<meta http-equiv=refresh content=".5;url=/x">', 0.5, '/x'],
    ['<meta content="3; url=/x" http-equiv="refresh">', 3, '/x'],
    ['<meta content="3; url=/x" name="y" http-equiv = "Refresh" />', 3, '/x'],
    [`<meta http-equiv="refresh" content="0;url='/x'">`, 0, "/x'"],
    ['<meta http-equiv="refresh"\n  content="0;\n url=/x">', 0, '/x'],
    ['<meta charset=utf-8><meta http-equiv="refresh" content="1;url=/a&amp;b=1&#38;c">', 1, '/a&b=1&c'],
    ['<noscriptish><meta http-equiv="refresh" content="0;url=/x"></noscriptish>', 0, '/x'],
    ['<noscript>never closed <meta http-equiv="refresh" content="0;url=/x">', 0, '/x'],
    ['<meta http-equiv="refresh" content="0;url=/x>y">', 0, '/x>y'],
  ])('%s', (text, seconds, url) => expect(found(text)).toEqual({ seconds, url }))
})

describe('no refresh is found', () => {
  test.each([
    'no meta',
    '<meta http-equiv="refresh" content="5">',
    '<meta http-equiv="refresh" content="soon;url=/x">',
    '<meta http-equiv="refresh"> <p content="5;url=/x">',
    '<meta name="description" content="5;url=/x">',
    '<!-- <meta http-equiv="refresh" content="0;url=/x"> -->',
    '<NoScript a="b"><meta http-equiv="refresh" content="0;url=/x"></noscript>',
    `${' '.repeat(4096)}<meta http-equiv="refresh" content="0;url=/x">`,
  ])('%s', (text) => expect(found(text)).toBe(undefined))
})

test('a hostile page takes no longer than a dull one', () => {
  const hostile = [
    '<meta http-equiv refresh content'.repeat(200),
    '<meta content="0;url='.repeat(300),
    `<meta ${'http-equiv '.repeat(300)}`,
    '<noscript'.repeat(600),
    '<!--'.repeat(1500),
    `<meta content="${'9'.repeat(4000)}`,
  ]
  const startedAt = cpuMs()
  for (const text of hostile) expect(found(text)).toBe(undefined)
  // About 5 ms here; w3lib's patterns take seconds for the first one.
  expect(cpuMs() - startedAt).toBeLessThan(1500)
})

test('a page that is not HTML is not looked at', () => {
  const middleware = new MetaRefreshMiddleware({
    ignoredTags: [],
    delaySecondsMax: 100,
    timesMax: 20,
    priorityAdjust: 2,
    stats: new MemoryStatsCollector(),
    logger: silentLogger,
  })
  const answer = (contentType: string) =>
    middleware.processResponse(
      new Request('http://x/'),
      new Response('http://x/', {
        headers: { 'content-type': contentType },
        body: '<meta http-equiv="refresh" content="0;url=/y">',
      }),
    )
  expect(answer('text/plain')).toBeInstanceOf(Response)
  expect(answer('text/html; charset=utf-8')).toBeInstanceOf(Request)
  expect(answer('application/xhtml+xml')).toBeInstanceOf(Request)
})
