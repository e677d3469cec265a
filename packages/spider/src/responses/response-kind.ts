import type { Response as CoreResponse } from '@webloom/core'

/** The kind of a response to a spider. Scrapy has a class for each. */
export type ResponseKind = 'html' | 'xml' | 'other'

/**
 * Returns the kind by Scrapy's order of signs: the Content-Type header, the name in Content-Disposition, the ending of the
 * URL, and the beginning of the body.
 */
export function responseKind({ headers, url, body }: CoreResponse): ResponseKind {
  return (
    kindOfType(headers.get('content-type')) ??
    kindOfName(/filename\s*=\s*["']?([^"';]+)/i.exec(headers.get('content-disposition') ?? '')?.[1]) ??
    kindOfName(/^[^?#]*/.exec(url)?.[0]) ??
    kindOfBody(body)
  )
}

const HTML_TYPE = /^(?:text\/html|application\/(?:vnd\.wap\.)?xhtml\+xml)$/
const XML_TYPE = /^(?:text\/xml|application\/(?:(?:atom|rdf|rss)\+)?xml)$/
const TEXT_TYPE = /^(?:text\/|application\/(?:x-)?(?:json|javascript)$)/

/** Returns undefined for a type that says too little, such as application/octet-stream. */
function kindOfType(contentType: string | null): ResponseKind | undefined {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (HTML_TYPE.test(type)) return 'html'
  if (XML_TYPE.test(type)) return 'xml'
  return TEXT_TYPE.test(type) ? 'other' : undefined
}

const KINDS: readonly (readonly [RegExp, ResponseKind])[] = [
  [/\.(?:s?html?|xht(?:ml)?)$/i, 'html'],
  [/\.(?:xml|xsl|rss|atom|rdf)$/i, 'xml'],
  [/\.(?:txt|csv|tsv|json|js|css)$/i, 'other'],
]

function kindOfName(name: string | undefined): ResponseKind | undefined {
  return name === undefined ? undefined : KINDS.find(([ending]) => ending.test(name))?.[1]
}

// As many bytes as Scrapy reads.
const BEGINNING_BYTES = 5_000

function kindOfBody(body: Uint8Array): ResponseKind {
  const beginning = Buffer.from(body.subarray(0, BEGINNING_BYTES)).toString('latin1')
  // Characters that no text has: controls other than white space and escape.
  if (/[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(beginning)) return 'other'
  if (/<html[\s>]/i.test(beginning)) return 'html'
  if (/<\?xml/i.test(beginning)) return 'xml'
  return /<!doctype html\b/i.test(beginning) ? 'html' : 'other'
}
