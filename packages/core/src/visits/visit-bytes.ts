/**
 * A visit in 28 to 64 bytes:
 *
 *      0      form (1) in four bits; 16 has Last-Modified, 32 has a tag, 64 validators are outdated, 128 the page is in a line
 *      1  5   seconds: visited, due
 *      9      6 bytes of the content's hash; all zero for none
 *     15 16   visits, changes
 *     17…23   evidence: hours still, changes seen, mean gap of these, changes dated
 *     25      failures and answers that it is gone, four bits each
 *     26      version of the callback
 *     28…     seconds of Last-Modified; the tag, packed
 *
 * Lua reads the first nine bytes. Redis packs a hash as long as its values have 64 bytes at the most: a longer tag is not kept.
 */

import { WebloomError } from '../errors/errors.ts'
import type { Visit } from '../ports/visit-store.ts'

const FORM = 1
const HAS_DATE = 16
const HAS_TAG = 32
const IS_OUTDATED = 64
export const IN_A_LINE = 128

const FIXED_BYTES = 28
const HASH_BYTES = 6
const BYTES_MAX = 64
const NO_HASH = '000000000000'

// Each number takes two bytes: steps of these sizes, and what they reach.
const STEPS_PER_LOG_HOUR = 5000 // e^13 hours
const STEPS_PER_VISIT = 1000 // 65 visits; evidence fades before 50
const STEPS_PER_LOG_GAP = 3000
const LOG_GAP_MIN = -5 // 24 seconds

export function visitToBytes(visit: Visit): Buffer {
  const { evidence, contentHash, etag, lastModifiedAt } = visit
  const bytes = Buffer.alloc(FIXED_BYTES)
  bytes.writeUInt32BE(seconds(visit.visitedAt), 1)
  bytes.writeUInt32BE(seconds(visit.dueAt), 5)
  if (contentHash !== undefined) bytes.write(contentHash, 9, HASH_BYTES, 'hex')
  bytes[15] = Math.min(255, visit.visits)
  bytes[16] = Math.min(255, visit.changes)
  const meanGap = evidence.seen > 0 ? evidence.gapLogs / evidence.seen : 0
  const numbers = [
    Math.log1p(evidence.stillHours) * STEPS_PER_LOG_HOUR,
    evidence.seen * STEPS_PER_VISIT,
    (meanGap - LOG_GAP_MIN) * STEPS_PER_LOG_GAP,
    evidence.dated * STEPS_PER_VISIT,
  ]
  for (const [n, number] of numbers.entries())
    bytes.writeUInt16BE(Math.max(0, Math.min(65_535, Math.round(number))), 17 + 2 * n)
  bytes[25] = Math.min(15, visit.failures) * 16 + Math.min(15, visit.goneAnswers)
  bytes.writeUInt16BE(visit.callbackVersion & 0xffff, 26)
  const date = Buffer.alloc(lastModifiedAt === undefined ? 0 : 4)
  if (lastModifiedAt !== undefined) date.writeUInt32BE(seconds(lastModifiedAt))
  const tag = etag === undefined ? undefined : tagToBytes(etag)
  const hasTag = tag !== undefined && FIXED_BYTES + date.length + tag.length <= BYTES_MAX
  bytes[0] =
    FORM |
    (lastModifiedAt === undefined ? 0 : HAS_DATE) |
    (hasTag ? HAS_TAG : 0) |
    (visit.isOutdated ? IS_OUTDATED : 0)
  return Buffer.concat([bytes, date, ...(hasTag ? [tag] : [])])
}

export function visitFromBytes(bytes: Buffer): Visit {
  const flags = bytes[0]!
  if ((flags & 15) !== FORM)
    throw new WebloomError(
      'WL_REQUEST_INVALID',
      `a visit has form ${flags & 15}; this release knows ${FORM}: a newer one has written it, run that one`,
    )
  const contentHash = bytes.toString('hex', 9, 9 + HASH_BYTES)
  const [still, seenSteps, gap, dated] = [17, 19, 21, 23].map((at) => bytes.readUInt16BE(at))
  const seen = seenSteps! / STEPS_PER_VISIT
  const hasDate = (flags & HAS_DATE) !== 0
  return {
    visitedAt: bytes.readUInt32BE(1) * 1000,
    dueAt: bytes.readUInt32BE(5) * 1000,
    ...(contentHash !== NO_HASH && { contentHash }),
    visits: bytes[15]!,
    changes: bytes[16]!,
    evidence: {
      stillHours: Math.expm1(still! / STEPS_PER_LOG_HOUR),
      seen,
      gapLogs: seen * (gap! / STEPS_PER_LOG_GAP + LOG_GAP_MIN),
      dated: dated! / STEPS_PER_VISIT,
    },
    failures: bytes[25]! >> 4,
    goneAnswers: bytes[25]! & 15,
    callbackVersion: bytes.readUInt16BE(26),
    ...(hasDate && { lastModifiedAt: bytes.readUInt32BE(FIXED_BYTES) * 1000 }),
    ...((flags & HAS_TAG) !== 0 && { etag: tagFromBytes(bytes.subarray(FIXED_BYTES + (hasDate ? 4 : 0))) }),
    isOutdated: (flags & IS_OUTDATED) !== 0,
  }
}

export function isInALine(bytes: Buffer): boolean {
  return (bytes[0]! & IN_A_LINE) !== 0
}

function seconds(ms: number): number {
  return Math.max(0, Math.min(0xffffffff, Math.floor(ms / 1000)))
}

const WEAK = 1
const HEX = 2

/** The text between the quotes, after a byte that says how: most tags are hex digits, and take half the bytes then. */
function tagToBytes(etag: string): Buffer {
  const [, weak = '', text = ''] = /^(W\/)?"(.*)"$/s.exec(etag) ?? []
  const isHex = /^(?:[0-9a-f]{2})+$/.test(text)
  const how = (weak === '' ? 0 : WEAK) | (isHex ? HEX : 0)
  return Buffer.concat([Buffer.of(how), Buffer.from(text, isHex ? 'hex' : 'utf8')])
}

function tagFromBytes(bytes: Buffer): string {
  const how = bytes[0]!
  const text = bytes.toString((how & HEX) === 0 ? 'utf8' : 'hex', 1)
  return `${(how & WEAK) === 0 ? '' : 'W/'}"${text}"`
}
