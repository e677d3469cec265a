/** What a page's answer says for asking again: `ETag` and `Last-Modified`. */

/** Validators of one answer, as the server wrote them. Neither: a page can only be fetched whole. */
export interface PageValidators {
  readonly etag?: string
  readonly lastModified?: string
}

interface HeadersRead {
  get(name: string): string | null | undefined
}

// A longer one is no tag but a token, and would be kept for each page.
const ETAG_LENGTH_MAX = 128

export function validatorsOf(headers: HeadersRead): PageValidators {
  const etag = headers.get('etag')?.trim()
  const lastModified = headers.get('last-modified')?.trim()
  return {
    ...(etag && etag.length <= ETAG_LENGTH_MAX && /^(?:W\/)?"[^"]*"$/.test(etag) && { etag }),
    ...(lastModified && !Number.isNaN(Date.parse(lastModified)) && { lastModified }),
  }
}

/** Returns the headers that ask for a page only if it has changed; none without validators. */
export function conditionalHeaders({ etag, lastModified }: PageValidators): Readonly<Record<string, string>> {
  return {
    ...(etag !== undefined && { 'If-None-Match': etag }),
    ...(lastModified !== undefined && { 'If-Modified-Since': lastModified }),
  }
}

/** Whether an answer has the validators of one before: its server says that they are the same page. */
export function sameValidators(one: PageValidators, other: PageValidators): boolean {
  // A tag says more than a date, which has seconds only.
  if (one.etag !== undefined || other.etag !== undefined) return weakly(one.etag) === weakly(other.etag)
  return one.lastModified !== undefined && one.lastModified === other.lastModified
}

function weakly(etag: string | undefined): string | undefined {
  return etag?.replace(/^W\//, '')
}
