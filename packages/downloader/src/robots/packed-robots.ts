/**
 * What a site's robots.txt says, in few bytes: the value of a field on Redis.
 *
 *     1764000000                            all may be fetched; when the site is to be asked again, and kept for a day longer
 *     a <again> <kept on>                   the same, kept for another time
 *     r <again> <kept on> <file>            rules: the digest of a file, which is stored by itself
 *     u <again> <kept on> <tries> <since, ms> <0, or 1 when given up> <reason>
 *
 * Times are seconds. The first form is a decimal number, as Redis stores that in 6 bytes; the others have base 36. No value is
 * longer than 64 bytes: one that was would make Redis store its whole hash in another form, which takes five times as much.
 */

import { hash } from 'node:crypto'
import type { RobotsEntry, RobotsUnreachable } from './robots-store.ts'

/** What was packed: an entry, or rules of which only the file's digest is known. */
export type UnpackedRobots = (
  | Exclude<RobotsEntry, { outcome: 'rules' }>
  | { readonly outcome: 'rules'; readonly digest: string; readonly askAgainAtMs: number }
) & { readonly untilMs: number }

const USUALLY_KEPT_ON_S = 86_400
// All kinds of a `DownloadError` are shorter; a handler of a user's own may throw an error of any name.
const REASON_CHARACTERS_MAX = 30

/** @param untilMs how long the entry is kept, by `Date.now()` */
export function packedRobots(entry: RobotsEntry, untilMs: number): string {
  const again = Math.ceil(entry.askAgainAtMs / 1000)
  const keptOn = Math.round((untilMs - entry.askAgainAtMs) / 1000)
  if (entry.outcome === 'absent' && keptOn === USUALLY_KEPT_ON_S) return String(again)
  const times = `${again.toString(36)} ${keptOn.toString(36)}`
  if (entry.outcome === 'absent') return `a ${times}`
  if (entry.outcome === 'rules') return `r ${times} ${digestOf(entry.file)}`
  const { tries, sinceMs, isGivenUp, reason } = entry
  const trouble = `${tries.toString(36)} ${sinceMs.toString(36)} ${isGivenUp ? 1 : 0}`
  return `u ${times} ${trouble} ${asciiOf(reason).slice(0, REASON_CHARACTERS_MAX)}`
}

/** Returns undefined for a text that this release does not understand. */
export function unpackedRobots(text: string): UnpackedRobots | undefined {
  if (/^\d{1,10}$/.test(text)) return { outcome: 'absent', ...timesOf(Number(text), USUALLY_KEPT_ON_S) }
  const [kind, again, keptOn, ...rest] = text.split(' ')
  const times = timesOf(number36(again), number36(keptOn))
  if (Number.isNaN(times.untilMs)) return undefined
  if (kind === 'a' && rest.length === 0) return { outcome: 'absent', ...times }
  if (kind === 'r' && rest.length === 1) return { outcome: 'rules', digest: rest[0]!, ...times }
  const trouble = kind === 'u' ? troubleOf(rest) : undefined
  return trouble && { outcome: 'unreachable', ...trouble, ...times }
}

/** 96 bits of a file, as text. */
export function digestOf(file: string): string {
  return hash('sha1', Buffer.from(file, 'latin1'), 'base64url').slice(0, 16)
}

function timesOf(againS: number, keptOnS: number): { askAgainAtMs: number; untilMs: number } {
  return { askAgainAtMs: againS * 1000, untilMs: (againS + keptOnS) * 1000 }
}

function troubleOf([tries, since, givenUp, ...reason]: readonly string[]):
  | Omit<RobotsUnreachable, 'outcome' | 'askAgainAtMs'>
  | undefined {
  const trouble = { tries: number36(tries), sinceMs: number36(since), isGivenUp: givenUp === '1' }
  if (Number.isNaN(trouble.tries + trouble.sinceMs) || reason.length === 0) return undefined
  return { ...trouble, reason: reason.join(' ') }
}

function number36(text = ''): number {
  return /^-?[\da-z]{1,10}$/.test(text) ? Number.parseInt(text, 36) : Number.NaN
}

/** Elsewhere a character may take several bytes. */
function asciiOf(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?')
}
