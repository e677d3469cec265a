import type { Response } from '@webloom/core'

const JSON_CONTENT_TYPE = /^\s*(?:application|text)\/(?:[\w.+-]+\+)?json\b/i

/** Returns whether the response says that it is JSON. */
export function isJson({ headers }: Response): boolean {
  return JSON_CONTENT_TYPE.test(headers.get('content-type') ?? '')
}

const XML_CONTENT_TYPE = /^\s*(?:application|text)\/(?:xml|[\w.+-]+\+xml)\b/i
const XHTML_CONTENT_TYPE = /xhtml/i
// An XML declaration whose document is not a web page. XHTML is read as HTML, as in browsers and Scrapy.
const XML_BODY = /^\s*<\?xml\s(?!(?:[^<]|<(?:!--|\?))*<(?:!doctype\s+html|html)\b)/i

/** Returns whether the page is read as XML. */
export function isXml({ headers, text }: Response): boolean {
  const contentType = headers.get('content-type') ?? ''
  if (XML_CONTENT_TYPE.test(contentType)) return !XHTML_CONTENT_TYPE.test(contentType)
  // Most pages begin with their doctype, without space before it.
  return (
    text.startsWith('<?xml', text.startsWith('<') ? 0 : text.search(/\S/)) &&
    XML_BODY.test(text.slice(0, 4_096))
  )
}
