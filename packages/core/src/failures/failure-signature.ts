import { createHash } from 'node:crypto'

const SLUG_CHARS_MAX = 30
const HASH_CHARS = 8
/** A longer message is cut before it is looked at. */
const MESSAGE_CHARS_MAX = 1000

const NOTHING = /$^/g
const HOST_NAMES = /\b(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?\b/gi

/** The signature of failures for whose own one there was no room. */
export const OTHER_FAILURES = 'other'

/**
 * Names what failures of the same cause have in common, as `TypeError:cannot-read-properties-of-unde:5f2c9a01`: their kind, the
 * beginning of the message, and a hash of all of it. What differs from page to page is left out of both: addresses, quoted
 * values, numbers, long hex, host names. Those stay in what a callback threw, where `a.b` is code.
 *
 * @param callback the one that threw: the same message of two callbacks has two causes
 */
export function failureSignature(kind: string, message: string, callback?: string): string {
  const name = kind.replace(/[^\w.$-]+/g, '-').slice(0, 60) || 'Error'
  const where = callback ?? ''
  const stable = stablePart(message, callback === undefined ? HOST_NAMES : NOTHING)
  const hash = createHash('sha1').update(`${name}\n${stable}\n${where}`).digest('hex').slice(0, HASH_CHARS)
  const slug = stable
    .replace(/[^a-z]+/g, '-')
    .replace(/^-/, '')
    .slice(0, SLUG_CHARS_MAX)
    .replace(/-$/, '')
  return [name, ...(slug === '' ? [] : [slug]), hash].join(':')
}

function stablePart(message: string, names: RegExp): string {
  return message
    .slice(0, MESSAGE_CHARS_MAX)
    .toLowerCase()
    .replace(/\b[a-z][a-z\d+.-]*:\/\/[^\s"'<>)]+/g, ' ')
    .replace(names, ' ')
    .replace(/"[^"]*"|'[^']*'|“[^”]*”|`[^`]*`|<[^>]*>/g, ' ')
    .replace(/\[[\da-f:.]+\](?::\d+)?|\b\d+(?:\.\d+){3}(?::\d+)?|[\da-f]*:[\da-f:.]*:[\da-f:.]*/g, ' ')
    .replace(/\b[\da-f]{8,}\b/g, ' ')
    .replace(/\d+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}
