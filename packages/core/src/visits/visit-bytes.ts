/**
 * A visit in 19 to 64 bytes:
 *
 *      0      form (2) in two bits; 4 visits failed, 8 has a content hash, 16 has Last-Modified, 32 has a tag, 64 validators are outdated,
 *             128 the page is in a line
 *      1  5   seconds: visited, due
 *      9 10   visits, changes
 *     11…16   evidence, 12 bits each: hours still, changes seen, mean gap of these, changes dated
 *     17      version of the callback
 *     19…     4 bytes of the content's hash; failures and answers that it is gone, four bits each; seconds of Last-Modified; the tag, packed
 *
 * Lua reads the first nine bytes. Redis packs a hash as long as its values have 64 bytes at the most: a longer tag is not kept.
 */

import { WebloomError } from '../errors/errors.ts'
import type { ChangeEvidence, Visit } from '../ports/visit-store.ts'
import { packTag, unpackTag } from './packed-tag.ts'

const FORM = 2
const FORM_BITS = 3
const HAS_TROUBLES = 4
const HAS_HASH = 8
const HAS_DATE = 16
const HAS_TAG = 32
const IS_OUTDATED = 64
export const IN_A_LINE = 128

const FIXED_BYTES = 19
const HASH_BYTES = 4
const BYTES_MAX = 64

// Each number of the evidence takes twelve bits: steps of these sizes, and what they reach.
const STEPS_MAX = 4095
const STEPS_PER_LOG_HOUR = 300 // e^13 hours
const STEPS_PER_LOG_VISIT = 1000 // e^4 visits; evidence fades before 50
const STEPS_PER_LOG_GAP = 250
const LOG_GAP_MIN = -5 // 24 seconds

export function visitToBytes(visit: Visit): Buffer {
  const { contentHash, etag, lastModifiedAt, failures, goneAnswers } = visit
  const fixed = Buffer.alloc(FIXED_BYTES)
  fixed.writeUInt32BE(seconds(visit.visitedAt), 1)
  fixed.writeUInt32BE(seconds(visit.dueAt), 5)
  fixed[9] = Math.min(255, visit.visits)
  fixed[10] = Math.min(255, visit.changes)
  fixed.write(evidenceToHex(visit.evidence), 11, 'hex')
  fixed.writeUInt16BE(visit.callbackVersion & 0xffff, 17)
  const parts: [flag: number, bytes: Buffer][] = []
  if (contentHash !== undefined)
    parts.push([HAS_HASH, Buffer.from(contentHash, 'hex').subarray(0, HASH_BYTES)])
  if (failures > 0 || goneAnswers > 0)
    parts.push([HAS_TROUBLES, Buffer.of(Math.min(15, failures) * 16 + Math.min(15, goneAnswers))])
  const date = lastModifiedAt === undefined ? Number.NaN : seconds(lastModifiedAt)
  if (lastModifiedAt !== undefined) parts.push([HAS_DATE, secondsToBytes(date)])
  const length = parts.reduce((sum, [, bytes]) => sum + bytes.length, FIXED_BYTES)
  const tag = etag === undefined ? undefined : packTag(etag, date)
  if (tag && length + tag.length <= BYTES_MAX) parts.push([HAS_TAG, tag])
  fixed[0] = parts.reduce((flags, [flag]) => flags | flag, FORM | (visit.isOutdated ? IS_OUTDATED : 0))
  return Buffer.concat([fixed, ...parts.map(([, bytes]) => bytes)])
}

export function visitFromBytes(bytes: Buffer): Visit {
  const flags = bytes[0]!
  if ((flags & FORM_BITS) !== FORM) throw anotherForm(flags & FORM_BITS)
  let at = FIXED_BYTES
  const part = (flag: number, length: number): Buffer | undefined => {
    if ((flags & flag) === 0) return undefined
    at += length
    return bytes.subarray(at - length, at)
  }
  const contentHash = part(HAS_HASH, HASH_BYTES)
  const troubles = part(HAS_TROUBLES, 1)?.[0] ?? 0
  const date = part(HAS_DATE, 4)?.readUInt32BE()
  return {
    visitedAt: bytes.readUInt32BE(1) * 1000,
    dueAt: bytes.readUInt32BE(5) * 1000,
    ...(contentHash && { contentHash: contentHash.toString('hex') }),
    visits: bytes[9]!,
    changes: bytes[10]!,
    evidence: evidenceFromHex(bytes.toString('hex', 11, 17)),
    failures: troubles >> 4,
    goneAnswers: troubles & 15,
    callbackVersion: bytes.readUInt16BE(17),
    ...(date !== undefined && { lastModifiedAt: date * 1000 }),
    ...((flags & HAS_TAG) !== 0 && { etag: unpackTag(bytes.subarray(at), date ?? Number.NaN) }),
    isOutdated: (flags & IS_OUTDATED) !== 0,
  }
}

export function isInALine(bytes: Buffer): boolean {
  return (bytes[0]! & IN_A_LINE) !== 0
}

function anotherForm(form: number): WebloomError {
  return new WebloomError(
    'WL_REQUEST_INVALID',
    form > FORM
      ? `a visit has form ${form}; this release knows ${FORM}: a newer one has written it, run that one`
      : `a visit has form ${form}, of a build before RECRAWL was released; this release knows ${FORM}: clear the crawl and begin it anew`,
  )
}

/** Returns three hex digits for each number. */
function evidenceToHex({ stillHours, seen, gapLogs, dated }: ChangeEvidence): string {
  const meanGap = seen > 0 ? gapLogs / seen : 0
  return [
    Math.log1p(stillHours) * STEPS_PER_LOG_HOUR,
    Math.log1p(seen) * STEPS_PER_LOG_VISIT,
    (meanGap - LOG_GAP_MIN) * STEPS_PER_LOG_GAP,
    Math.log1p(dated) * STEPS_PER_LOG_VISIT,
  ]
    .map((steps) => Math.max(0, Math.min(STEPS_MAX, Math.round(steps))))
    .map((steps) => steps.toString(16).padStart(3, '0'))
    .join('')
}

function evidenceFromHex(hex: string): ChangeEvidence {
  const [still, seenSteps, gap, dated] = [0, 3, 6, 9].map((at) => Number.parseInt(hex.slice(at, at + 3), 16))
  const seen = Math.expm1(seenSteps! / STEPS_PER_LOG_VISIT)
  return {
    stillHours: Math.expm1(still! / STEPS_PER_LOG_HOUR),
    seen,
    gapLogs: seen * (gap! / STEPS_PER_LOG_GAP + LOG_GAP_MIN),
    dated: Math.expm1(dated! / STEPS_PER_LOG_VISIT),
  }
}

function seconds(ms: number): number {
  return Math.max(0, Math.min(0xffffffff, Math.floor(ms / 1000)))
}

function secondsToBytes(date: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(date)
  return bytes
}
