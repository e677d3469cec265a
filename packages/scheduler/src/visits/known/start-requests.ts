/**
 * Requests of start() for pages that are known. They say how a page is asked for from now on: a token that is renewed, another callback. What asks for the
 * page is replaced where the request differs from that of an earlier run, of which some letters of a hash are noted: so a run that changes nothing
 * asks one question for each.
 */

import { hash } from 'node:crypto'
import { type KeptVisits, lacksCallback, type Request, requestToJson } from '@webloom/core'
import type { KnownPage } from './known-pages.ts'
import { askingAgain } from './missing-callbacks.ts'

// 72 bits: a request that differs is taken for the same one in 10 ** 21.
const HASH_CHARS = 12
/** On Redis the entries of a page's ten minutes are searched for it, in one script. */
const PAGES_PER_STEP = 16

/** Makes pages that wait for their hours be asked for as these requests do. A page in a line stays as it is: the next run replaces what asks for it. */
export async function askAnew(
  visits: Pick<KeptVisits, 'askAnew' | 'notes' | 'note'>,
  known: ReadonlyMap<Request, KnownPage>,
): Promise<void> {
  const pages = [...known].map(([request, { fingerprint, visit }]) => {
    const asking = askingAgain(request)
    return { fingerprint, visit, request: asking, name: `start ${fingerprint}`, made: hashOf(asking) }
  })
  const noted = await visits.notes(pages.map(({ name }) => name))
  const changed = pages.filter(({ visit, made }, n) => made !== noted[n] || lacksCallback(visit))
  for (let from = 0; from < changed.length; from += PAGES_PER_STEP) {
    const some = changed.slice(from, from + PAGES_PER_STEP)
    const asked = new Set(await visits.askAnew(some))
    const notes = some.flatMap(({ fingerprint, name, made }) =>
      asked.has(fingerprint) ? [[name, made] as const] : [],
    )
    if (notes.length > 0) await visits.note(new Map(notes))
  }
}

function hashOf(request: Request): string {
  return hash('sha1', JSON.stringify(requestToJson(request)), 'base64url').slice(0, HASH_CHARS)
}
