/** The ledger of failures as `lua/failures/ledger.lua` keeps it. */

const SIGNATURES_MAX = 100
const FAILURES_BYTES_MAX = 67_108_864
const MAX_TRIMMED_PER_CALL = 20

export interface ModelLedger {
  /** By request id. */
  readonly entries: Map<
    string,
    { readonly signature: string; readonly number: number; readonly kept: string }
  >
  readonly signatures: Map<string, { total: number; trimmed: number; first: string; last: string }>
  total: number
  trimmed: number
  /** Signatures for which there was room. */
  told: number
  retried: number
}

export function newLedger(): ModelLedger {
  return { entries: new Map(), signatures: new Map(), total: 0, trimmed: 0, told: 0, retried: 0 }
}

/** Returns how many were trimmed. */
export function keepFailure(ledger: ModelLedger, text: string, nowMs: number): number {
  const [id, asked, most, about, ...request] = text.split('\n')
  ledger.entries.delete(id!)
  const signature = roomFor(ledger, asked!)
  const number = ++ledger.total
  const known = `{"number":${number},"at":${nowMs},${about!.slice(1)}`
  ledger.entries.set(id!, { signature, number, kept: `${signature}\n${known}\n${request.join('\n')}` })
  const before = ledger.signatures.get(signature) ?? { total: 0, trimmed: 0, first: known, last: known }
  ledger.signatures.set(signature, { ...before, total: before.total + 1, last: known })
  return trim(ledger, Number(most))
}

/** Returns whether that very failure was there. */
export function takeFailure(ledger: ModelLedger, id: string, key: string): boolean {
  return `f${ledger.entries.get(id)?.number}` === key && ledger.entries.delete(id)
}

/** As Redis has it. */
export function dumpOfLedger(
  ledger: ModelLedger,
  base: string,
): [key: string, value: Record<string, string>][] {
  const { entries, signatures, total, trimmed, told, retried } = ledger
  const counts = { total, trimmed, bytes: bytesOf(ledger), signatures: told, retried }
  const fields: Record<string, string> = {}
  for (const [signature, one] of signatures) {
    const { total: all, trimmed: gone, first, last } = one
    Object.assign(fields, { [`total|${signature}`]: `${all}`, [`first|${signature}`]: first })
    fields[`last|${signature}`] = last
    if (gone > 0) fields[`trimmed|${signature}`] = `${gone}`
  }
  const sizes = Object.fromEntries([...sizesOf(ledger)].map(([signature, size]) => [signature, `${size}`]))
  const dump: [string, Record<string, string>][] = [
    [base, Object.fromEntries([...entries].map(([id, { kept }]) => [id, kept]))],
    [`${base}:sizes`, sizes],
    [`${base}:signatures`, fields],
    [
      `${base}:counts`,
      Object.fromEntries(Object.entries(counts).flatMap(([name, n]) => (n === 0 ? [] : [[name, `${n}`]]))),
    ],
  ]
  for (const signature of sizesOf(ledger).keys()) {
    const of = [...entries].filter(([, entry]) => entry.signature === signature)
    dump.push([
      `${base}:of:${signature}`,
      Object.fromEntries(of.map(([id, { number }]) => [id, `${number}`])),
    ])
  }
  return dump
}

function roomFor(ledger: ModelLedger, signature: string): string {
  if (ledger.signatures.has(signature)) return signature
  if (ledger.told >= SIGNATURES_MAX) return 'other'
  ledger.told++
  return signature
}

function trim(ledger: ModelLedger, most: number): number {
  let trimmed = 0
  while (
    trimmed < MAX_TRIMMED_PER_CALL &&
    (ledger.entries.size > most || bytesOf(ledger) > FAILURES_BYTES_MAX)
  ) {
    const [largest] = [...sizesOf(ledger)].sort(([one, a], [other, b]) => b - a || (one < other ? 1 : -1))[0]!
    const of = [...ledger.entries].filter(([, entry]) => entry.signature === largest)
    const [oldest] = of.sort(([, a], [, b]) => a.number - b.number)[0]!
    ledger.entries.delete(oldest)
    ledger.signatures.get(largest)!.trimmed++
    trimmed++
  }
  ledger.trimmed += trimmed
  return trimmed
}

function sizesOf({ entries }: ModelLedger): Map<string, number> {
  const sizes = new Map<string, number>()
  for (const { signature } of entries.values()) sizes.set(signature, (sizes.get(signature) ?? 0) + 1)
  return sizes
}

function bytesOf({ entries }: ModelLedger): number {
  let bytes = 0
  for (const { kept } of entries.values()) bytes += Buffer.byteLength(kept)
  return bytes
}
