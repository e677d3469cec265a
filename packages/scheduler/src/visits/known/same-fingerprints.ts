/**
 * Whether pages are still known by the fingerprints under which their visits are kept. Under others none would be found: pages that are
 * due would leave the schedule and come into no line.
 *
 * Visits are kept with a note of what some requests' fingerprints were. They show what FINGERPRINTER, CANONICALIZER and URL_RULES usually
 * differ in; of a function that makes others for some pages only these are moved, see moving-pages.ts.
 */

import { hash } from 'node:crypto'
import {
  type Fingerprinter,
  putUnderRules,
  Request,
  SettingsError,
  type UrlRules,
  type VisitStore,
} from '@webloom/core'

const NOTE = 'fingerprints'
const RULES_NOTE = 'url-rules'

const PROBES: readonly (() => Request)[] = [
  () => new Request('https://webloom.example/'),
  () => new Request('http://www.webloom.example/Shop/?b=2&a=1&utm_source=x&PHPSESSID=0123#!part'),
  () =>
    new Request('https://webloom.example/shop', {
      method: 'POST',
      body: 'q=tables',
      headers: { 'x-a': 'b' },
    }),
]

/** Of a probe for which none is made: such a request is not made. */
const NONE = 'none'

/**
 * Notes them for a crawl that has no such note, and by which URL rules they are made. Throws `SettingsError` when fingerprints are others now.
 *
 * @param howToForget as `RevisitingParts.howToForget`
 */
export async function checkFingerprints(
  visits: Pick<VisitStore, 'notes' | 'note'>,
  fingerprinter: Fingerprinter,
  howToForget: string,
): Promise<void> {
  const made = hash('sha1', PROBES.map((probe) => fingerprintNow(probe(), fingerprinter) ?? NONE).join(' '))
  const [kept, rules] = await visits.notes([NOTE, RULES_NOTE])
  if (kept === undefined || kept === made) {
    const notes = new Map([[NOTE, made]])
    const current = fingerprinter.urlRules?.current
    if (current !== undefined) notes.set(RULES_NOTE, current)
    if (kept === undefined || rules !== current) await visits.note(notes)
    return
  }
  throw new SettingsError([
    `RECRAWL: the visits of this crawl are kept under other fingerprints than its requests have now, so no page would be found (FINGERPRINTER, CANONICALIZER, URL_RULES): set these back, or forget the crawl: ${howToForget}`,
  ])
}

/**
 * Makes the fingerprinter go by the URL rules of the crawl's fingerprints, for those who take no part in it: a run takes them from its filter.
 * Throws `SettingsError` when the settings name others.
 */
export async function followUrlRules(
  visits: Pick<VisitStore, 'notes'>,
  { urlRules }: Fingerprinter,
  wayOut: string,
): Promise<void> {
  const [noted] = await visits.notes([RULES_NOTE])
  if (isUrlRules(noted)) urlRules?.follow(noted, 'the crawl', wayOut)
}

function isUrlRules(noted: string | undefined): noted is UrlRules {
  return noted === 'w3lib-2.4' || noted === 'w3lib-2.5'
}

/** Returns the fingerprint that a request has now. Undefined for one that has none: it is told, and counted, where it is asked about. */
export function fingerprintNow(
  request: Request,
  fingerprinter: Fingerprinter,
  onError?: (error: unknown) => void,
): string | undefined {
  try {
    if (fingerprinter.urlRules) putUnderRules(request, fingerprinter.urlRules.current)
    return fingerprinter.fingerprint(request)
  } catch (error) {
    onError?.(error)
    return undefined
  }
}
