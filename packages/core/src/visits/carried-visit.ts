/**
 * The last visit of a page, on its way with the page's next request: so a visit costs no question to the store. It is in `meta.last_visit`,
 * after some digits of the page's fingerprint: a spider that copies `meta` to another request copies it too, as a redirect does, and there it
 * is no visit.
 */

import { hash } from 'node:crypto'
import type { Visit } from '../ports/visit-store.ts'
import type { Request } from '../requests/request.ts'
import { visitFromBytes, visitToBytes } from './visit-bytes.ts'

const PAGE_CHARS = 8
const SHA1_HEX = /^[0-9a-f]{40}$/
const DOUBTED = '!'

/** Makes the request carry its page's last visit. */
export function carryVisit(request: Request, fingerprint: string, visit: Visit): void {
  const page = pageOf(fingerprint)
  request.meta = { ...request.meta, last_visit: page + visitToBytes(visit).toString('base64url') }
}

/** Returns the visit that the request carries; undefined for a page that was never visited. */
export function carriedVisit(request: Request, fingerprint: string): Visit | undefined {
  const carried = request.hasMeta ? request.meta.last_visit : undefined
  if (typeof carried !== 'string') return undefined
  const page = pageOf(fingerprint)
  if (!carried.startsWith(page)) return undefined
  return visitFromBytes(Buffer.from(carried.slice(page.length), 'base64url'))
}

/** A FINGERPRINTER of one's own may make texts that all begin alike, such as URLs. */
function pageOf(fingerprint: string): string {
  const hex = SHA1_HEX.test(fingerprint) ? fingerprint : hash('sha1', fingerprint)
  return hex.slice(0, PAGE_CHARS)
}

/** Returns the same request without the visit that it carries. */
export function withoutVisit(request: Request): Request {
  const { last_visit, ...meta } = request.meta
  return request.replace({ meta })
}

/** Returns the same request with word that a 304 to its page's validators is in doubt: it asks for the page whole. */
export function doubtingVisit(request: Request): Request {
  return request.replace({ meta: { ...request.meta, last_visit: `${request.meta.last_visit}${DOUBTED}` } })
}

/** Returns whether the last visit of the request was doubted by `doubtingVisit`. */
export function isVisitDoubted(request: Request): boolean {
  const carried = request.hasMeta ? request.meta.last_visit : undefined
  return typeof carried === 'string' && carried.endsWith(DOUBTED)
}
