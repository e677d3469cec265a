import { describe, expect, test } from 'vitest'
import { Response } from './response.ts'
import { responseKind } from './response-kind.ts'

describe('what a response is, by the first sign that says so', () => {
  test.each([
    ['html', 'the type', { headers: { 'content-type': 'Text/HTML; charset=x' }, body: '<?xml' }],
    ['html', 'the type of XHTML', { headers: { 'content-type': 'application/xhtml+xml' } }],
    ['xml', 'the type of a feed', { headers: { 'content-type': 'application/rss+xml' }, body: '<html>' }],
    ['other', 'the type of text', { headers: { 'content-type': 'text/plain' }, body: '<html>' }],
    ['other', 'the type of JSON', { headers: { 'content-type': 'application/json' }, body: '<html>' }],
    [
      'html',
      'the name of a download',
      {
        headers: {
          'content-type': 'application/octet-stream',
          'content-disposition': 'attachment; filename="page.html"',
        },
      },
    ],
    ['html', 'the ending of the URL', { url: 'http://e.com/a.htm?x=1.xml' }],
    ['xml', 'the ending of the URL', { url: 'http://e.com/feed.RSS' }],
    ['html', 'the body', { body: '<html lang="en"><?xml' }],
    ['html', 'the doctype', { body: '\n<!DOCTYPE html>' }],
    ['xml', 'the XML declaration', { body: '<?xml version="1.0"?><feed>' }],
    ['other', 'a body of bytes', { body: '\0<html>' }],
    ['other', 'nothing', { body: 'text' }],
  ])(
    '%s by %s',
    (kind, _sign, { url = 'http://e.com/', ...init }: Record<string, unknown> & { url?: string }) => {
      expect(responseKind(new Response(url, init))).toBe(kind)
    },
  )
})
