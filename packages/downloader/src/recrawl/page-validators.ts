/** What a page's answer says for asking again: `ETag` and `Last-Modified`. */

/** Validators of one answer. Neither: a page can only be fetched whole. */
export interface PageValidators {
  /** As the server wrote it. */
  readonly etag?: string
  /** In the form in which it is sent back, whatever form it came in. */
  readonly lastModified?: string
}

interface HeadersRead {
  get(name: string): string | null | undefined
}

// A longer one is no tag but a token, and would be kept for each page.
const ETAG_LENGTH_MAX = 128

// Outside ASCII a header's text is not sent in the bytes in which it came.
const ETAG = /^(?:W\/)?"[\x20\x21\x23-\x7e]*"$/

// With its zone: JavaScript takes a date without one for local time, and reads "page 5" as a day in May.
const DATE =
  /^[A-Z][a-z]{2,8}, \d\d?[ -][A-Z][a-z]{2}[ -](?:\d\d|\d{4}) \d\d:\d\d:\d\d (?:GMT|UTC|[+-]\d{4})$/

/** Clocks that are ahead of ours are so by less. A later date is none: a server passes it over. */
const AHEAD_MS_MAX = 86_400_000

export function validatorsOf(headers: HeadersRead): PageValidators {
  const etag = headers.get('etag')?.trim()
  const lastModified = dateIn(headers.get('last-modified')?.trim())
  return {
    ...(etag && etag.length <= ETAG_LENGTH_MAX && ETAG.test(etag) && { etag }),
    ...(lastModified !== undefined && { lastModified }),
  }
}

function dateIn(text = ''): string | undefined {
  const ms = DATE.test(text) ? Date.parse(text) : Number.NaN
  return ms >= 0 && ms < Date.now() + AHEAD_MS_MAX ? new Date(ms).toUTCString() : undefined
}

/** Returns the headers that ask for a page only if it has changed; none without validators. */
export function conditionalHeaders({ etag, lastModified }: PageValidators): Readonly<Record<string, string>> {
  return {
    ...(etag !== undefined && { 'If-None-Match': etag }),
    ...(lastModified !== undefined && { 'If-Modified-Since': lastModified }),
  }
}

/** Returns whether an answer has the validators that are known: its server says that it is the same page. */
export function sameValidators(known: PageValidators, next: PageValidators): boolean {
  // A tag says more than a date, which has seconds only. Of a page that is known by its date alone, its tag being too long, the date counts.
  if (known.etag !== undefined) return weakly(known.etag) === weakly(next.etag)
  return known.lastModified !== undefined && known.lastModified === next.lastModified
}

function weakly(etag: string | undefined): string | undefined {
  return etag?.replace(/^W\//, '')
}
