/**
 * Whether pages are still known by the fingerprints under which their visits are kept. Under others none would be found: pages that are
 * due would leave the schedule and come into no line.
 *
 * Visits are kept with a note of what some requests' fingerprints were. They show what FINGERPRINTER, CANONICALIZER and URL_RULES usually
 * differ in; a function that makes others for some pages only is not noticed.
 */

import { hash } from 'node:crypto'
import { type Fingerprinter, putUnderRules, Request, SettingsError, type VisitStore } from '@webloom/core'

const NOTE = 'fingerprints'

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

/**
 * Notes them for a crawl that has no such note. Throws `SettingsError` when fingerprints are others now.
 *
 * @param howToForget as `RevisitingParts.howToForget`
 */
export async function checkFingerprints(
  visits: Pick<VisitStore, 'notes' | 'note'>,
  fingerprinter: Fingerprinter,
  howToForget: string,
): Promise<void> {
  const made = hash('sha1', PROBES.map((probe) => fingerprintOf(probe(), fingerprinter)).join(' '))
  const [kept] = await visits.notes([NOTE])
  if (kept === undefined) return visits.note(new Map([[NOTE, made]]))
  if (kept === made) return
  throw new SettingsError([
    `RECRAWL: the visits of this crawl are kept under other fingerprints than its requests have now, so no page would be found (FINGERPRINTER, CANONICALIZER, URL_RULES): set these back, or forget the crawl: ${howToForget}`,
  ])
}

function fingerprintOf(request: Request, fingerprinter: Fingerprinter): string {
  try {
    if (fingerprinter.urlRules) putUnderRules(request, fingerprinter.urlRules.current)
    return fingerprinter.fingerprint(request)
  } catch {
    // Such a request is not made.
    return 'none'
  }
}
